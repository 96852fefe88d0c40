"""Many replicates in one compiled call are those that are played one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Gaussian, Joining, Power, StepRun, simulate
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.kernels.compile import runs_interpreted
from affinity_bandits.simulation import run as runs
from affinity_bandits.simulation.engines import StepEngine

HORIZON, FIRST, COUNT = 1_500, 2**40, 7
TIMES = np.array([10, 777, 1_024, HORIZON])
BANDITS = {
    "plain": AffinityBandit([0.4, 0.6], bias=Power(1.0)),
    "memory": AffinityBandit([0.3, 0.5, 0.7], bias=Power(2.0), noise=Gaussian(), memory=50),
    "joining": AffinityBandit([0.4, 0.6], joining=Joining(0.5, leaving=0.01)),
}


def one_by_one(bandit: AffinityBandit, policy: Any) -> tuple[Any, Any]:
    """Pulls and ends of each replicate, played by a run of its own."""
    pulls = np.zeros((COUNT, len(TIMES), bandit.arms), dtype=np.int64)
    ends = np.zeros((COUNT, bandit.arms + 1), dtype=np.int64)
    for row in range(COUNT):
        run = StepRun(bandit, policy, HORIZON, 3, FIRST + row)
        run.advance(HORIZON, TIMES, pulls[row])
        ends[row] = [*run.candidates, run.decided_at]
    return pulls, ends


@pytest.mark.slow
@pytest.mark.parametrize("kind", BANDITS)
@pytest.mark.parametrize("name", ["ucb1", "thompson-beta", "exp3", "elimination"])
def test_batches_and_slices_of_any_size_change_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    bandit = BANDITS[kind]
    policy = policy_from_json(name, bandit)
    expected = one_by_one(bandit, policy)
    # A slice that never ends; slices that end within replicates, at their end, after each pull.
    for batch, pulls in ((1024, 2**30), (3, 700), (2, HORIZON), (1, 1)):
        if pulls == 1 and name != "ucb1":
            continue
        monkeypatch.setattr(runs, "BATCH", batch)
        monkeypatch.setattr(runs, "SLICE_WORK", pulls * (bandit.arms + 20.0))
        engine = StepEngine(bandit, policy, HORIZON, 3, TIMES)
        found = np.zeros_like(expected[0]), np.zeros_like(expected[1])
        done: list[float] = []
        engine.run(FIRST, *found, done.append)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        assert sum(done) == pytest.approx(COUNT, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ucb1", "thompson-beta"])
def test_an_engine_that_was_interrupted_within_a_replicate_starts_it_again(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bandit = BANDITS["plain"]
    policy = policy_from_json(name, bandit)
    expected = one_by_one(bandit, policy)
    monkeypatch.setattr(runs, "SLICE_WORK", 1_000 * (bandit.arms + 20.0))
    engine = StepEngine(bandit, policy, HORIZON, 3, TIMES)
    found = np.zeros_like(expected[0]), np.zeros_like(expected[1])

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.run(FIRST, *found, interrupt)
    engine.run(FIRST, *found, lambda _: None)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.slow
@pytest.mark.skipif(runs_interpreted(), reason="plain Python hears of the error itself")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_random_numbers_that_could_not_be_set_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop cannot hear of an error in Python, so it is looked for after each slice."""

    def damaged(*arguments: Any) -> list[dict[str, Any]]:
        starts = [*stream_starts(*arguments)]
        starts[-1] = {}
        return starts

    stream_starts = runs.stream_starts
    monkeypatch.setattr(runs, "stream_starts", damaged)
    with pytest.raises(MemoryError, match="random numbers"):
        simulate(BANDITS["plain"], "thompson-beta", 100, 5, progress=False, n_jobs=1)
