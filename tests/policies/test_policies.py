"""Policies by name, what they assume, explain and schedule, and tallies of scores."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, getcontext
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Ordinal,
    Power,
    policy_from_json,
    simulate,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import policy_lines
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies import (
    POLICIES,
    UCB1,
    Elimination,
    HeadStartElimination,
    ListedSchedule,
    Oracle,
    PlayedRound,
    PublishedSchedule,
    RoundExplanation,
    RoundPolicy,
    StepPolicy,
    SuccessiveRejects,
    register,
)
from affinity_bandits.policies.contracts import add_score
from affinity_bandits.policies.elimination import MOST_ROUNDS, schedule_from_json
from affinity_bandits.testing import check_policy
from tests.support.own_policies import DropLowest, DropLowestInWords

BANDIT = AffinityBandit([0.2, 0.9, 0.4], bias=Power(1.0), initial_pulls=[3, 1, 2])


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    with patch.dict(POLICIES):
        yield


@dataclass(frozen=True)
class Informed(Oracle):
    """Told all there is, under names of its own."""

    name: ClassVar[str] = "informed"
    told: ClassVar[Mapping[str, str]] = {"arm": "best arm", "past": "initial pulls", "f": "bias"}
    past: Any = None
    f: Any = None


def test_a_registered_policy_is_made_and_run_by_its_name() -> None:
    assert register(DropLowest) is DropLowest
    assert register(DropLowest) is DropLowest  # again, as when a cell of a notebook is run twice
    assert policy_from_json({"name": "drop-lowest", "repetitions": 9}) == DropLowest(9)
    result = simulate(BANDIT, "drop-lowest", 50, replicates=2, progress=False)
    assert result.runs[0].label == "drop-lowest"


def test_a_class_defined_again_takes_its_own_place() -> None:
    def defined() -> type[UCB1]:
        class Mine(UCB1):
            name = "mine"

        return Mine

    first, second = defined(), defined()
    register(first)
    register(second)
    assert POLICIES["mine"] is second


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (UCB1(), "policy must be a class"),
        (int, "policy must be a class"),
        (StepPolicy, "name must be a word"),
        (type("Nameless", (UCB1,), {"name": ""}), "name must be a word"),
        (type("Other", (UCB1,), {"name": "elimination"}), "Elimination has it"),
    ],
)
def test_what_cannot_be_registered_is_refused(wrong: Any, says: str) -> None:
    before = dict(POLICIES)
    with pytest.raises(InvalidInput, match=says):
        register(wrong)
    assert before == POLICIES


def test_what_a_policy_is_told_is_filled_in_unless_it_was_said() -> None:
    register(Informed)
    policy = policy_from_json("informed", BANDIT)
    assert isinstance(policy, Informed)
    assert (policy.arm, policy.past, policy.f) == (1, (3, 1, 2), Power(1.0))
    said = policy_from_json({"name": "informed", "arm": 2, "f": "constant"}, BANDIT)
    assert isinstance(said, Informed)
    assert (said.arm, said.f.to_json()["name"]) == (2, "constant")
    untold = policy_from_json("informed")
    assert isinstance(untold, Informed)
    assert (untold.arm, untold.past, untold.f) == (0, None, None)


def test_a_fact_that_there_is_none_of_is_refused() -> None:
    register(type("Curious", (Oracle,), {"name": "curious", "told": {"arm": "weather"}}))
    with pytest.raises(InvalidInput, match="weather"):
        policy_from_json("curious", BANDIT)


UNIT = Feedback(low=0.0, high=1.0)
HALF = Feedback(sigma=0.5)
ONE = Feedback(sigma=1.0)

BY_DEFAULT = {
    "elimination": ONE,
    "head-start-elimination": ONE,
    "members-elimination": ONE,
    "panel-elimination": ONE,
    "recusal-elimination": ONE,
    "memory-elimination": ONE,
    "uniform": ANYTHING,
    "explore-then-commit": ONE,
    "successive-rejects": HALF,
    "sequential-halving": HALF,
    "weighted-ucb": ONE,
    "ucb1": HALF,
    "kl-ucb": UNIT,
    "moss": HALF,
    "ucb-v": UNIT,
    "debiased-ucb-v": ANYTHING,
    "efficient-ucb-v": UNIT,
    "exp3": UNIT,
    "exp3-gains": UNIT,
    "exp3-ix": UNIT,
    "lucb": ONE,
    "thompson-beta": Feedback(law="bernoulli"),
    "thompson-gaussian": Feedback(sigma=1.0, law="normal"),
    "epsilon-greedy": ANYTHING,
    "oracle": ANYTHING,
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_assumes_what_its_source_does(name: str) -> None:
    found = policy_from_json(name, AffinityBandit([0.5], memory=1)).assumes
    assert found == BY_DEFAULT[name]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({"name": "head-start-elimination", "bounded": True}, UNIT),
        ({"name": "head-start-elimination", "sigma": 0.3}, Feedback(sigma=0.3)),
        ({"name": "lucb", "sigma": 0.5}, HALF),
        ({"name": "ucb1", "exploration": 8.0}, ONE),
        ({"name": "moss", "scale": 4.0}, ONE),
        ({"name": "ucb-v", "bound": 3.0}, Feedback(low=0.0, high=3.0)),
        ({"name": "thompson-gaussian", "sigma": 2.0}, Feedback(sigma=2.0, law="normal")),
        ({"name": "elimination", "offset": 6.0}, ONE),
        ({"name": "elimination", "offset": 4.0}, ANYTHING),
    ],
)
def test_settings_change_what_is_assumed(description: dict[str, Any], expected: Feedback) -> None:
    assert policy_from_json(description).assumes == expected
    assert Elimination(ListedSchedule([(5, 0.3)])).assumes == ANYTHING
    assert Elimination(PublishedSchedule(5.0)).assumes == ONE


def test_the_list_of_policies_and_the_guide_say_the_same() -> None:
    guide = Path(__file__).parents[2] / "docs" / "policies.md"
    rest = guide.read_text(encoding="utf-8").split("| name | assumes feedback that is |")[1]
    table = rest.split("\n\n")[0]
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.MULTILINE)
    written = {name: what for names, what in rows for name in re.findall("`([^`]+)`", names)}
    shown = {name: assumed for name, _, assumed, _ in policy_lines()}
    assert set(written) == set(shown) == set(POLICIES)
    for name, assumed in shown.items():
        assert assumed in written[name]
        assert (assumed == "-") == (BY_DEFAULT[name] == ANYTHING)


# The order of kinds of feedback.

KINDS = [
    ANYTHING,
    UNIT,
    HALF,
    ONE,
    Feedback(sigma=0.1),
    Feedback(low=-1.0, high=1.0),
    Feedback(low=0.25, high=0.75),
    Feedback(law="bernoulli"),
    Feedback(sigma=1.0, law="normal"),
    Feedback(sigma=0.5, law="normal"),
]


def test_covering_is_an_order() -> None:
    for one in KINDS:
        assert one.covers(one)
        assert ANYTHING.covers(one)
        for other in KINDS:
            if one.covers(other) and other.covers(one):
                assert one == other
            for third in KINDS:
                if one.covers(other) and other.covers(third):
                    assert one.covers(third)


@pytest.mark.parametrize(
    ("assumed", "produced"),
    [
        (UNIT, ANYTHING),
        (UNIT, HALF),
        (UNIT, Feedback(low=-1e-6, high=1.0)),
        (UNIT, Feedback(low=0.0, high=1.0 + 1e-6)),
        (ONE, ANYTHING),
        (ONE, Feedback(sigma=1.0 + 1e-6)),
        (HALF, Feedback(low=-1.0, high=1.0)),
        (Feedback(law="bernoulli"), UNIT),
        (Feedback(sigma=1.0, law="normal"), ONE),
        (Feedback(sigma=1.0, law="normal"), Feedback(sigma=0.5, law="normal")),
    ],
)
def test_what_is_not_covered_is_named(assumed: Feedback, produced: Feedback) -> None:
    assert not assumed.covers(produced)
    assert assumed.missing(produced)


def test_rounding_is_no_difference() -> None:
    assert Feedback(sigma=0.3).covers(Feedback(sigma=0.1 + 0.2))
    assert UNIT.covers(Feedback(low=-1e-17, high=1.0 + 2e-16))


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"low": 1.0, "high": 0.0}, "high"),
        ({"low": math.nan}, "high"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": math.nan}, "sigma"),
        ({"law": "poisson"}, "law"),
    ],
)
def test_nonsense_is_refused_by_name(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidInput, match=parameter):
        Feedback(**settings)


ALL = frozenset(range(4))


def after(policy: RoundPolicy, *rounds: tuple[int, ...]) -> RoundExplanation:
    """What is said of the last of some rounds, of which only the arms are known."""
    said = None
    for number, arms in enumerate(rounds):
        said = policy.explain(PlayedRound(number, arms, ALL, ()), said)
    assert said is not None
    return said


def test_by_default_nothing_is_claimed() -> None:
    policy = RoundPolicy()
    assert policy.rule == ""
    assert policy.warm_up_rounds == 0
    assert after(policy, (0, 1)) == RoundExplanation()
    assert policy.evidence(None) is None


@pytest.mark.parametrize("discard_first", [False, True])
@pytest.mark.parametrize(
    "schedule",
    [PublishedSchedule(-2.0), ListedSchedule([(1, 1.0 - n / 1500) for n in range(1400)])],
    ids=["published", "listed"],
)
def test_the_tolerance_of_a_round_is_the_threshold_that_is_used(
    schedule: PublishedSchedule | ListedSchedule, discard_first: bool
) -> None:
    policy = Elimination(schedule, discard_first=discard_first)
    horizon = 10_000
    state = policy.start(4, horizon)
    last = len(state.thresholds) - 1
    used = last if last < MOST_ROUNDS - 1 else 1390
    for number in range(used + 1 - (not discard_first)):
        said = policy.explain(PlayedRound(number, (0, 1, 2, 3), ALL, ()), None)
        place = min(int(state.round[0]) + number, last)
        if place == 0:
            assert not said.compares
            assert said.tolerance is None
        else:
            assert said.tolerance == state.thresholds[place]


def test_a_leader_is_named_when_it_is_known_and_only_then() -> None:
    policy, everybody = HeadStartElimination(initial_lead=3), (0, 1, 2, 3)
    assert after(policy, everybody).leader is None
    assert after(policy, everybody, (0, 1, 3)).leader == 2
    assert not after(policy, everybody, (0, 1, 3)).compares
    assert after(policy, everybody, (0, 1, 3), everybody).leader == 2
    # Another one leads: it alone is absent, then those that have their head start are as well.
    assert after(policy, everybody, (0, 1, 3), everybody, (1, 2, 3), (2,)).leader == 0
    # Of two groups, the one that is pulled may catch up with the leader, or be the leader.
    assert after(policy, (0, 1), (1,), (0, 1)).leader is None
    # The rounds before are not known.
    assert after(policy, (2,)).leader is None
    assert after(policy, (2,), everybody).leader is None
    # Whoever gets a head start does not lead any more.
    assert after(policy, (0, 1, 3), (2,)).leader is None


def test_what_is_kept_is_counted() -> None:
    four = PlayedRound(0, (0, 1, 2, 3), ALL, (3,))
    assert SuccessiveRejects().explain(four, None).dropped_because == (
        "Only the best 3 by score over all rounds so far stay after this round"
    )
    two = PlayedRound(2, (0, 1), frozenset({0, 1}), (1,))
    assert SuccessiveRejects().explain(two, None).dropped_because == (
        "Only the best by score over all rounds so far stays after this round"
    )


@pytest.mark.parametrize("policy", [DropLowest(), DropLowestInWords()], ids=str)
def test_policies_of_ones_own_keep_the_contract(policy: RoundPolicy) -> None:
    check_policy(policy)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (RoundExplanation(leader=7), "an unknown arm leads"),
        (RoundExplanation(tolerance=float("nan")), "a tolerance is not a finite number"),
        (RoundExplanation(tolerance=-1.0), "a tolerance is not a finite number"),
        (RoundExplanation(compares=False), "drops an arm without a comparison"),
        (RoundExplanation(purpose=3), "an explanation is not text"),  # type: ignore[arg-type]
        (None, "explain returns no RoundExplanation"),
    ],
)
def test_a_false_explanation_breaks_the_contract(said: RoundExplanation, says: str) -> None:
    class Misleading(DropLowest):
        def explain(self, *_: object) -> RoundExplanation:
            return said

    with pytest.raises(AssertionError, match=says):
        check_policy(Misleading())


@pytest.mark.parametrize("horizon", [1, 1000, 10**6, 10**15])
@pytest.mark.parametrize("arms", [2, 3, 64, 10_000])
@pytest.mark.parametrize("offset", [5, 6, 0, -3])
def test_pulls_of_a_round_are_the_formula_rounded_up(horizon: int, arms: int, offset: int) -> None:
    """Equation (10), against 50 digits."""
    getcontext().prec = 50
    pi = Decimal("3.14159265358979323846264338327950288419716939937510")
    for r in range(1, 12):
        inside = Decimal(12) / pi**2 * arms**2 * r**2 * horizon
        exact = Decimal(2) ** (2 * r + offset) * inside.ln()
        found = PublishedSchedule(offset).repetitions(r, arms, horizon)
        assert found == max(1, math.ceil(exact))


def test_the_published_numbers_on_the_papers_instance() -> None:
    """195,448 suboptimal pulls at n = 10**6: one discarded and rounds 1 to 4."""
    schedule = PublishedSchedule()
    assert 1 + sum(schedule.repetitions(r, 2, 10**6) for r in range(1, 5)) == 195_448


def test_listed_rounds_repeat_the_last() -> None:
    schedule = ListedSchedule([(5, 0.5), (9, 0.25)])
    assert [schedule.repetitions(r, 2, 100) for r in (1, 2, 3)] == [5, 9, 9]
    assert [schedule.threshold(r) for r in (1, 2, 3)] == [0.5, 0.25, 0.25]
    assert schedule_from_json(schedule.to_json()) == schedule


def test_a_tie_at_the_threshold_keeps_the_arm() -> None:
    """The paper keeps arm i iff the lag is at most the threshold."""
    policy = Elimination(ListedSchedule([(4, 0.25)]), discard_first=False)
    state = policy.start(3, 100)
    import numpy as np

    after = policy.absorbed(state, np.array([4.0, 3.0, 2.9]))
    assert after.dropped_in.tolist() == [0, 0, 1]
    assert policy.plan(after).arms.tolist() == [0, 1]


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50),
    st.lists(st.floats(0.01, 0.99), min_size=0, max_size=15, unique=True),
)
def test_counts_and_mean_are_those_of_the_scores(scores: list[float], inner: list[float]) -> None:
    nodes = np.array(sorted({0.0, 1.0, *inner}))
    seen = np.zeros(len(nodes))
    for score in scores:
        add_score(nodes, score, seen, 0)
    assert seen.min() >= 0.0
    assert seen.sum() == pytest.approx(len(scores))
    assert seen @ nodes == pytest.approx(sum(scores), abs=1e-9)


@pytest.mark.parametrize("levels", [2, 3, 5, 9, 17])
def test_a_score_that_is_a_node_is_counted_there_alone(levels: int) -> None:
    nodes = np.array(HeadStartElimination(1, bounded=True).nodes)
    for score in np.linspace(0.0, 1.0, levels):
        seen = np.zeros(17)
        add_score(nodes, float(score), seen, 0)
        assert seen[nodes == score].tolist() == [1.0]


def test_what_lies_beyond_an_end_counts_as_that_end() -> None:
    nodes, seen = np.array([0.0, 0.5, 1.0]), np.zeros(6)
    add_score(nodes, -3.0, seen, 3)
    add_score(nodes, 1.5, seen, 3)
    assert seen.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]


def test_rounds_that_cannot_be_counted_are_played_by_steps_and_it_is_said() -> None:
    policy = HeadStartElimination(5, bounded=True, failure=0.05)
    for noise, engine in (("bernoulli", "rounds"), (Ordinal(5), "rounds"), ("gaussian", "steps")):
        bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), noise=noise)
        (run,) = simulate(bandit, policy, 200, 2, progress=False).runs
        assert run.engine == engine
