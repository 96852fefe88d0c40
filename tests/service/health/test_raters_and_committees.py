"""One rater who gives nearly all scores, and committees that do not fit the joins told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.health import raters
from affinity_bandits.service.health.committee import Misfit, find_misfits
from affinity_bandits.service.health.raters import SHARE, OneRater, find_one_rater
from affinity_bandits.service.health.words import committee_words, rater_words

HIGH = 0.2


def test_one_rater_alone_is_found_after_some_forty_scores() -> None:
    assert find_one_rater({"ana": 30}) is None
    assert find_one_rater({"ana": 50}) == OneRater("ana", 50, 50)
    assert find_one_rater({"bo": 3, "ana": 300}) == OneRater("ana", 300, 303)
    assert find_one_rater({}) is None


def test_control_where_raters_share_the_work_nobody_is_found() -> None:
    assert find_one_rater({"ana": 500, "bo": 125}) is None  # four of five, and no more
    assert find_one_rater({"ana": 30_000, "bo": 20_000, "cy": 10_000}) is None


def test_no_order_of_raters_beats_the_level() -> None:
    """Against an adversary who chooses, score by score, who comes next, up to SHARE of the time."""
    value = np.zeros(302)
    for total in range(300, -1, -1):
        wealth = [
            sum(raters._wealth(one, own, total) for one in raters.NEARLY_ALL) / 5
            for own in range(total + 1)
        ]
        # The first rater's part of the level is half of it.
        reached = np.log(np.maximum(wealth, 1e-300)) >= -math.log(HIGH) + math.log(2)
        following = np.maximum(value[:-1], SHARE * value[1:] + (1 - SHARE) * value[:-1])
        value[: total + 1] = np.where(reached, 1.0, following[: total + 1])
        value[total + 1 :] = 0.0
    assert HIGH / 20 < value[0] <= HIGH / 2


@pytest.mark.slow
def test_sound_campaigns_give_no_finding() -> None:
    found = 0
    for seed in range(1000):
        random = np.random.default_rng((9, seed))
        number = int(random.integers(2, 9))
        shares = np.append(SHARE, np.full(number - 1, (1 - SHARE) / (number - 1)))
        who = random.choice(number, 400, p=shares)
        counts: dict[str, int] = {}
        any_ = False
        for place, one in enumerate(who):
            counts[str(one)] = counts.get(str(one), 0) + 1
            any_ |= place % 20 == 19 and find_one_rater(counts) is not None
        found += any_
    # 0.001 each: more than 5 of 1,000 have a probability below 0.001.
    assert found <= 5


def test_counts_must_be_counts() -> None:
    with pytest.raises(InvalidInput, match="scores of ana must be a whole number"):
        find_one_rater({"ana": -1})
    with pytest.raises(InvalidInput, match="joins of a must be a whole number"):
        find_misfits({"a": 1}, {"a": 0.5}, {}, {"a": 1})  # type: ignore[dict-item]


GROUPS = st.sampled_from("abc")
COUNTS = st.dictionaries(GROUPS, st.integers(0, 50))


@given(before=COUNTS, joins=COUNTS, data=st.data())
def test_a_committee_that_follows_fits_and_any_change_of_it_does_not(
    before: dict[str, int], joins: dict[str, int], data: st.DataObject
) -> None:
    there = {one: before.get(one, 0) + joins.get(one, 0) for one in "abc"}
    leaves = {one: data.draw(st.integers(0, there[one])) for one in "abc"}
    after = {one: there[one] - leaves[one] for one in "abc"}
    assert find_misfits(before, joins, leaves, after) == ()
    which = data.draw(GROUPS)
    wrong = after[which] + data.draw(st.integers(1, 9))
    found = find_misfits(before, joins, leaves, after | {which: wrong})
    assert found == (Misfit(which, wrong, after[which]),)


def test_they_are_said_in_words() -> None:
    said = rater_words(OneRater("ana", 90, 100))
    assert said.seen == "Rater “ana” gave 90 of 100 scores (90%)."
    assert said.severity == "note"
    told = committee_words(find_misfits({"a": 3, "b": 2}, {"a": 1}, {}, {"a": 3, "b": 2}))
    assert told.severity == "warning"
    assert told.seen.endswith("“a” has 3, not 4.")
