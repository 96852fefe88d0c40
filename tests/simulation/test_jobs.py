"""Replicates that are shared among threads and processes are those of one thread, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Custom, InPython, NotSupported, Power, simulate
from affinity_bandits.policies import ThompsonBeta

BANDIT = AffinityBandit([0.4, 0.6, 0.5], bias=Power(1.0), initial_pulls=[9, 3, 1])


class Leader:
    """The best mean so far, with a tenth of the pulls at random."""

    def __init__(self, arms: int, rng: np.random.Generator) -> None:
        self.sums, self.pulls, self.rng = np.zeros(arms), np.ones(arms), rng

    def select(self) -> int:
        if self.rng.random() < 0.1:
            return int(self.rng.integers(len(self.sums)))
        return int((self.sums / self.pulls).argmax())

    def update(self, arm: int, feedback: float) -> None:
        self.sums[arm] += feedback
        self.pulls[arm] += 1


class Stubborn(Leader):
    def update(self, arm: int, feedback: float) -> None:
        raise ValueError("no more")


def run(policies: Any, jobs: int, **settings: Any) -> Any:
    return simulate(BANDIT, policies, 300, 11, seed=5, n_jobs=jobs, **settings)


@pytest.mark.parametrize("jobs", [2, 5, 20])
def test_threads_change_no_bit(jobs: int) -> None:
    policies = ["ucb1", ThompsonBeta(), "elimination", "head-start-elimination"]
    settings = {"first_replicate": 3, "checkpoints": [7, 100]}
    one, several = (run(policies, number, **settings) for number in (1, jobs))
    assert {done.engine for done in one.runs} == {"steps", "rounds"}
    assert one.replicates.tolist() == several.replicates.tolist() == list(range(3, 14))
    for part in ("pulls", "decided_at", "candidates"):
        np.testing.assert_array_equal(getattr(one, part), getattr(several, part))


@pytest.mark.slow
def test_processes_change_no_bit() -> None:
    policies = [InPython(Leader), "ucb1"]
    one, several = (run(policies, jobs) for jobs in (1, 2))
    assert [done.engine for done in several.runs] == ["python", "steps"]
    assert len({tuple(row) for row in one.pulls[0, :, -1].tolist()}) > 5
    np.testing.assert_array_equal(one.pulls, several.pulls)


@pytest.mark.slow
def test_errors_of_other_processes_are_those_of_this_one() -> None:
    said = []
    for jobs in (1, 2):
        with pytest.raises(NotSupported) as refused:
            run(InPython(Stubborn), jobs)
        said.append(str(refused.value))
    assert "raised ValueError: no more" in said[0]
    assert said[0] == said[1]


@pytest.mark.slow
def test_what_cannot_be_sent_is_said_and_runs_here() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias=Custom(lambda share: share, 1.0, label="mine"))
    with pytest.raises(NotSupported, match=r"cannot be sent to another process.*n_jobs=1"):
        simulate(bandit, InPython(Leader), 20, 4, n_jobs=2)
    assert simulate(bandit, InPython(Leader), 20, 4).complete


def test_an_interrupt_returns_the_replicates_that_are_finished() -> None:
    def interrupt(part: float) -> None:
        if part > 0.4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="replicates are finished and returned"):
        cut = simulate(BANDIT, "ucb1", 300, 64, seed=5, n_jobs=2, progress=interrupt)
    whole = simulate(BANDIT, "ucb1", 300, 64, seed=5)
    assert not cut.complete
    assert 2 <= len(cut.replicates) < 0.4 * 64
    np.testing.assert_array_equal(cut.pulls, whole.pulls[:, : len(cut.replicates)])
