"""Every item of the paper, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

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


def modules() -> list[ModuleType]:
    """Return the module of every item, in the paper's order."""
    return [import_module(f"affinity_bandits.paper.{name}") for name in MODULES]


def items() -> dict[str, Item]:
    """Return every item by its identity, in the paper's order."""
    return {module.ITEM.identity: module.ITEM for module in modules()}


def chosen(identities: list[str]) -> list[Item]:
    """Return the items asked for; "all" or nothing means every one."""
    return chosen_of(items(), identities, "item")


def chosen_of(known: Mapping[str, Item], identities: list[str], kind: str) -> list[Item]:
    """Return those asked for of what is known; `kind` is what an error calls one of them."""
    if not identities or identities == ["all"]:
        return list(known.values())
    for identity in identities:
        if identity not in known:
            raise UnknownName(kind, identity, [*known, "all"])
    return [known[identity] for identity in identities]
