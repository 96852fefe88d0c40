"""What is in flight joins the head start of the handicap, and wrong settings are refused."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import policy_from_json
from affinity_bandits.errors import InvalidInput, StateMismatch
from affinity_bandits.policies import HandicapElimination, Live

from .test_handicap_elimination import Play, play_beside, rates
from .test_handicap_elimination import naive as twin_of

# What is in flight.


@pytest.mark.parametrize("arms", [2, 5])
@pytest.mark.parametrize("head_start", [0, 7, 40])
@pytest.mark.parametrize("in_flight", [1, 2, 3, 9, 64, 501])
def test_catching_up_gives_everybody_half_of_what_is_in_flight_more(
    in_flight: int, head_start: int, arms: int
) -> None:
    play = Play(HandicapElimination(head_start, in_flight=in_flight), arms)
    needed = head_start + in_flight // 2
    everyone = list(range(arms))
    assert play.planned == (everyone, max(4, head_start // 12, math.ceil(in_flight / arms)))
    play.absorb(*[0.5] * (arms - 1), 0.6)
    assert play.planned == (everyone[:-1], needed + 1)
    play.absorb(*[1.0] * arms)
    assert play.planned[0] == everyone
    assert all(play.pulls[arm] == play.pulls[-1] + needed + 1 for arm in everyone[:-1])


@pytest.mark.slow
@settings(max_examples=25)
@given(in_flight=st.integers(1, 200), head_start=st.integers(0, 40), data=st.data())
def test_as_long_as_groups_take_turns_the_leader_has_so_many_fewer(
    in_flight: int, head_start: int, data: st.DataObject
) -> None:
    """As `test_arms_take_turns_only_with_the_handicap_in_place`, with the larger handicap."""
    play = Play(HandicapElimination(head_start, failure=0.9, in_flight=in_flight), 3)
    play.absorb(*data.draw(rates(3)))
    while not play.over:
        arms, active = play.planned[0], play.active
        if len(active) > 1 and arms == active:
            least, *others = sorted(play.pulls[arm] for arm in arms)
            assert min(others) >= least + head_start + in_flight // 2 + 1
        play.absorb(*data.draw(rates(3)))


@pytest.mark.slow
@settings(max_examples=25)
@given(
    head_start=st.sampled_from([None, 0, 7, 40]),
    failure=st.sampled_from([None, 0.05, 0.9]),
    data=st.data(),
)
def test_nothing_said_and_one_in_flight_decide_the_same(
    head_start: int | None, failure: float | None, data: st.DataObject
) -> None:
    one, other = (
        Play(HandicapElimination(head_start, failure=failure, in_flight=slots), 3, 500)
        for slots in (None, 1)
    )
    while not one.over:
        assert one.planned == other.planned
        drawn = data.draw(rates(3))
        one.absorb(*drawn)
        other.absorb(*drawn)
        assert one.active == other.active


@pytest.mark.slow
@settings(max_examples=25)
@given(in_flight=st.integers(1, 100), data=st.data())
def test_agrees_with_its_twin_on_what_is_in_flight(in_flight: int, data: st.DataObject) -> None:
    play = Play(HandicapElimination(7, bounded=True, failure=0.9, in_flight=in_flight), 3, 10**5)
    twin = twin_of(play)
    while len(play.active) > 1 and sum(play.pulls) < 1000:
        play_beside(twin, play, *data.draw(rates(3)))


def test_the_window_is_what_is_in_flight_and_one_if_nothing_was_said() -> None:
    assert HandicapElimination().order_window == 1
    assert HandicapElimination(in_flight=12).order_window == 12


def test_a_policy_that_was_told_its_window_keeps_it() -> None:
    told = HandicapElimination(5, in_flight=12)
    assert told.with_order_window(100) is told
    untold = HandicapElimination(5, bounded=True)
    assert untold.with_order_window(100) == HandicapElimination(5, bounded=True, in_flight=100)
    assert untold.with_order_window(1).order_window == 1
    assert untold.in_flight is None  # a new policy: the old one stays as it is
    # A window given once is kept from then on.
    assert untold.with_order_window(100).with_order_window(3).order_window == 100


@pytest.mark.parametrize("in_flight", [None, 1, 9])
def test_what_is_in_flight_survives_json(in_flight: int | None) -> None:
    policy = HandicapElimination(5, bounded=True, failure=0.05, in_flight=in_flight)
    again = policy_from_json(policy.to_json())
    assert again == policy
    assert again.to_json() == policy.to_json()


# Wrong settings.


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("head_start", -1),
        ("head_start", 0.5),
        ("head_start", True),
        ("head_start", "5"),
        ("head_start", math.nan),
        ("head_start", 10**400),
        ("sigma", 0.0),
        ("sigma", -1.0),
        ("sigma", math.nan),
        ("sigma", math.inf),
        ("sigma", "1"),
        ("bounded", 1),
        ("bounded", None),
        ("failure", 0.0),
        ("failure", 1.0),
        ("failure", -0.05),
        ("failure", math.nan),
        ("failure", "0.05"),
        ("in_flight", 0),
        ("in_flight", -3),
        ("in_flight", 1.5),
        ("in_flight", True),
        ("in_flight", "4"),
        ("in_flight", math.nan),
        ("in_flight", 10**10),
        ("memory", 0),
        ("memory", 2.5),
        ("memory", True),
        ("memory", "8"),
        ("memory", 10**9),
    ],
)
def test_wrong_settings_are_refused_by_name(parameter: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=parameter) as caught:
        HandicapElimination(**{parameter: value})  # type: ignore[arg-type]
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    ("arms", "horizon", "parameter"), [(0, 10, "arms"), (2, 0, "horizon"), (2, 10**16, "horizon")]
)
def test_wrong_sizes_are_refused_by_name(arms: int, horizon: int, parameter: str) -> None:
    with pytest.raises(InvalidInput, match=parameter):
        HandicapElimination().start(arms, horizon)


@pytest.mark.parametrize(
    ("parameter", "settings"),
    [
        ("head_start", {"head_start": 5}),
        ("initial_pulls", {"initial_pulls": [5, 6]}),
        ("in_flight", {"in_flight": 2}),
        ("memory", {"judges": "panel"}),
    ],
)
def test_what_does_not_go_with_a_memory_is_refused_by_name(
    parameter: str, settings: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput, match=f"^{parameter} must be left out") as caught:
        HandicapElimination(memory=8, **settings)  # type: ignore[arg-type]
    assert caught.value.parameter == parameter


# A memory.


@pytest.mark.parametrize(("arms", "memory", "passes"), [(2, 8, 4), (3, 8, 3), (5, 3, 1)])
def test_the_wait_is_as_long_as_the_memory_and_rounds_begin_with_the_leader(
    arms: int, memory: int, passes: int
) -> None:
    play = Play(HandicapElimination(memory=memory), arms)
    everyone = list(range(arms))
    assert play.planned == (everyone, passes)
    play.absorb(*[0.5] * (arms - 1), 0.9)
    assert play.planned == (everyone, 4)  # what was seen in the wait counts for nothing
    play.absorb(0.5, 0.6, *[0.5] * (arms - 2))
    assert play.planned == ([0], 1)  # whose turn comes before that of group 1
    play.absorb(1.0)
    assert play.planned == ([*everyone[1:], 0], 1)


def test_answers_of_a_committee_that_forgets_come_in_turn() -> None:
    policy = HandicapElimination(memory=8)
    assert policy.order_window == 1
    assert policy.with_order_window(100) is policy
    assert policy_from_json(policy.to_json()) == policy
    assert "memory" not in HandicapElimination().to_json()
    assert policy.rounds_without_drops(3, 1_000, 0.25) == []


# Runs that were begun before stakes that have been tried were given nothing more.

NEWER = "affinity_bandits.policies.handicap_elimination.TRIED"


def choices(live: Live, first: int, last: int) -> list[int]:
    """Tell of three groups, of which another is the best after 300 choices."""
    made = []
    for number in range(first, last):
        means = (0.5, 0.52, 0.5) if number < 300 else (0.5, 0.5, 0.56)
        made.append(live.ask())
        chance = np.random.default_rng([9, made[-1], number]).uniform(-0.1, 0.1)
        live.tell(made[-1], means[made[-1]] + chance)
    return made


def test_a_run_that_was_begun_before_goes_on_as_it_began() -> None:
    policy, size = HandicapElimination(head_start=3, sigma=0.05), (3, 3_000)
    with patch(NEWER, 0.0):
        before = Live(policy, *size)
        choices(before, 0, 100)
        text = before.to_json()
        expected = choices(before, 100, 600)
    assert "tried" not in text
    resumed = Live.from_json(policy, text)
    assert choices(resumed, 100, 600) == expected
    assert resumed.to_json() == before.to_json()
    fresh = Live(policy, *size)
    assert choices(fresh, 0, 600)[100:] != expected
    assert choices(Live.from_json(policy, fresh.to_json()), 600, 900) == choices(fresh, 600, 900)


def test_a_number_that_came_later_is_read_only_if_it_is_the_policys_own() -> None:
    policy = HandicapElimination(head_start=3)
    saved = policy.save(policy.start(2, 1000), 2, 1000)
    saved["state"]["tried"] = 10.0
    with pytest.raises(StateMismatch, match=r"field tried of the saved state is 10\.0"):
        policy.load(saved)
    guarded = HandicapElimination(head_start=3, failure=0.05)
    assert "tried" not in guarded.save(guarded.start(2, 1000), 2, 1000)["state"]
