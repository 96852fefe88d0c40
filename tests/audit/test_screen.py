"""What `bench.audit` passes over without a search is never what a search would have shown."""

from __future__ import annotations

import pytest
from bench.audit_logs import HANDICAP, World, drawn
from bench.audit_screen import SCREENED, bound_of, may_be_shown

from affinity_bandits.audit import summary_of_log, verdicts
from affinity_bandits.bias import InGroupBonus, Power

TWO, FIVE = (0.4, 0.6), (0.35, 0.6, 0.4, 0.55, 0.45)
WORLDS = {
    "no bias": World("ucb1", TWO, (100, 10), 500, 1),
    "no bias, stars": World("round-robin", FIVE, (100, 10, 10, 10, 10), 500, 4),
    "all drift": World("softmax", TWO, (20, 20), 1_000, 4, drift="rise"),
    "a little": World("thompson", FIVE, (10, 10, 10, 10, 10), 1_000, 4, bias=InGroupBonus(0.2)),
    "much": World("ucb1", TWO, (20, 20), 1_000, 4, bias=Power(1.0)),
    "coins": World("round-robin", TWO, (100, 10), 1_000, 1, bias=Power(1.0)),
    "handicap": World(HANDICAP, TWO, (100, 10), 500, 4, bias=InGroupBonus(0.5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_bound_is_not_below_the_evidence_and_not_far_above(name: str) -> None:
    for run in range(4):
        summary = summary_of_log(drawn(WORLDS[name], run))
        for verdict in verdicts(summary, steady=False):
            if verdict.assumption in SCREENED:
                bound = bound_of(summary, verdict.assumption)
                assert verdict.log_e <= bound
                # Far above, and nothing would be passed over; a level that does not fit is.
                assert bound <= verdict.log_e + 4.0 + 0.5 * abs(verdict.log_e)
                assert may_be_shown(summary, verdict.assumption) or not verdict.shown


def test_logs_without_a_bias_are_passed_over_and_those_with_much_are_not() -> None:
    def looked_at(name: str) -> list[bool]:
        logs = (drawn(WORLDS[name], run) for run in range(4))
        return [may_be_shown(summary_of_log(log), "nothing") for log in logs]

    assert not any(looked_at("no bias") + looked_at("no bias, stars"))
    assert all(looked_at("much"))
