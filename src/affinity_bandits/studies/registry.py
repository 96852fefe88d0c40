"""Every study by its name."""

from __future__ import annotations

from importlib import import_module

from affinity_bandits.paper.item import Item
from affinity_bandits.paper.registry import chosen_of
from affinity_bandits.paper.report import Cover

MODULES = ("horizon", "memory", "memory_paths", "contexts")

COVER = Cover("Open problems, studied", "Open problems of affinity bandits, studied", labels=False)
"""What the report of studies says of itself."""


def studies() -> dict[str, Item]:
    """Return every study by its identity."""
    found = [import_module(f"affinity_bandits.studies.{name}").ITEM for name in MODULES]
    return {item.identity: item for item in found}


def chosen(identities: list[str]) -> list[Item]:
    """Return the studies asked for; "all" or nothing means every one."""
    return chosen_of(studies(), identities, "study")
