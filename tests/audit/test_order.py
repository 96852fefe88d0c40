"""Scores that decide whose candidates are seen next: no verdict "shown", and no interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.audit import audit_scores
from affinity_bandits.audit.differences import find_differences
from affinity_bandits.audit.evidence import THRESHOLD, log_evidence
from affinity_bandits.audit.judges import follows_rota
from affinity_bandits.audit.log import score_log
from affinity_bandits.audit.order import scores_decided
from affinity_bandits.audit.sentences import tell
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw_columns

ADAPTIVE = range(71, 79)


@pytest.mark.slow
@pytest.mark.parametrize("number", ADAPTIVE)
def test_choices_by_scores_are_indicated_at_most_and_have_no_interval(number: int) -> None:
    """Before this rule, 10 to 80% of these logs were "shown"; the seeds are fixed."""
    for log_number in range(4):
        audit = audit_scores(draw_log(WORLDS[number - 1], log_number), draws=2)
        assert audit.word in ("indicated", "indicated less", "cannot tell")
        assert audit.favor is None
        if audit.word == "indicated":
            assert "choices" in audit.missing
            assert "scores may have decided who was seen" in tell(audit).sentence


def test_a_favor_without_a_rota_is_indicated_and_has_no_interval() -> None:
    """World 5 with a favor: lenient judges see their own. World 1 is the control, with a rota."""
    log = draw_log(replace(WORLDS[4], favor=1.0, judges=12), 0)
    assert not follows_rota(log)
    audit = audit_scores(log, draws=2)
    assert (audit.word, audit.missing, audit.favor) == ("indicated", ("choices",), None)
    even = audit_scores(draw_log(replace(WORLDS[0], favor=1.0), 0), draws=2)
    assert (even.word, even.missing) == ("shown", ())
    assert even.favor is not None
    for one in (audit, even):  # a rule that leaves no trace cannot be excluded
        assert any(text.startswith("Choices: ") for text in tell(one).explanations)


def test_the_bets_alone_would_be_deceived() -> None:
    """Negative control: one panel, three groups, and the bets reach 20 to 1 in each of 4 logs."""
    for number in range(4):
        log = draw_log(WORLDS[77], number)
        assert log_evidence(find_differences(log)) >= THRESHOLD
        assert follows_rota(log)
        assert scores_decided(log)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 6, 8, 22, 24, 34])
def test_honest_designs_leave_no_trace(number: int) -> None:
    """At most 1.5% of logs have a trace: of 15, more than 2 have probability 0.001."""
    world = replace(WORLDS[number - 1], favor=0.4)
    assert sum(scores_decided(draw_log(world, log_number)) for log_number in range(15)) <= 2


def test_a_favor_of_judges_who_sit_for_one_day_leaves_no_trace() -> None:
    """Their strictness is estimated from few scores; many of these are of own candidates.

    At most 1.5% of logs have a trace: of 20, more than 2 have probability 0.003. Unless the favor
    is taken out first, most of these logs have one.
    """
    found = 0
    for seed in range(20):
        columns = draw_columns(480, per=6, day=12, favor=2.0, seed=seed)
        days = zip(columns["judge"], columns["session"], strict=True)
        columns["judge"] = [f"{judge} on day {day}" for judge, day in days]
        found += scores_decided(score_log(scale=(0, 20), **columns))
    assert found <= 2


def test_two_groups_before_one_panel_may_be_chosen_by_scores() -> None:
    """There the bets have a proof; the same rule before changing panels leaves a trace."""
    assert not scores_decided(draw_log(WORLDS[37], 0))
    assert scores_decided(draw_log(WORLDS[36], 0))
