"""Rounds that begin in plain Python give the same results, whenever they are compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Custom, Gaussian, Power
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.kernels.compile import runs_interpreted
from affinity_bandits.simulation import engines
from affinity_bandits.simulation.engines import RoundEngine
from tests.support.own_policies import DropLowest
from tests.support.processes import run_python

HORIZON, COUNT = 10**6, 6
TIMES = np.array([1_000, HORIZON])
BANDIT = AffinityBandit([0.4, 0.5, 0.6], bias=Power(1.0), initial_pulls=[30, 10, 5])
NEW = """
import os
from pathlib import Path
from affinity_bandits import AffinityBandit, simulate
simulate(AffinityBandit([0.4, 0.6]), "elimination", 10_000, 5, progress=False)
print(len([*Path(os.environ["NUMBA_CACHE_DIR"]).rglob("round_batch*"),
           *Path(os.environ["NUMBA_CACHE_DIR"]).rglob("rounds.*")]))
"""


def half(share: float) -> float:
    return 0.5 + 0.5 * share


def played(engine: RoundEngine, count: int = COUNT) -> tuple[Any, Any]:
    pulls = np.zeros((count, len(TIMES), 3), dtype=np.int64)
    ends = np.zeros((count, 4), dtype=np.int64)
    engine.run(5, pulls, ends, lambda _: None)
    return pulls, ends


@pytest.mark.slow
@pytest.mark.skipif(runs_interpreted(), reason="nothing is compiled")
@pytest.mark.parametrize("noise", ["bernoulli", Gaussian(0.5)])
@pytest.mark.parametrize("name", ["elimination", "head-start-elimination"])
def test_results_do_not_depend_on_when_the_loop_is_compiled(
    monkeypatch: pytest.MonkeyPatch, name: str, noise: Any
) -> None:
    """At once, never, and in the middle of a replicate."""
    bandit = AffinityBandit(
        BANDIT.true_means, bias=Power(1.0), initial_pulls=[30, 10, 5], noise=noise
    )
    policy = policy_from_json(name, bandit)
    found = {}
    for seconds in (0.0, 1e9, 1e-4):
        monkeypatch.setattr(engines, "_patience", engines._Patience(seconds))
        engine = RoundEngine(bandit, policy, HORIZON, 1, TIMES)
        monkeypatch.setattr(engine, "_takes_long", lambda: True)
        engine.compile()
        assert engine._in_python is (seconds > 0.0)
        found[seconds] = played(engine)
        assert engine._in_python is (seconds == 1e9)
    for seconds in (1e9, 1e-4):
        np.testing.assert_array_equal(found[seconds][0], found[0.0][0])
        np.testing.assert_array_equal(found[seconds][1], found[0.0][1])


@pytest.mark.skipif(runs_interpreted(), reason="nothing is compiled")
def test_code_of_a_user_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    own = AffinityBandit(BANDIT.true_means, bias=Custom(half, 0.5))
    for bandit, policy in ((BANDIT, DropLowest()), (own, policy_from_json("elimination", own))):
        engine = RoundEngine(bandit, policy, HORIZON, 1, TIMES)
        assert not engine._may_wait
    assert RoundEngine(BANDIT, policy_from_json("elimination", BANDIT), 10, 1, TIMES)._may_wait


@pytest.mark.slow
@pytest.mark.skipif(runs_interpreted(), reason="nothing is compiled")
def test_a_small_study_of_rounds_compiles_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    done = run_python("-c", NEW, NUMBA_CACHE_DIR=str(folder))
    assert done.stdout.split() == ["0"]
    machine_code = [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]
    assert len(machine_code) == 0
