"""Judges who use more of the scale than others: it looks like favor, and is not called "shown"."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits.audit import audit_scores
from affinity_bandits.audit.differences import find_differences
from affinity_bandits.audit.evidence import RATIO, THRESHOLD, log_evidence
from affinity_bandits.audit.judges import permute_judges
from affinity_bandits.audit.log import ScoreLog
from affinity_bandits.audit.scale_use import (
    divide_scores,
    group_products,
    judge_stretches,
    rank_groups,
    slopes_are_known,
)
from affinity_bandits.audit.sentences import tell
from affinity_bandits.kernels.kernel import FloatArray
from research.audit_worlds import BETTER, PANELS, WORLDS, World, draw_log

LEVEL_WORLDS = range(46, 63)


def even(log: ScoreLog) -> ScoreLog:
    return divide_scores(log, judge_stretches(log)[log.judge])


def stretch(log: ScoreLog, strictness: FloatArray, slopes: FloatArray) -> ScoreLog:
    return replace(log, score=strictness[log.judge] + slopes[log.judge] * log.score)


@pytest.mark.parametrize("number", [46, 50])
def test_a_stretch_follows_its_judge_and_uses_no_label(number: int) -> None:
    """The theorem needs both: c(s + b Y) = k b c(Y), and no judge's group."""
    log = draw_log(WORLDS[number - 1], 0)
    generator = np.random.default_rng(3)
    judges = len(log.judges)
    strictness, slopes = generator.normal(0.0, 0.2, judges), generator.uniform(0.7, 1.4, judges)
    found = judge_stretches(log)
    assert 0.3 < found.min() < found.max() < 3.0  # nothing is cut off
    stretched = judge_stretches(stretch(log, strictness, slopes))
    expected = found * slopes
    expected /= np.exp(np.log(expected).mean())
    assert stretched == pytest.approx(expected, rel=1e-9)
    favored = replace(log, score=log.score + 0.1 * log.own)
    assert judge_stretches(favored) == pytest.approx(found, rel=1e-9)
    labels = generator.permutation(len(log.groups)).astype(np.int32)
    assert (judge_stretches(replace(log, judge_group=labels[log.judge_group])) == found).all()


def test_the_evened_p_value_is_the_same_for_all_strictness_and_slopes() -> None:
    log = draw_log(WORLDS[45], 1)
    generator = np.random.default_rng(4)
    judges = len(log.judges)
    other = stretch(log, generator.normal(0.0, 0.2, judges), generator.uniform(0.7, 1.4, judges))
    assert permute_judges(even(other)).p_value == permute_judges(even(log)).p_value


@pytest.mark.slow
def test_the_evened_permutation_keeps_its_level_under_the_theorem() -> None:
    """P(p <= 0.04) <= 0.04: of 150 logs, more than 14 have probability 0.001.

    Slopes of 1.7 tied to the group and of single judges, tastes, stretched errors, and hardly
    rounded scores. The control, without evening, rejects in many more.
    """
    world = replace(
        WORLDS[45], slopes=(1.7, 1, 1, 1), slope_spread=0.2, stretched=True, group_taste=0.4,
        lowest=-20.0, highest=31.0, rows=640,
    )  # fmt: skip
    rejected = plain = 0
    for number in range(150):
        log = draw_log(world, number)
        plain += permute_judges(log, permutations=99).p_value <= 0.04
        rejected += permute_judges(even(log), permutations=99).p_value <= 0.04
    assert rejected <= 14
    assert plain > 14


@pytest.mark.slow
def test_uneven_use_of_the_scale_is_not_called_shown() -> None:
    """At most 5%: of 150 logs of all these worlds, more than 16 have probability 0.002.

    Nor may a single world hide among the others: of its 9 logs, more than 3 have probability
    0.0006, for 17 worlds together 0.01. If half of a world's logs were "shown", 4 or more of 9
    would have probability 0.75; for .94, as before the scores were evened, 1 - 5e-6.
    """
    shown, missed, number = Counter[int](), Counter[int](), 0
    for place in range(150):
        world = LEVEL_WORLDS[place % len(LEVEL_WORLDS)]
        audit = audit_scores(draw_log(WORLDS[world - 1], 500 + place), draws=2)
        shown[world] += audit.word == "shown"
        if audit.favor is not None:
            number += 1
            missed[world] += not audit.favor.low <= 0.0 <= audit.favor.high
    assert number > 140
    for found in (shown, missed):
        assert found.total() <= 16
        assert max(found.values()) <= 3


