"""Arrivals of several types are simulated as their naive twin does it, and mistakes are named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from affinity_bandits import Constant, HandicapElimination, InGroupBonus, Power
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import UCB1, ThompsonBeta
from affinity_bandits.studies.contexts_model import TypedBandit, simulate_types
from affinity_bandits.studies.contexts_policies import HalfCountHandicap, LinUCB, PerType
from tests.support.naive import contexts as naive
from tests.support.naive import policies as naive_policies
from tests.support.naive.biases import naive_bias

HORIZON = 400
THREE = [[0.9, 0.2, 0.5], [0.4, 0.6, 0.5], [0.3, 0.1, 0.8]]
ADVERSE = {"arrivals": "by turn", "types": [0, 1, 1]}
LISTED = {"arrivals": "listed", "types": [2, 0, 1, 1, 0]}
TOLD = {"initial_pulls": [3, 9, 1], "failure": 0.4}


def twin_of(policy: Any) -> Any:
    """Return the naive twin of a policy for three groups and three types."""
    if isinstance(policy, LinUCB):
        return naive.LinUCB(3, 3, policy.width)
    if isinstance(policy, PerType):
        kind = {"ucb1": naive_policies.UCB1, "thompson-beta": naive_policies.ThompsonBeta}
        return naive.PerType([kind[policy.policy.name](3, HORIZON) for _ in range(3)])
    kind = naive.HalfCounts if isinstance(policy, HalfCountHandicap) else naive.HandicapElimination
    return kind(3, HORIZON, **TOLD, bounded=policy.bounded, sigma=policy.sigma)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "settings", "shuffles"),
    [
        (PerType(UCB1()), {"sigma": 0.4}, True),
        (PerType(ThompsonBeta()), {}, True),
        (LinUCB(), LISTED, True),
        (HandicapElimination(bounded=True, **TOLD), {}, True),
        (HandicapElimination(sigma=0.7, **TOLD), {"sigma": 0.4, **LISTED}, True),
        (HalfCountHandicap(bounded=True, **TOLD), ADVERSE, True),
        (HalfCountHandicap(bounded=True, **TOLD), ADVERSE, False),
    ],
    ids=lambda given: given.to_json()["name"] if hasattr(given, "to_json") else None,
)
def test_runs_are_those_of_the_twin(policy: Any, settings: dict[str, Any], shuffles: bool) -> None:
    bandit = TypedBandit(
        THREE, InGroupBonus(2.0), [3, 9, 1], **{"types": [0.5, 0.3, 0.2], **settings}
    )
    runs = simulate_types(bandit, policy, HORIZON, 4, seed=5, shuffles=shuffles, notes=4)
    dropped = 0
    for run in range(4):
        twin = twin_of(policy)
        log = naive.naive_types(
            bandit.means,
            naive_bias(bandit.bias.to_json()),
            bandit.initial,
            bandit.types,
            bandit.arrivals,
            bandit.sigma,
            twin,
            policy.to_json(),
            HORIZON,
            5,
            run,
            shuffles,
        )
        table, scores = np.zeros((3, 3), dtype=int), np.zeros((3, 3))
        for kind, arm, score in log:
            table[arm, kind] += 1
            scores[arm, kind] += score
        assert runs.table[run].tolist() == table.tolist()
        assert runs.scores[run] == pytest.approx(scores)
        chosen = [arm for _, arm, _ in log[: HORIZON // 4]]
        assert runs.choices[run, 0].tolist() == [chosen.count(arm) for arm in range(3)]
        if hasattr(twin, "candidates"):
            assert set(np.flatnonzero(runs.kept[run]).tolist()) == twin.candidates()
            dropped += 3 - len(twin.candidates())
    assert dropped > 0 or not isinstance(policy, HandicapElimination)


@pytest.mark.slow
def test_a_run_depends_on_its_number_and_seed_alone() -> None:
    bandit = TypedBandit(THREE, Power(1.0), [3, 9, 1], [0.5, 0.3, 0.2])
    policy = HalfCountHandicap(bounded=True, **TOLD)
    few, many = (simulate_types(bandit, policy, 200, runs, seed=3) for runs in (2, 5))
    assert few.table.tolist() == many.table[:2].tolist()
    other = simulate_types(bandit, policy, 200, 2, seed=4)
    assert other.table.tolist() != few.table.tolist()


def test_averages_are_over_types_as_often_as_they_come() -> None:
    drawn = TypedBandit([[1.0, 0.0], [0.5, 0.5]], Constant(), [1, 1], [0.25, 0.75])
    assert drawn.averages.tolist() == [0.25, 0.5]
    listed = TypedBandit([[1.0, 0.0], [0.5, 0.4]], Constant(), [1, 1], [0, 0, 1, 0], "listed")
    assert listed.averages == pytest.approx([0.75, 0.475])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"means": [[0.5, 0.5]]}, "means must be a row for each of two groups or more"),
        ({"means": [[0.5, 0.5], [0.5]]}, "means must be a row for each"),
        ({"means": [[0.5, 1.5], [0.5, 0.5]]}, "means must be at most 1 times f(1)"),
        ({"means": [[0.5, -0.5], [0.5, 0.5]]}, "means"),
        ({"initial": [1]}, "initial must be as long as there are groups (2), got"),
        ({"initial": [1, 0]}, "initial"),
        ({"types": [0.5, 0.6]}, "types must be a probability for each type, 1 in all"),
        ({"types": [0, 2], "arrivals": "listed"}, "types"),
        ({"types": [0.5], "arrivals": "by turn"}, "types must be types from 0 to 1"),
        ({"arrivals": "sorted"}, "arrivals"),
        ({"sigma": -1.0}, "sigma"),
    ],
)
def test_mistakes_are_named(changed: dict[str, Any], words: str) -> None:
    given = {"means": [[0.5, 0.4], [0.3, 0.2]], "initial": [1, 1], "types": [0.5, 0.5]}
    with pytest.raises(InvalidInput, match=re.escape(words)):
        TypedBandit(bias=Constant(), **{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bounded": False}, "bounded must be true"),
        ({"memory": 5}, "memory must be left out"),
        ({"judges": "panel"}, "judges must be 'chosen'"),
        ({"in_flight": 2}, "in_flight must be left out, or 1"),
    ],
)
def test_half_counts_are_for_scores_in_turn_of_a_committee_that_grows(
    changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        HalfCountHandicap(**{"bounded": True, **changed})
