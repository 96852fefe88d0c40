"""One definition of what a run ended with, wherever it is shown; regret within what is possible."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Power, Result, simulate
from affinity_bandits.simulation import PolicyRun

INITIAL_LEAD = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])


def result_of(
    means: list[float], pulls: list[list[int]], candidates: list[list[int]], decides: bool
) -> Result:
    """A result of one policy, a row a replicate."""
    return Result(
        AffinityBandit(means),
        (PolicyRun("a", {"name": "a"}, decides, "steps"),),
        sum(pulls[0]),
        0,
        np.arange(len(pulls)),
        np.array([sum(pulls[0])]),
        np.array(pulls)[None, :, None, :],
        np.array(candidates)[None],
        np.zeros((1, len(pulls)), dtype=np.int64),
    )


def verdicts(result: Result) -> list[str]:
    pairs = zip(result.wrong_arm[0].tolist(), result.undecided[0].tolist(), strict=True)
    names = {(False, False): "right", (True, False): "wrong", (False, True): "undecided"}
    return [names[pair] for pair in pairs]


def test_two_undecided_policies_have_the_same_verdict_however_their_pulls_fall() -> None:
    """Alpha = 3: neither has decided, one with 100,000 pulls each, one with 883 more for arm 0."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(3.0), initial_pulls=[100, 10])
    policies = ["elimination", "head-start-elimination", "ucb1"]
    result = simulate(bandit, policies, 200_000, 20, checkpoints=1)
    assert (result.pulls[0, :, -1] == [100_000, 100_000]).all()
    assert (result.pulls[1, :, -1] == [100_883, 99_117]).all()
    for row in result.summary()[:2]:
        assert row.undecided is not None
        assert (row.wrong_arm[0], row.undecided[0]) == (0.0, 1.0)
    assert not result.deceived[:2].any()
    assert result.summary()[2].undecided is None


def test_of_a_policy_that_never_decides_undecided_is_nothing_and_not_true() -> None:
    result = simulate(INITIAL_LEAD, ["ucb1", "elimination"], 1000, 5)
    data = result.to_xarray()
    assert np.isnan(data.undecided.sel(policy="ucb1")).all()
    assert (data.undecided.sel(policy="elimination") == 1.0).all()
    assert data.eliminates.values.tolist() == [False, True]
    assert not result.undecided[0].any()
    assert [row.undecided is None for row in result.summary()] == [True, False]
    assert float(data.undecided.mean("replicate").sel(policy="elimination")) == 1.0


def test_a_policy_that_decides_is_judged_by_its_candidates() -> None:
    pulls = [[50, 30, 20]] * 5
    candidates = [[0, 0, 1], [1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    found = verdicts(result_of([0.1, 0.2, 0.9], pulls, candidates, True))
    assert found == ["right", "undecided", "wrong", "wrong", "undecided"]


def test_best_arms_that_are_left_together_are_a_decision() -> None:
    candidates = [[0, 1, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]]
    found = verdicts(result_of([0.1, 0.9, 0.9], [[50, 30, 20]] * 4, candidates, True))
    assert found == ["right", "undecided", "undecided", "right"]
    assert verdicts(result_of([0.9, 0.9], [[1, 1]], [[1, 1]], True)) == ["right"]


def test_any_other_policy_is_judged_by_its_pulls_and_a_tie_is_not_wrong() -> None:
    pulls = [[5, 5], [6, 4], [4, 6]]
    assert verdicts(result_of([0.4, 0.6], pulls, [[1, 1]] * 3, False)) == [
        "right",
        "wrong",
        "right",
    ]
    # Of many arms none need have half of the pulls; best arms count together.
    pulls = [[30, 30, 40, 0], [40, 30, 30, 0], [41, 20, 20, 19], [40, 20, 20, 20]]
    found = verdicts(result_of([0.1, 0.1, 0.9, 0.9], pulls, [[1] * 4] * 4, False))
    assert found == ["right", "wrong", "wrong", "right"]


def test_no_interval_of_regret_leaves_what_is_possible() -> None:
    """With 0 to t times the largest gap; Student's interval left it at both ends here."""
    for initial, replicates in (((100, 10), 50), ((10, 10), 50), ((10, 10), 1)):
        bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=initial)
        result = simulate(bandit, ["ucb1", "elimination"], 20_000, replicates)
        mean, low, high = result.regret_band()
        most = 0.2 * result.checkpoints
        assert (low >= 0.0).all()
        assert (low <= mean).all()
        assert (mean <= high).all()
        assert (high <= most * (1.0 + 1e-12)).all()
        for i, row in enumerate(result.summary()):
            assert row.regret == pytest.approx((mean[i, -1], low[i, -1], high[i, -1]), rel=1e-6)
            median, fifth, ninety_fifth = row.regret_runs
            assert {median, fifth, ninety_fifth} <= set(result.regret[i, :, -1].tolist())
            assert fifth <= median <= ninety_fifth


def test_where_all_arms_are_best_regret_is_known_to_be_zero() -> None:
    result = simulate(AffinityBandit([0.5, 0.5]), ["ucb1", "elimination"], 1000, 3)
    for row in result.summary():
        assert row.regret == row.regret_runs == (0.0, 0.0, 0.0)
        assert row.wrong_arm[0] == 0.0


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_higher_level_is_wider(level: float) -> None:
    result = simulate(INITIAL_LEAD, "ucb1", 2000, 30)
    _, low, high = result.summary(level)[0].regret
    _, wider_low, wider_high = result.summary((1.0 + level) / 2.0)[0].regret
    assert wider_low < low < high < wider_high
