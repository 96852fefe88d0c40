"""Wrong assumptions, plans, and settings of the policies that plans are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from affinity_bandits import AffinityBandit, policy_from_json
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.policies import (
    CalibratedElimination,
    HandicapElimination,
    PaddedSchedule,
    PublishedSchedule,
)

from .table import HUGE, TOO_LONG, UNPRINTABLE, invalid, simulated, unknown


def assumed(**changes: Any) -> Assumptions:
    """Assumptions that would be right but for what is changed."""
    right = {"groups": 2, "horizon": 1000, "smallest_difference": 0.1}
    return Assumptions(**right | changes)


def described(**changes: Any) -> Assumptions:
    return Assumptions.from_json(assumed().to_json() | changes)


def calibrated(**changes: Any) -> Any:
    """A calibrated policy from data that would be right but for what is changed."""
    right = CalibratedElimination(PaddedSchedule(), assumptions=assumed()).to_json()
    return policy_from_json(right | changes)


def padded(schedule: Mapping[str, Any]) -> Any:
    return policy_from_json({"name": "elimination", "schedule": {"name": "padded", **schedule}})


ASSUMPTIONS = [
    invalid("assume-one-group", lambda: assumed(groups=1), "groups | from 2 | got 1"),
    invalid("assume-too-many-groups", lambda: assumed(groups=1001), "groups | 1,000 | 1001"),
    invalid("assume-half-a-group", lambda: assumed(groups=2.5), "groups | whole | 2.5"),
    invalid("assume-groups-text", lambda: assumed(groups="2"), "groups | '2'"),
    invalid("assume-groups-boolean", lambda: assumed(groups=True), "groups | True"),
    invalid("assume-no-horizon", lambda: assumed(horizon=0), "horizon | from 1 | got 0"),
    invalid("assume-too-long", lambda: assumed(horizon=TOO_LONG), "horizon"),
    invalid(
        "assume-fewer-choices-than-groups",
        lambda: assumed(groups=7, horizon=6),
        "horizon | at least the number of groups (7) | got 6",
    ),
    invalid("assume-horizon-infinite", lambda: assumed(horizon=math.inf), "horizon | inf"),
    invalid("assume-horizon-unprintable", lambda: assumed(horizon=UNPRINTABLE), "horizon"),
    invalid(
        "assume-no-difference",
        lambda: assumed(smallest_difference=0.0),
        "smallest_difference | (0, 1] | 0.0",
    ),
    invalid(
        "assume-difference-beyond-largest-mean",
        lambda: assumed(smallest_difference=0.3, largest_mean=0.2),
        "smallest_difference | (0, 0.2] | 0.3",
    ),
    invalid(
        "assume-difference-nan", lambda: assumed(smallest_difference=math.nan), "difference | nan"
    ),
    invalid("assume-head-start-negative", lambda: assumed(head_start=-1), "head_start | -1"),
    invalid("assume-head-start-huge", lambda: assumed(head_start=HUGE), "head_start"),
    invalid("assume-head-start-none", lambda: assumed(head_start=None), "head_start | None"),
    invalid("assume-steepness-negative", lambda: assumed(steepness=-1.0), "steepness | -1.0"),
    invalid("assume-steepness-beyond-100", lambda: assumed(steepness=101), "steepness | [0, 100]"),
    invalid("assume-lipschitz-negative", lambda: assumed(lipschitz=-1), "lipschitz | at least 0"),
    invalid("assume-lipschitz-infinite", lambda: assumed(lipschitz=math.inf), "lipschitz | inf"),
    unknown("assume-noise-misspelt", lambda: assumed(noise="bound"), "noise | 'bounded'?"),
    unknown("assume-noise-none", lambda: assumed(noise=None), "noise | None"),
    unknown("assume-noise-list", lambda: assumed(noise=["bounded"]), "noise | bounded"),
    invalid("assume-sigma-zero", lambda: assumed(sigma=0.0), "sigma | (0, 1e+06] | 0.0"),
    invalid("assume-mean-zero", lambda: assumed(largest_mean=0), "largest_mean | (0, 1] | got 0"),
    invalid("assume-mean-beyond-1", lambda: assumed(largest_mean=2), "largest_mean | (0, 1]"),
    invalid(
        "assume-gaussian-mean-too-large",
        lambda: assumed(largest_mean=1e7, noise="gaussian"),
        "largest_mean | (0, 1e+06]",
    ),
    invalid("assume-failure-zero", lambda: assumed(failure=0.0), "failure | [1e-12, 0.5) | 0.0"),
    invalid("assume-failure-half", lambda: assumed(failure=0.5), "failure | [1e-12, 0.5) | 0.5"),
    # From data.
    invalid("assumptions-list", lambda: Assumptions.from_json([2, 10]), "assumptions | table"),
    invalid("assumptions-none", lambda: Assumptions.from_json(None), "assumptions | None"),
    invalid("assumptions-empty", lambda: Assumptions.from_json({}), "groups must be given"),
    unknown(
        "assumptions-unknown-key",
        lambda: described(head_strat=3),
        "assumption | did you mean 'head_start'?",
    ),
    invalid("assumptions-wrong-value", lambda: described(failure="5%"), "failure | '5%'"),
    # Plans.
    invalid("plan-for-a-table", lambda: make_plan({"groups": 2}), "assumptions | groups"),
    invalid("plan-for-nothing", lambda: make_plan(None), "assumptions | None"),
    unknown(
        "plan-method-unknown",
        lambda: make_plan(assumed(), "calibrate"),
        "method | did you mean 'calibrated'?",
    ),
    invalid("plan-seed-negative", lambda: make_plan(assumed(), seed=-1), "seed | -1"),
    invalid("plan-seed-half", lambda: make_plan(assumed(), seed=0.5), "seed | whole | 0.5"),
]

PLANNED_POLICIES = [
    invalid("padded-offset", lambda: PaddedSchedule(61.0), "offset | [-60, 60] | 61.0"),
    invalid("padded-offset-text", lambda: PaddedSchedule("5"), "offset | '5'"),
    invalid("padded-negative", lambda: PaddedSchedule(padding=-1.0), "padding | -1.0"),
    invalid("padded-nan", lambda: PaddedSchedule(padding=math.nan), "padding | nan"),
    invalid("padded-too-large", lambda: PaddedSchedule(padding=1e16), "padding | 1e+15"),
    unknown("padded-unknown-key", lambda: padded({"pading": 1}), "did you mean 'padding'?"),
    invalid("padded-from-data", lambda: padded({"padding": "much"}), "padding | 'much'"),
    invalid("handicap-negative", lambda: HandicapElimination(-1), "head_start | from 0 | -1"),
    invalid("handicap-half", lambda: HandicapElimination(0.5), "head_start | whole | 0.5"),
    invalid("handicap-too-large", lambda: HandicapElimination(10**13), "head_start"),
    invalid("handicap-sigma-zero", lambda: HandicapElimination(sigma=0.0), "sigma | 0.0"),
    invalid("handicap-sigma-nan", lambda: HandicapElimination(sigma=math.nan), "sigma | nan"),
    invalid(
        "handicap-bounded-number",
        lambda: HandicapElimination(bounded=1),
        "bounded | true or false | got 1",
    ),
    invalid("handicap-never-fails", lambda: HandicapElimination(failure=0.0), "failure | 0.0"),
    invalid("handicap-always-fails", lambda: HandicapElimination(failure=1.0), "failure | 1.0"),
    invalid("handicap-no-arms", lambda: HandicapElimination().start(0, 10), "arms | got 0"),
    invalid("handicap-no-horizon", lambda: HandicapElimination().start(2, 0), "horizon | got 0"),
    unknown(
        "handicap-unknown-key",
        lambda: policy_from_json({"name": "handicap-elimination", "headstart": 3}),
        "handicap-elimination | did you mean 'head_start'?",
    ),
    invalid("calibrated-schedule", lambda: CalibratedElimination(5), "schedule | got 5"),
    invalid("calibrated-burn-in-zero", lambda: CalibratedElimination(burn_in=0), "burn_in | got 0"),
    invalid("calibrated-burn-in-half", lambda: CalibratedElimination(burn_in=1.5), "burn_in | 1.5"),
    invalid("calibrated-burn-in-none", lambda: CalibratedElimination(burn_in=None), "burn_in"),
    invalid(
        "calibrated-assumptions-table",
        lambda: CalibratedElimination(PublishedSchedule(), assumptions={"groups": 2}),
        "assumptions | groups",
    ),
    invalid(
        "calibrated-flag",
        lambda: CalibratedElimination(discard_first="yes"),
        "discard_first | true or false | 'yes'",
    ),
    invalid(
        "calibrated-for-other-arms",
        lambda: CalibratedElimination(assumptions=assumed()).start(3, 1000),
        "arms | 2, for which | got 3",
    ),
    invalid(
        "calibrated-simulated-with-other-arms",
        lambda: simulated(
            CalibratedElimination(assumptions=assumed()), bandit=AffinityBandit([0.1, 0.2, 0.3])
        ),
        "arms | 2, for which | got 3",
    ),
    invalid("calibrated-from-list", lambda: calibrated(assumptions=[2]), "assumptions | [2]"),
    invalid(
        "calibrated-from-wrong-assumptions",
        lambda: calibrated(assumptions=assumed().to_json() | {"groups": 0}),
        "groups | from 2 | got 0",
    ),
    invalid(
        "calibrated-from-incomplete-assumptions",
        lambda: calibrated(assumptions={"groups": 2}),
        "horizon must be given",
    ),
    unknown(
        "calibrated-unknown-schedule",
        lambda: calibrated(schedule={"name": "paded"}),
        "schedule | did you mean 'padded'?",
    ),
    unknown("calibrated-unknown-key", lambda: calibrated(burnin=3), "did you mean 'burn_in'?"),
]
