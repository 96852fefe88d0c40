"""A bounded cache of what a process looked up, so that the hot path need not ask again."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 10_000
"""Entries, beyond which the oldest are forgotten."""


def remember(known: dict[K, V], key: K, value: V) -> V:
    """Add a value to a cache, dropping the oldest entries if it is full; return the value."""
    while key not in known and len(known) >= REMEMBERED:
        known.pop(next(iter(known)))
    known[key] = value
    return value