def test_one_judge_of_each_group_does_not_tell_slopes_apart() -> None:
    """The bets reach 20 to 1 in such a log; the audit says that slopes are unknown."""
    log = draw_log(WORLDS[62], 0)
    assert log_evidence(find_differences(log), ratio=RATIO) >= THRESHOLD
    audit = audit_scores(log, draws=2)
    assert (audit.word, audit.missing) == ("indicated", ("scale use",))
    assert audit.scale_use is not None
    assert np.isnan(audit.scale_use.ratio)
    assert audit.scale_use.tipping is not None
    assert 1.0 < audit.scale_use.tipping < 2.0
    assert audit.favor is not None
    assert audit.favor.low <= 0.0  # it allows for 1.5 times as much
    assert "never saw the same candidate" in " ".join(tell(audit).reasons)


@pytest.mark.slow
def test_one_judge_of_each_group_is_never_shown() -> None:
    for number in range(25):
        audit = audit_scores(draw_log(WORLDS[62], number), draws=2)
        assert audit.word != "shown"


def test_which_designs_tell_slopes_apart() -> None:
    for number, known in ((46, True), (48, True), (50, True), (63, False)):
        log = draw_log(WORLDS[number - 1], 0)
        assert slopes_are_known(log, group_products(log)[1].sum(axis=0)) == known


@pytest.mark.parametrize("slope", [1.0, 1.4])
def test_the_ratio_of_slopes_lies_in_its_interval(slope: float) -> None:
    """95% intervals of 15 logs: fewer than 11 that contain the ratio have probability 0.0006."""
    world = replace(WORLDS[49], slopes=(slope, 1.0), rows=1_500)
    inside = 0
    for number in range(15):
        use = audit_scores(draw_log(world, number), draws=2).scale_use
        assert use is not None
        assert (use.best, use.worst) == ("A", "B")
        inside += use.low <= slope <= use.high
    assert inside >= 11


def test_groups_are_ranked_without_lenience_and_favor() -> None:
    log = draw_log(World(1, "ranks", favor=0.5, group_quality=(0.0, 1.0, 0.4), rows=6_000), 0)
    lenient = replace(log, score=log.score + 0.2 * (log.judge_group == 0))
    for one in (log, lenient):
        assert rank_groups(one) == pytest.approx([0.0, 1.0, 0.4], abs=0.1)


@pytest.mark.slow
def test_a_favor_is_shown_with_the_ratio_that_would_explain_it() -> None:
    """A favor of .6 points on 1 to 10 although one group is better: at least 17 of 20 logs.

    Seen: 38 of 40. With a power of 0.95, fewer than 17 have probability 0.016.
    """
    world = World(124, "favor", favor=0.6, group_quality=BETTER, **PANELS)
    shown = 0
    for number in range(20):
        audit = audit_scores(draw_log(world, number), draws=2)
        if audit.word != "shown":
            continue
        shown += 1
        assert audit.scale_use is not None
        assert audit.scale_use.tipping is not None
        assert audit.scale_use.tipping > audit.scale_use.ratio
        assert "would have to use" in " ".join(tell(audit).reasons)
    assert shown >= 17


def test_no_ratio_explains_a_favor_among_equally_good_candidates() -> None:
    """Slopes cancel if all groups are equally good; turned scores give the opposite."""
    audit = audit_scores(draw_log(World(1, "favor", favor=0.8, groups=2), 0), draws=2)
    assert audit.word == "shown"
    use = audit.scale_use
    assert use is not None
    assert use.tipping == np.inf
    assert "more than 4 times" in " ".join(tell(audit).reasons)
    turned = use.turned
    assert (turned.best, turned.ratio, turned.tipping) == (use.worst, 1.0 / use.ratio, 0.0)
    less = replace(audit, word="shown less", scale_use=turned)
    assert "more than 4 times" in " ".join(tell(less).reasons)
