""" "Not seen" says which favor would have been seen, and no interval is as wide as the scale."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits.audit import Audit, ScoreLog, audit_scores
from affinity_bandits.audit.conclude import Estimate
from affinity_bandits.audit.judges import permute_judges
from affinity_bandits.audit.log import UNKNOWN
from affinity_bandits.audit.sentences import tell
from affinity_bandits.base.errors import InvalidInput
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw


def test_not_seen_carries_the_size_that_would_have_been_seen() -> None:
    audit = audit_scores(draw(200))
    assert audit.word == "not seen"
    assert audit.matters == 2.0  # a tenth of 0 to 20
    assert audit.favor is not None
    enough = min(size for size, chance in audit.power if chance >= 0.8)
    assert audit.seen_from == max(enough, audit.favor.high)
    assert 0.5 < enough <= 1.0
    heading = "This file does not show it: a favor of 1.00 points would have been seen, "
    assert tell(replace(audit, power=((0.5, 0.4), (1.0, 0.9)))).heading.startswith(heading)


@pytest.mark.slow
def test_the_size_is_seen_as_often_as_it_says() -> None:
    """Planted favors of the size: 8 of 10 logs, so at most 16 of 30 with probability 9e-4."""
    seen = audit_scores(draw(200)).seen_from
    assert seen is not None
    words = [audit_scores(draw(200, favor=seen, seed=seed), draws=1).word for seed in range(30)]
    assert words.count("shown") + words.count("indicated") >= 17


def test_a_log_that_would_not_have_shown_what_matters_cannot_tell() -> None:
    log = draw(200)
    audit = audit_scores(log, matters=0.5)
    assert (audit.word, audit.missing) == ("cannot tell", ("too little",))
    assert "A favor of 0.50 points would matter; this file would have shown only one of" in (
        tell(audit).sentence
    )
    assert all(group.favor is None for group in audit.groups)
    assert audit_scores(log, matters=1.5).word == "not seen"


def test_what_matters_is_not_excluded_by_power_alone() -> None:
    """The estimate is 0.9 here: an interval that reaches 1.4 does not exclude a favor of 1."""
    likely = Estimate(0.9, -0.1, 1.4)
    audit = replace(audit_scores(draw(200)), favor=likely, power=((0.5, 0.9), (1.0, 1.0)))
    assert audit.seen_from == 1.4


@pytest.mark.parametrize("matters", [0.0, -1.0, 20.1, float("nan")])
def test_what_matters_is_a_part_of_the_scale(matters: float) -> None:
    with pytest.raises(InvalidInput, match="matters must be"):
        audit_scores(draw(20), matters=matters)


def intervals(audit: Audit) -> list[str]:
    story = tell(audit)
    text = " ".join([story.heading, story.sentence, *story.reasons, *story.power])
    return re.findall(r"95% interval", text)


def test_no_interval_is_as_wide_as_the_scale() -> None:
    few = audit_scores(draw(20, judges=5))
    assert few.favor is not None
    assert few.favor.high - few.favor.low >= 20.0
    assert intervals(few) == []
    assert len(intervals(audit_scores(draw(200)))) == 1
    wide = replace(audit_scores(draw(600, favor=1.0)), favor=Estimate(1.0, -10.0, 10.0))
    for word in ("shown", "indicated", "cannot tell"):
        audit = replace(wide, word=word, missing=("too little",))  # type: ignore[arg-type]
        assert intervals(audit) == []
    assert len(intervals(replace(wide, favor=Estimate(1.0, 0.1, 10.0)))) == 1


def test_where_bets_exclude_nothing_the_permutation_gives_the_interval() -> None:
    """20 candidates: the bets leave every favor possible, the permutation of 12 judges does not."""
    log = draw(20)
    small = audit_scores(log)
    assert small.favor is not None
    assert small.favor.one_look
    assert small.favor.low <= permute_judges(log).interval[0] * 20.0 < 0.0
    assert 0.0 < permute_judges(log).interval[1] * 20.0 <= small.favor.high < 5.0
    found = audit_scores(draw(200)).favor
    assert found is not None
    assert not found.one_look
    assert "one look" in tell(replace(small, word="indicated", missing=("evidence",))).sentence
    # Its assumption stands beside it in every verdict, "cannot tell" among them.
    assert small.word == "cannot tell"
    condition = "one look at the file, if judges' tastes have nothing to do with their group"
    assert condition in tell(small).sentence
    assert condition not in tell(audit_scores(draw(200), matters=0.5)).sentence


def without_names(log: ScoreLog) -> ScoreLog:
    order = np.lexsort((log.score, log.judge_group, log.performance))
    return replace(log.take(order), judge=np.full(len(log), UNKNOWN, np.int32), judges=())


def with_one_judge_of_each_group(favor: float) -> ScoreLog:
    world = WORLDS[62]
    assert world.seats == (1, 1)
    return draw_log(replace(world, slopes=(), group_quality=(), favor=favor), 0)


@pytest.mark.parametrize(
    ("log", "verb"),
    [
        (draw(600, favor=3.0), "shown"),
        (without_names(draw(600, favor=3.0)), "indicated"),
        (draw(600, favor=3.0, judges=4, groups="AB"), "indicated"),
        (with_one_judge_of_each_group(2.0), "indicated"),
        (draw_log(replace(WORLDS[4], favor=1.0, judges=12), 0), "indicated"),
    ],
)
def test_power_promises_no_word_that_the_design_cannot_reach(log: ScoreLog, verb: str) -> None:
    """No names, four judges, unknown slopes, no rota: the largest favor is "indicated" at most."""
    audit = audit_scores(log, draws=5)
    assert audit.word == verb
    assert max(chance for _, chance in audit.power) >= 0.8
    told = tell(audit).power
    assert all(f"would have {verb} it" in one for one in told if one.startswith("If judges gave"))
    last = "Whatever its size, no favor could have been shown: at most indicated."
    fewer = "Fewer would have, if one group's candidates are much better than another's."
    assert told[-1] == {"shown": fewer, "indicated": last}[verb]


def test_words_that_promise_no_favor_need_an_interval() -> None:
    """Without an interval nothing is excluded: `favor` is None where groups' scores are uneven."""
    for seed in range(6):
        audit = audit_scores(draw(200, seed=seed), draws=10)
        assert audit.word != "not seen" or audit.favor is not None
    assert "excluded" in tell(
        replace(audit, word="cannot tell", missing=("no size",), favor=None)
    ).sentence  # fmt: skip
