"""Double differences: what they measure, and that no score decides who is compared."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numba
import numpy as np
import pytest

from affinity_bandits.audit import differences
from affinity_bandits.audit.differences import find_differences, total_information
from affinity_bandits.audit.evidence import THRESHOLD, log_evidence
from affinity_bandits.audit.log import average_groups
from research.audit_worlds import WORLDS, draw_log
from tests.audit.logs import draw


@pytest.mark.parametrize("favor", [0.0, 0.7])
@pytest.mark.parametrize("groups", ["AB", "ABC", "ABCDE"])
@pytest.mark.parametrize("per", [2, 5])
def test_without_errors_a_difference_is_favor_times_information(
    favor: float, groups: str, per: int
) -> None:
    """Quality and each judge's strictness cancel exactly, so E[T] = favor S."""
    log = draw(120, groups=groups, per=per, judges=10, favor=favor, error=0.0)
    found = find_differences(log)
    assert total_information(found) > 5.0
    for one in found:
        assert one.t == pytest.approx(favor / 20.0 * one.information, abs=1e-12)
        assert (np.abs(one.t) <= one.bound).all()


def test_means_of_groups_cancel_the_strictness_of_groups() -> None:
    def lenient(group: str, judge: int, judge_group: str, session: int) -> float:
        return {"A": 1.5, "B": 0.0, "C": -0.5}[judge_group]

    log = draw(120, per=5, favor=0.5, error=0.0, effect=lenient)
    group = np.array([0.075, 0.0, -0.025])[log.judge_group] + 0.025 * log.own
    log = replace(log, score=0.5 + group)  # judges of one group do not differ
    for one in find_differences(average_groups(log)):
        assert one.t == pytest.approx(0.025 * one.information, abs=1e-12)


def test_the_favor_of_one_group_is_measured_alone() -> None:
    def favor(group: str, judge: int, judge_group: str, session: int) -> float:
        return 0.8 if group == judge_group == "A" else 0.0

    log = draw(120, per=4, error=0.0, effect=favor)
    for group, points in enumerate((0.8, 0.0, 0.0)):
        for one in find_differences(log, only=group):
            assert one.t == pytest.approx(points / 20.0 * one.information, abs=1e-12)
    with_two = draw(120, groups="AB", per=4)
    assert total_information(find_differences(with_two, only=0)) == 0.0


def test_information_is_the_variance_of_a_difference() -> None:
    """Var T = v S: for 4,000 differences the ratio is within 4 sqrt(2 / 4,000) = 0.09 of 1."""
    log = draw(1_500, per=4)
    squares, number = 0.0, 0
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0.0, 1.0, len(log))
        for one in find_differences(replace(log, score=noise), orders=1):
            squares += float((one.t**2 / one.information).sum())
            number += len(one)
    assert number >= 4_000
    assert squares / number == pytest.approx(1.0, abs=0.09)


@pytest.mark.parametrize("per", [2, 4])
def test_who_is_compared_does_not_depend_on_scores(per: int) -> None:
    log = draw(200, per=per)
    other = replace(log, score=np.random.default_rng(5).random(len(log)))
    for source, changed in ((log, other), (average_groups(log), average_groups(other))):
        for one, two in zip(find_differences(source), find_differences(changed), strict=True):
            for name in ("information", "bound", "kind", "session", "lag"):
                assert (getattr(one, name) == getattr(two, name)).all(), name


def test_sessions_have_no_order_of_their_own() -> None:
    assert len(find_differences(draw(60, day=6))) == differences.ORDERS
    assert len(find_differences(draw(60, day=1))) == 1  # sessions give the order


def test_a_long_queue_of_one_kind_is_cut_at_its_end() -> None:
    """Candidates of A come first: only the first few wait for those of B."""
    log = draw(200, groups="AB", judges=2, per=2, day=1)
    late = log.keep((log.group == 0) | (log.session > 150))
    number = sum(len(one) for one in find_differences(late))
    assert 0 < number <= differences.ALIKE + int((late.group == 1).sum()) // 2


@pytest.mark.slow
def test_a_rule_that_looks_at_scores_cannot_choose_the_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """World 38: the rule leaves a group when its own judge was above the other.

    At most 5% of logs are expected to reach 20 to 1; of 40, more than 7 have probability 0.001.
    The planted error compares with the candidate who has waited for the shortest time.
    """
    world = WORLDS[37]
    assert world.number == 38
    logs = [draw_log(world, number) for number in range(40)]
    fair = [log_evidence(find_differences(log)) >= THRESHOLD for log in logs]
    source = inspect.getsource(differences.match_performances)
    rule = "value > best_value * (1.0 + 1e-12)"
    assert rule in source
    names = vars(differences).copy()
    exec(source.replace(rule, "value >= best_value"), names)
    latest_first = numba.njit(names["match_performances"])
    monkeypatch.setattr(differences, "_compiled_matching", lambda: latest_first)
    monkeypatch.setattr(differences, "ALIKE", 10**6)
    unfair = [log_evidence(find_differences(log)) >= THRESHOLD for log in logs]
    assert sum(fair) <= 7
    assert sum(unfair) > 14
