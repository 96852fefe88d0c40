"""The face of the simulator: engines, results, files, interruption."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Power, Result, simulate
from affinity_bandits.policies import UCB1, Elimination

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])


def test_the_paper_instance_at_a_trillion_pulls() -> None:
    """Means (.4, .6), f = x: round 4 is the first whose threshold passes half the gap."""
    result = simulate(BANDIT, Elimination(), 10**12, 50)
    assert not result.wrong_arm.any()
    assert not result.undecided.any()
    suboptimal = result.pulls[0, :, -1, 0]
    policy = Elimination()
    rounds = [policy.schedule.repetitions(r, 2, 10**12) for r in range(1, 5)]
    assert set(suboptimal.tolist()) <= {1 + sum(rounds[:3]), 1 + sum(rounds)}


def test_results_are_labeled_and_come_back_from_disk(tmp_path) -> None:  # type: ignore[no-untyped-def]
    result = simulate(BANDIT, {"new": "elimination", "old": UCB1()}, 5000, 7, seed=9)
    dataset = result.to_xarray()
    assert dataset.sizes == {"policy": 2, "replicate": 7, "time": len(result.checkpoints), "arm": 2}
    assert (dataset.pulls.sum("arm") == dataset.time).all()
    assert dataset.regret.sel(policy="old", time=5000).shape == (7,)
    result.save(tmp_path / "result.npz")
    again = Result.load(tmp_path / "result.npz")
    np.testing.assert_array_equal(again.pulls, result.pulls)
    assert (again.bandit, again.runs, again.seed) == (result.bandit, result.runs, result.seed)
    assert [row.label for row in again.summary()] == ["new", "old"]


def test_memory_does_not_grow_with_the_horizon() -> None:
    def peak(horizon: int) -> int:
        tracemalloc.start()
        simulate(BANDIT, "ucb1", horizon, 1, checkpoints=10)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1000)  # loads and compiles
    assert peak(2_000_000) < peak(20_000) + 200_000


def test_an_interrupted_run_returns_what_is_finished() -> None:
    calls = 0

    def interrupt(part: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:  # after the start and blocks of 1, 2 and 4 replicates
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted: 7 of 1000"):
        result = simulate(BANDIT, "ucb1", 100, 1000, progress=interrupt)
    assert not result.complete
    whole = simulate(BANDIT, "ucb1", 100, 7)
    np.testing.assert_array_equal(result.pulls, whole.pulls)


def test_an_interrupt_before_anything_is_finished_is_passed_on() -> None:
    def interrupt(part: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(BANDIT, "ucb1", 100, 10, progress=interrupt)


def test_progress_ends_at_one() -> None:
    parts: list[float] = []
    simulate(BANDIT, ["ucb1", "elimination"], 500, 10, progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1.0)


def test_ten_thousand_arms_run() -> None:
    bandit = AffinityBandit(np.linspace(0.1, 0.9, 10_000).tolist(), bias=Power(1.0))
    result = simulate(bandit, ["ucb1", "elimination"], 20_000, 1, checkpoints=2)
    assert (result.pulls[:, 0, -1].sum(axis=-1) == 20_000).all()
