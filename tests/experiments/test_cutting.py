"""Missing replicates are cut into tasks as long as an executor asks, by what was measured."""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit
from affinity_bandits.experiments import Cell, Shard, cutting
from affinity_bandits.policies import UCB1, Elimination

CELL = Cell(AffinityBandit([0.4, 0.6]), UCB1(), 20_000)  # guessed: a millisecond


@pytest.mark.parametrize("seconds", [1.0, 10.0])
def test_tasks_and_shards_are_as_long_as_the_executor_asks(seconds: float) -> None:
    cut = cutting.cut_into_tasks([(CELL, range(40_000))], cutting.Guess(), None, lambda: seconds)
    counts = [[shard.count for shard in task] for task in cut]
    assert counts == [[1000 * seconds]] * int(40 / seconds)


def test_a_task_has_as_many_small_cells_as_take_a_second() -> None:
    """A cell of one replicate: a millisecond, and half of one to begin and to encode it."""
    gaps = [(CELL, range(i, i + 1)) for i in range(2001)]
    cut = list(cutting.cut_into_tasks(gaps, cutting.Guess(), None))
    assert [len(task) for task in cut] == [667, 667, 667]


def test_a_shard_is_bounded_by_its_memory() -> None:
    many = Cell(AffinityBandit([0.5] * 64), UCB1(), 1000, tuple(range(1, 1001)))
    cut = cutting.cut_into_tasks([(many, range(100))], cutting.Guess(), None, lambda: 1e9)
    # Of 64 arms at 1,000 times, and twice 64 numbers more.
    assert max(shard.count for task in cut for shard in task) == 2**25 // (8 * 64 * 1002)


def test_a_guess_is_corrected_by_what_was_measured_for_its_kind_alone() -> None:
    guess, other = cutting.Guess(), Cell(CELL.bandit, Elimination(), 20_000)
    before = guess.seconds(other)
    assert guess.seconds(CELL) == pytest.approx(1e-3)
    guess.learn(Shard(CELL, 0, 100), 0.8 + cutting.SHARD_OVERHEAD)
    assert guess.seconds(CELL) == pytest.approx(8e-3)
    guess.learn(Shard(CELL, 0, 100), 0.2 + cutting.SHARD_OVERHEAD)
    assert guess.seconds(CELL) == pytest.approx(4e-3)
    assert guess.seconds(other) == before
