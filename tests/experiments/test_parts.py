"""Parts of a sweep are disjoint, together the whole, and leave the store of one run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Part, Store, Sweep, run_cells, write_table
from affinity_bandits.experiments.parts import WHOLE
from tests.experiments.driver import SMALL


def identities(count: int) -> list[str]:
    return [hashlib.md5(str(i).encode()).hexdigest() for i in range(count)]


def shares(cells: int, replicates: int, of: int) -> list[int]:
    """How many replicates each part has."""
    return [
        sum(
            len(one)
            for name in identities(cells)
            for one in Part(i, of).ranges(name, cells, replicates)
        )
        for i in range(1, of + 1)
    ]


@pytest.mark.parametrize("of", [1, 2, 7, 40])
@pytest.mark.parametrize(("cells", "replicates"), [(1, 1), (3, 10), (3, 1000), (900, 3)])
def test_parts_are_disjoint_and_together_the_whole(cells: int, replicates: int, of: int) -> None:
    for name in identities(cells)[:20]:
        found = chain.from_iterable(
            Part(i, of).ranges(name, cells, replicates) for i in range(1, of + 1)
        )
        assert sorted(chain.from_iterable(found)) == list(range(replicates))


def test_parts_are_of_about_the_same_size() -> None:
    """Few cells are divided to the replicate; of many, a part has 100 cells or more."""
    assert shares(3, 1000, 8) == [375] * 8
    many = shares(2000, 5, 10)
    # Binomial with 2,000 draws: 200 cells, standard deviation 13.4; six of them.
    assert all(abs(share - 1000) <= 5 * 6 * 13.5 for share in many)


def test_parts_leave_the_store_of_one_run(
    tmp_path: Path, undisturbed: Callable[[Sweep], str]
) -> None:
    """Running the whole once more, the negative control, finds all of it."""
    store = Store(tmp_path / "store")
    found = [run_cells(SMALL, store, part=Part(i, 3)) for i in (2, 3, 1)]
    assert [one.found for one in found] == [0, 0, 0]
    assert sum(one.run for one in found) == 4
    assert store.content_hash() == undisturbed(SMALL)
    one = Store(tmp_path / "one")
    run_cells(SMALL, one)
    for name, of in (("parts.csv", store), ("one.csv", one)):
        write_table(SMALL, of, tmp_path / name)
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    again = run_cells(SMALL, store, part=WHOLE)
    assert (again.found, again.run) == (4, 0)


def test_what_fails_is_said_by_one_part_and_kept_by_the_others(tmp_path: Path) -> None:
    axes = {"bandit.initial_pulls": [[100, 10], [1, 2, 3], [10, 100]]}
    sweep = Sweep(axes, {**SMALL.fixed, "policy": "ucb1"}, replicates=4)
    store = Store(tmp_path)
    failed = [run_cells(sweep, store, part=Part(i, 4)).failed for i in (1, 2, 3, 4)]
    assert sorted(failed) == [0, 0, 0, 1]
    assert len(store.failures()) == 1


@pytest.mark.parametrize("text", ["3/2", "0/2", "1", "a/b", "1/0", "-1/2"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="part must be i/n with i from 1 to n, such as 2/8"):
        Part.parse(text)
