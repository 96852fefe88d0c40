"""What a log shows: where there is a bias, and not where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.audit_logs import World, drawn

from affinity_bandits.audit import (
    Verdict,
    decision_log,
    panels_at_random,
    panels_on_record,
    verdict,
    verdicts,
)
from affinity_bandits.audit.verdict import WEIGHTS
from affinity_bandits.bias import InGroupBonus, Power
from affinity_bandits.errors import InvalidInput

TWO = (0.4, 0.6)


def by_name(world: World, seed: int, *, steady: bool = False) -> dict[str, Verdict]:
    return {one.assumption: one for one in verdicts(drawn(world, seed), steady=steady)}


def test_weights_add_up_to_one() -> None:
    for weights in WEIGHTS.values():
        assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.slow
def test_a_bias_is_shown() -> None:
    # In trial runs every one of hundreds of such logs showed it, the least with e = 40.
    found = by_name(World("round-robin", TWO, (100, 10), 2_000, bias=Power(1.0)), 7)
    assert found["nothing"].shown
    assert found["alike"].shown
    assert found["alike"].log_e == found["nothing"].tests["pairs"]


@pytest.mark.slow
def test_a_drift_of_all_alike_is_not_taken_for_a_bias() -> None:
    # Evidence is at least 20 with probability at most 1/20; these are far below it.
    world = World("ucb1", TWO, (20, 20), 2_000, drift="rise")
    found = [by_name(world, seed)["alike"].log_e for seed in range(5)]
    assert max(found) < math.log(20)


@pytest.mark.slow
def test_panels_drawn_at_random_show_what_a_committee_cannot() -> None:
    world = World("softmax", TWO, (20, 20), 2_000, bias=InGroupBonus(0.5), seats=5)
    found = by_name(world, 3)
    assert set(found) == {"nothing", "alike", "slow", "random"}
    assert found["random"].shown
    assert not found["alike"].shown


@pytest.mark.slow
def test_one_group_that_drifts_does_not_fool_random_panels() -> None:
    # At most 1 in 20 logs reaches 20 at any time, so that 7 or more of 40 have a probability of
    # at most 0.004; the naive regression is fooled in more than half.
    world = World("softmax", TWO, (20, 20), 2_000, drift="rise", alone=True, seats=5)
    shown = sum(panels_at_random(drawn(world, seed)).peak >= math.log(20) for seed in range(40))
    assert shown <= 6


def test_what_is_more_than_the_peak_was_never_there() -> None:
    world = World("softmax", TWO, (20, 20), 500, bias=InGroupBonus(0.5), seats=5)
    path = panels_at_random(drawn(world, 1))
    assert path.peak >= max(path.last, 0.0)


def test_a_drift_that_is_allowed_for_costs_evidence() -> None:
    log = drawn(World("softmax", TWO, (20, 20), 500, bias=InGroupBonus(0.5), seats=5), 1)
    found = [panels_on_record(log, drift) for drift in (0.0, 0.25, 1.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_tests_of_panels_ask_for_panels() -> None:
    log = decision_log([0, 1], [0, 1], initial={0: 1, 1: 1})
    for test in (panels_at_random, panels_on_record):
        with pytest.raises(InvalidInput, match="panel must be given"):
            test(log)


def test_a_log_of_one_row_shows_nothing() -> None:
    for score in (0.0, 1.0):
        log = decision_log([0], [score], initial={0: 5, 1: 0}, panel=[1.0])
        assert all(not one.shown for one in verdicts(log))


def test_groups_that_were_never_scored_do_not_matter() -> None:
    log = drawn(World("round-robin", TWO, (10, 10), 60), 1)
    more = decision_log(log.group, log.score, initial={0: 10, 1: 10, 2: 0})
    assert np.isfinite([one.log_e for one in verdicts(more)]).all()


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        # Logarithms of odds, odds_with_drift and pairs; whether each of the three is shown.
        ((9.0, 9.0, 9.0), (True, True, True)),
        ((9.0, 9.0, -9.0), (True, True, False)),
        ((9.0, -9.0, 3.2), (True, False, False)),  # 20 or more, but what is narrower is not
        ((-9.0, -9.0, 3.5), (False, False, False)),
    ],
)
def test_a_wider_assumption_waits_for_the_narrower_ones(
    found: tuple[float, float, float],
    shown: tuple[bool, bool, bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a log without a bias would have three chances of a false alarm, not one."""
    names = ("odds", "odds_with_drift", "pairs")
    for name, log_e in zip(names, found, strict=True):
        monkeypatch.setattr(verdict, name, lambda _, log_e=log_e: log_e)
    monkeypatch.setattr(verdict, "likelihood_ratios", lambda _: -99.0)
    made = verdict.verdicts(drawn(World("round-robin", (0.4, 0.6), (5, 5), 40), 0))
    assert tuple(one.shown for one in made) == shown
    assert any(one.log_e >= math.log(20.0) for one in made[2:]) or found[2] < 0.0
