"""What a policy explains of a round is what it does: thresholds, leaders, who is left."""

from __future__ import annotations

import pytest

from affinity_bandits.policies import (
    Elimination,
    HeadStartElimination,
    ListedSchedule,
    PlayedRound,
    PublishedSchedule,
    RoundExplanation,
    RoundPolicy,
    SuccessiveRejects,
)
from affinity_bandits.policies.elimination import MOST_ROUNDS
from affinity_bandits.testing import check_policy
from tests.support.own_policies import DropLowest, DropLowestInWords

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
