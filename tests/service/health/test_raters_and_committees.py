"""One rater who gives nearly all scores, and committees that do not fit who was chosen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.health import checks
from affinity_bandits.service.health.checks import (
    SHARE,
    Grown,
    Misfit,
    OneRater,
    RoundCommittee,
    find_misfit,
    gives_nearly_all,
)
from affinity_bandits.service.health.words import committee_words, rater_words

HIGH = 0.2


def found_in(scores: dict[str, int]) -> OneRater | None:
    """What is found in how many each rater gave, in the order in which they gave their first."""
    if not scores:
        return None
    rater = max(scores, key=scores.__getitem__)
    place = 1 + list(scores).index(rater)
    one = OneRater(rater, scores[rater], sum(scores.values()), place)
    return one if gives_nearly_all(one) else None


def test_one_rater_alone_is_found_after_some_forty_scores() -> None:
    assert found_in({"ana": 35}) is None
    assert found_in({"ana": 45}) == OneRater("ana", 45, 45, 1)
    assert found_in({"bo": 3, "ana": 300}) == OneRater("ana", 300, 303, 2)


def test_control_where_raters_share_the_work_nobody_is_found() -> None:
    assert found_in({"ana": 500, "bo": 125}) is None  # four of five, and no more
    assert found_in({"ana": 30_000, "bo": 20_000, "cy": 10_000}) is None


def test_no_order_of_raters_beats_the_level() -> None:
    """Against an adversary who chooses, score by score, who comes next, up to SHARE of the time."""
    value = np.zeros(302)
    for total in range(300, -1, -1):
        wealth = [
            sum(checks._wealth(one, own, total) for one in checks.NEARLY_ALL) / 5
            for own in range(total + 1)
        ]
        # The first rater's part of the level is half of it.
        reached = np.log(np.maximum(wealth, 1e-300)) >= -math.log(HIGH) + math.log(2)
        following = np.maximum(value[:-1], SHARE * value[1:] + (1 - SHARE) * value[:-1])
        value[: total + 1] = np.where(reached, 1.0, following[: total + 1])
        value[total + 1 :] = 0.0
    assert HIGH / 20 < value[0] <= HIGH / 2


def test_counts_must_be_counts() -> None:
    with pytest.raises(InvalidInput, match="scores must be a whole number"):
        gives_nearly_all(OneRater("ana", -1, 3, 1))
    with pytest.raises(InvalidInput, match="total must be a whole number"):
        gives_nearly_all(OneRater("ana", 4, 3, 1))


# Committees.


def sound_committees(seed: int, *, late: bool) -> list[RoundCommittee]:
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
        committees.append(RoundCommittee(number, members.tolist(), (answers + lost).tolist(), left))
        waiting += random.binomial(answers + lost, joining)
        joined = random.binomial(waiting, 0.3) if late else waiting
        waiting = waiting - joined
        members = members + joined - random.binomial(members, leaving)
    return committees


@pytest.mark.slow
def test_sound_committees_give_no_finding() -> None:
    for seed in range(1000):
        assert find_misfit(sound_committees(seed, late=False)) is None


def test_whoever_joins_late_gives_a_note_at_most() -> None:
    found = [find_misfit(sound_committees(seed, late=True)) for seed in range(50)]
    assert not any(one.ever for one in found if one is not None)
    assert any(one is not None for one in found)  # or nothing was tried


@settings(max_examples=50)
@given(seed=st.integers(0, 999), beyond=st.integers(1, 9), data=st.data())
def test_one_member_too_many_is_found(seed: int, beyond: int, data: st.DataObject) -> None:
    committees = sound_committees(seed, late=False)
    place = data.draw(st.integers(1, len(committees) - 1))
    arm = data.draw(st.sampled_from(sorted(committees[place].left)))
    before, after = committees[place - 1], committees[place]
    most = before.members[arm] + before.chosen[arm]
    to_come = sum(one.chosen[arm] for one in committees[:place])
    to_come += committees[0].members[arm]
    members = list(after.members)
    members[arm] = most + beyond
    wrong = [*committees[:place], replace(after, members=members)]
    found = find_misfit(wrong)
    assert found is not None
    assert (found.round, found.ever) == (place, most + beyond > to_come)
    assert [one.arm for one in found.groups] == [arm]
    # Who was chosen before the first committee is not known then: a note, and no more.
    later = [replace(one, round=one.round + 7) for one in wrong]
    seen = find_misfit(later)
    assert seen is not None
    assert not seen.ever


def test_they_are_said_in_words() -> None:
    said = rater_words(OneRater("ana", 90, 100, 1))
    assert said.seen == "Rater “ana” gave 90 of the 100 scores that say who gave them (90%)."
    assert said.severity == "note"
    names = ("a", "b")
    told = committee_words(Misfit(4, ever=True, groups=(Grown(1, 40, 30),)), names)
    assert (told.severity, told.arms) == ("warning", (1,))
    assert told.seen.startswith("The committee that was told before round 5 has more members than")
    assert told.seen.endswith(": “b” has 40, where at most 30 fit.")
    late = committee_words(Misfit(4, ever=False, groups=(Grown(1, 40, 30),)), names)
    assert late.severity == "note"
    assert "grown by more than were chosen in the round before" in late.seen
