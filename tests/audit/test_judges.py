"""The permutation test of judges' groups, and the regression beside it."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.audit import judges
from affinity_bandits.audit.judges import follows_rota, permute_judges, remove_effects
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw


def test_residuals_have_no_effect_of_candidate_or_judge() -> None:
    log = draw(100)
    left = remove_effects(log, log.score)
    assert np.bincount(log.performance, left) == pytest.approx(0.0, abs=1e-6)
    assert np.bincount(log.judge, left) == pytest.approx(0.0, abs=1e-6)
    exact = permute_judges(draw(100, favor=0.6, error=0.0))
    assert exact.favor == pytest.approx(0.03, abs=1e-6)


@pytest.mark.slow
def test_the_level_holds_for_judges_with_lasting_tastes() -> None:
    """P(p <= 0.05) <= 0.05: of 80 logs, more than 11 have probability 0.001.

    The interval misses 0 in at most 5% as well.
    """
    rejected = missed = 0
    for seed in range(80):
        taste = np.random.default_rng([seed, 1]).normal(0.0, 2.0, (12, 3))
        log = draw(80, seed=seed, effect=lambda g, j, o, s, t=taste: t[j, "ABC".index(g)])
        test = permute_judges(log, permutations=99)
        rejected += test.p_value <= 0.05
        missed += not test.interval[0] <= 0.0 <= test.interval[1]
    assert rejected <= 11
    assert missed <= 11


def test_a_favor_is_found_and_lies_in_the_interval() -> None:
    test = permute_judges(draw(favor=1.0))
    assert test.p_value <= 0.01
    assert 0.0 < test.interval[0] <= 0.05 <= test.interval[1] < 0.1
    assert test.interval[0] < test.favor < test.interval[1]
    assert len(test.without) == test.judges == 12


def test_too_few_judges_or_no_contrast_gives_no_p_value() -> None:
    assert permute_judges(draw(judges=5)).p_value == 1.0
    log = draw(60)
    alone = log.keep(log.own)
    assert np.isnan(permute_judges(alone).favor)


@pytest.mark.parametrize(("sessions", "looked"), [(9, False), (10, True), (11, True)])
def test_drift_is_looked_for_from_ten_sessions_on(
    sessions: int, looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Group A's judges get stricter by half a point per session.

    The statistic of a straight line is 0.745 sqrt(sessions): above 2, and below the usual 2.8.
    """
    monkeypatch.setattr(judges, "DRIFT", 2.0)
    log = draw(
        12 * sessions,
        error=0.1,
        effect=lambda group, judge, own_group, session: -0.5 * session * (own_group == "A"),
    )
    assert (permute_judges(log, permutations=19).drifting is not None) == looked


def test_judges_sent_to_their_own_group_are_noticed() -> None:
    """World 1 seats by lot: at level 0.01, more than 4 of 40 logs have probability 0.0001."""
    by_lot, sent = WORLDS[0], WORLDS[4]
    assert sum(not follows_rota(draw_log(by_lot, number)) for number in range(40)) <= 4
    assert not any(follows_rota(draw_log(sent, number)) for number in range(5))
