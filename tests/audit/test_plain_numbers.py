"""Results have Python's own numbers, which print as they are read: 0.5, not np.float64(0.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, simulate


def numbers(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield every number in a result with its place."""
    if is_dataclass(value):
        for item in fields(value):
            yield from numbers(getattr(value, item.name), f"{place}.{item.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from numbers(item, f"{place}[{key!r}]")
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from numbers(item, f"{place}[{index}]")
    elif isinstance(value, int | float | np.generic):
        yield place, value


def test_so_have_tables_of_simulations() -> None:
    result = simulate(AffinityBandit([0.4, 0.6]), ["uniform", "elimination"], 50, 3, progress=False)
    results = (result.summary(), result.ranking(), result.paired_difference(*result.labels))
    found = [one for table in results for one in numbers(table, "table")]
    assert [place for place, value in found if isinstance(value, np.generic)] == []
    assert len(found) > 30
