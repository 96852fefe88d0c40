"""The log of a simulated run as a log of decisions: shares, scores and who judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from affinity_bandits import (
    AffinityBandit,
    Gaussian,
    Joining,
    Judges,
    Ordinal,
    Power,
    RunLog,
    simulate_log,
)
from affinity_bandits.audit import log_of_run, panels_at_random, verdicts
from affinity_bandits.errors import InvalidInput
from tests.support.instances import bandits

BIASED = {"bias": Power(1.0), "initial_pulls": [100, 10]}


def played(policy: str = "ucb1", rows: int = 400, **changes: Any) -> RunLog:
    return simulate_log(AffinityBandit([0.4, 0.6], **(BIASED | changes)), policy, rows, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["ucb1", "sequential-halving"])
@settings(max_examples=60)
@given(bandit=bandits(gaussian=False, seated=True))
def test_the_share_of_those_who_judged_is_the_runs(policy: str, bandit: AffinityBandit) -> None:
    run = simulate_log(bandit, policy, 200)
    log = log_of_run(run)
    assert log.group.tolist() == run.arm.tolist()
    assert log.chosen.tolist() == run.joined.tolist()
    assert log.judging.tobytes() == run.share.tobytes()
    low, high = min(0.0, bandit.feedback.low), max(1.0, bandit.feedback.high)
    np.testing.assert_allclose(low + log.score * (high - low), run.score, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"joining": Joining(part=0.5)},
        {"joining": Joining(part=0.5, when="next round")},
        {"joining": Joining(above=0.5)},
    ],
    ids=["part", "next round", "above"],
)
def test_a_committee_that_follows_from_who_joined_needs_no_panel(changes: dict[str, Any]) -> None:
    run = played("sequential-halving", **changes)
    log = log_of_run(run)
    assert log.panel is None
    assert log.share.tobytes() == run.share.tobytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"memory": 30},
        {"joining": Joining(leaving=0.1)},
        {"judges": Judges("panel", seats=4)},
        {"judges": Judges("panel", seats=9, seating="in proportion")},
        {"judges": Judges("strangers"), "bias": "in-group-bonus"},
    ],
    ids=["memory", "leaving", "panel", "in proportion", "strangers"],
)
def test_who_judged_is_recorded_where_it_does_not_follow(changes: dict[str, Any]) -> None:
    run = played(**changes)
    log = log_of_run(run)
    assert log.panel is not None
    assert log.panel.tobytes() == run.share.tobytes()
    # Seats are not drawn by lot, so there is nothing that a lot could show.
    assert panels_at_random(log).peak == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_a_known_bias_is_shown_and_no_bias_is_not() -> None:
    """The product of the evidence of ten independent logs, which is an e-value, too.

    One log of 2,000 rows shows f(x) = x in 57% of 400 runs. Its logarithm has mean 4.1 and
    standard deviation 3.3, so the sum of ten is 41 with 10.3: below log(20) = 3 only 3.7 standard
    deviations down. Of 40 other tens the least was 19. Without a bias "shown" has probability at
    most 5%; of 20 tens the largest was -19.
    """
    found = []
    for bias in (Power(1.0), "constant"):
        bandit = AffinityBandit([0.4, 0.6], bias, [100, 10], noise=Ordinal(5))
        logs = [simulate_log(bandit, "uniform", 2_000, 3, replicate=one) for one in range(10)]
        found.append(sum(verdicts(log_of_run(log), steady=False)[0].log_e for log in logs))
    assert [evidence >= math.log(20) for evidence in found] == [True, False]


def test_groups_have_the_names_that_are_given() -> None:
    run = played()
    log = log_of_run(run, names=["own", "other"])
    assert log.groups == ("own", "other")
    assert log.group.tolist() == run.arm.tolist()
    assert log_of_run(run).groups == ("0", "1")
    assert log.initial.tolist() == [100, 10]


def test_scores_of_a_list_are_mapped_to_the_whole_scale() -> None:
    log = log_of_run(played(noise=Ordinal(5), rows=2_000, policy="uniform"))
    assert np.unique(log.score).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_scores_without_ends_are_cut_where_it_is_said() -> None:
    run = played(noise=Gaussian(1.0))
    with pytest.raises(InvalidInput, match=r"^lowest must be given: feedback has"):
        log_of_run(run)
    with pytest.raises(InvalidInput, match=r"^highest must be given: feedback has"):
        log_of_run(run, lowest=-1)
    log = log_of_run(run, lowest=-1, highest=2)
    assert log.score.tolist() == ((np.clip(run.score, -1, 2) + 1) / 3).tolist()
    assert log.score.min() == 0.0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"run": 3}, "run must be a log of `simulate_log`, got 3"),
        ({"names": ["a"]}, "names must be 2 different names"),
        ({"names": ["a", "a"]}, "names must be 2 different names"),
        ({"names": "ab"}, "names must be 2 different names"),
        ({"lowest": "low"}, "lowest must be a finite number"),
        ({"lowest": 1}, "highest must be a finite number above 1"),
    ],
)
def test_refuses_what_is_wrong(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        log_of_run(**({"run": played(rows=10)} | wrong))
