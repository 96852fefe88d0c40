"""Every item of the paper, in its order."""

from __future__ import annotations

from importlib import import_module

from affinity_bandits.errors import UnknownName
from affinity_bandits.paper.item import Item

MODULES = (
    *(f"figure_{number:02d}" for number in range(1, 13)),
    "bounds",
    "coupling",
    "divergence",
    "stability",
    "partial_monitoring",
)


def items() -> dict[str, Item]:
    """Return every item by its identity, in the paper's order."""
    found = (import_module(f"affinity_bandits.paper.{name}").ITEM for name in MODULES)
    return {item.identity: item for item in found}


def chosen(identities: list[str]) -> list[Item]:
    """Return the items asked for; "all" or nothing means every one."""
    known = items()
    if not identities or identities == ["all"]:
        return list(known.values())
    for identity in identities:
        if identity not in known:
            raise UnknownName("item", identity, [*known, "all"])
    return [known[identity] for identity in identities]
