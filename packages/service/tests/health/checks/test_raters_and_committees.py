"""One rater who gives nearly all scores, and committees that do not fit who was chosen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits_service.health.checks import (
    SHARE,
    Facts,
    SeenRound,
    find_misfit,
    find_one_rater,
    rater_wealth,
)
from affinity_bandits_service.health.words import Words

HIGH = 0.2


def found_in(scores: dict[str, int]) -> str | None:
    """What is found in how many each rater gave, in the order in which they gave their first."""
    rater = max(scores, key=scores.__getitem__)
    place, total = 1 + list(scores).index(rater), sum(scores.values())
    busiest = {"rater": rater, "scores": scores[rater], "total": total, "place": place}
    found = find_one_rater(Facts((), busiest=busiest))
    return None if found is None else found.seen


def test_one_rater_alone_is_found_after_some_forty_scores() -> None:
    assert found_in({"ana": 35}) is None
    assert found_in({"ana": 45}) == (
        "Rater “ana” gave 45 of the 45 scores that say who gave them (100%)."
    )
    assert found_in({"bo": 3, "ana": 300}) == (
        "Rater “ana” gave 300 of the 303 scores that say who gave them (99%)."
    )


def test_control_where_raters_share_the_work_nobody_is_found() -> None:
    assert found_in({"ana": 500, "bo": 125}) is None  # four of five, and no more
    assert found_in({"ana": 30_000, "bo": 20_000, "cy": 10_000}) is None


def test_no_order_of_raters_beats_the_level() -> None:
    """Against an adversary who chooses, score by score, who comes next, up to SHARE of the time."""
    value = np.zeros(302)
    for total in range(300, -1, -1):
        wealth = [rater_wealth(own, total) for own in range(total + 1)]
        # The first rater's part of the level is half of it.
        reached = np.log(np.maximum(wealth, 1e-300)) >= -math.log(HIGH) + math.log(2)
        following = np.maximum(value[:-1], SHARE * value[1:] + (1 - SHARE) * value[:-1])
        value[: total + 1] = np.where(reached, 1.0, following[: total + 1])
        value[total + 1 :] = 0.0
    assert HIGH / 20 < value[0] <= HIGH / 2


# Committees.


def sound_committees(seed: int, *, late: bool) -> list[SeenRound]:
    """Committees that some of those chosen join, and that some leave.

    Slots are lost now and then, and whoever had one may have chosen somebody who joins, too. If
    `late`, those who join do so after any number of rounds, else before the next.
    """
    random = np.random.default_rng((11, seed))
    arms = int(random.integers(2, 9))
    joining, leaving = random.uniform(0.0, 1.0), random.uniform(0.0, 0.3)
    members = random.integers(0, 60, arms)
    waiting = np.zeros(arms, dtype=np.int64)
    committees = []
    for number in range(int(random.integers(2, 40))):
        left = tuple(range(max(2, arms - number // 4)))
        playing = random.random(arms) < 0.8  # the others have enough members
        answers = np.where(playing, random.integers(1, 40), 0)
        lost = random.binomial(answers, 0.1)
        told = (answers.tolist(), (0.0,) * arms, lost.tolist())
        seated = members.tolist()
        committees.append(SeenRound(number, tuple(range(arms)), *told, judges=seated, left=left))
        waiting += random.binomial(answers + lost, joining)
        joined = random.binomial(waiting, 0.3) if late else waiting
        waiting = waiting - joined
        members = members + joined - random.binomial(members, leaving)
    return committees


def misfit(committees: list[SeenRound]) -> Words | None:
    return find_misfit(Facts("abcdefgh"[: len(committees[0].arms)], committees))


@pytest.mark.slow
def test_sound_committees_give_no_finding() -> None:
    for seed in range(1000):
        assert misfit(sound_committees(seed, late=False)) is None


def test_whoever_joins_late_gives_a_note_at_most() -> None:
    found = [misfit(sound_committees(seed, late=True)) for seed in range(50)]
    assert {one.severity for one in found if one is not None} == {"note"}


@settings(max_examples=50)
@given(seed=st.integers(0, 999), beyond=st.integers(1, 9), data=st.data())
def test_one_member_too_many_is_found(seed: int, beyond: int, data: st.DataObject) -> None:
    committees = sound_committees(seed, late=False)
    place = data.draw(st.integers(1, len(committees) - 1))
    arm = data.draw(st.sampled_from(sorted(committees[place].left)))
    before, after = committees[place - 1], committees[place]
    most = before.judges[arm] + before.answers[arm] + before.lapsed[arm]
    ever = committees[0].judges[arm]
    ever += sum(one.answers[arm] + one.lapsed[arm] for one in committees[:place])
    judges = list(after.judges)
    judges[arm] = most + beyond
    wrong = [*committees[:place], replace(after, judges=judges)]
    found = misfit(wrong)
    assert found is not None
    assert found.arms == (arm,)
    warned = most + beyond > ever
    fits = ever if warned else most
    assert found.severity == ("warning" if warned else "note")
    assert f"before round {place + 1} has" in found.seen
    assert found.seen.endswith(f"has {most + beyond:,}, where at most {fits:,} fit.")
    # Who was chosen before the first committee is not known then: a note, and no more.
    seen = misfit([replace(one, number=one.number + 7) for one in wrong])
    assert seen is not None
    assert seen.severity == "note"
    assert "grown by more than were chosen in the round before" in seen.seen
