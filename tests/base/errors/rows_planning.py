"""Wrong assumptions, plans, and settings of the policies that plans are made of."""

from __future__ import annotations

import math
from typing import Any

from affinity_bandits import policy_from_json
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.policies import HeadStartElimination, MemoryElimination
from tests.base.errors.table import HUGE, TOO_LONG, UNPRINTABLE, invalid, unknown


def assumed(**changes: Any) -> Assumptions:
    """Assumptions that would be right but for what is changed."""
    right = {"groups": 2, "horizon": 1000, "smallest_difference": 0.1}
    return Assumptions(**right | changes)


def described(**changes: Any) -> Assumptions:
    return Assumptions.from_json(assumed().to_json() | changes)


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
    invalid("assume-head-start-negative", lambda: assumed(initial_lead=-1), "initial_lead | -1"),
    invalid("assume-head-start-huge", lambda: assumed(initial_lead=HUGE), "initial_lead"),
    # Who is there, who joins, who judges.
    invalid(
        "assume-head-start-and-committee",
        lambda: assumed(initial_lead=3, committee=[1, 2]),
        "initial_lead | left out where the committee is given | got 3",
    ),
    invalid(
        "assume-committee-of-others",
        lambda: assumed(committee=[1, 2, 3]),
        "committee | each of the 2 groups | [1, 2, 3]",
    ),
    invalid("assume-committee-empty", lambda: assumed(committee=[0, 0]), "committee | not all"),
    invalid("assume-committee-number", lambda: assumed(committee=3), "committee | a list"),
    invalid("assume-committee-half", lambda: assumed(committee=[1, 2.5]), "committee[1] | 2.5"),
    invalid("assume-nobody-joins", lambda: assumed(joining=0.0), "joining | [1e-06, 1] | 0.0"),
    invalid("assume-more-join", lambda: assumed(joining=1.5), "joining | 1.5"),
    unknown("assume-judges-misspelt", lambda: assumed(judges="panels"), "judges | 'panel'?"),
    invalid(
        "assume-recusal-without-a-bonus",
        lambda: assumed(judges="recused"),
        "bonus | given where judges are recused",
    ),
    invalid("assume-bonus-negative", lambda: assumed(bonus=-0.1), "bonus | -0.1"),
    invalid("assume-spread-zero", lambda: assumed(spread=0.0), "spread | (0, 0.5] | 0.0"),
    invalid("assume-spread-beyond", lambda: assumed(spread=0.6), "spread | (0, 0.5] | 0.6"),
    invalid(
        "assume-gaussian-spread",
        lambda: assumed(spread=0.1, noise="gaussian"),
        "spread | left out unless noise is bounded | 0.1",
    ),
    invalid("assume-no-pace", lambda: assumed(pace=0.0), "pace | 0.0"),
    invalid("assume-names-of-others", lambda: assumed(names=["a"]), "names | 2 groups"),
    invalid("assume-names-alike", lambda: assumed(names=["a", "a"]), "names | differ"),
    invalid("assume-names-numbers", lambda: assumed(names=[1, 2]), "names | a name for each"),
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
    invalid("assume-in-flight-none", lambda: assumed(in_flight=0), "in_flight | from 1 to | got 0"),
    invalid("assume-in-flight-half", lambda: assumed(in_flight=1.5), "in_flight | whole | 1.5"),
    invalid("assume-in-flight-huge", lambda: assumed(in_flight=HUGE), "in_flight"),
    # Scales.
    invalid(
        "assume-scale-without-width",
        lambda: assumed(lowest=2.0, highest=2.0),
        "highest | above lowest (2) | 2.0",
    ),
    invalid(
        "assume-scale-upside-down",
        lambda: assumed(lowest=5, highest=1),
        "highest | above lowest (5) | got 1",
    ),
    invalid(
        "assume-lowest-above-the-usual-highest",
        lambda: assumed(lowest=1.5),
        "highest | above lowest (1.5) | 1.0",
    ),
    invalid("assume-lowest-nan", lambda: assumed(lowest=math.nan), "lowest | nan"),
    invalid("assume-lowest-text", lambda: assumed(lowest="1"), "lowest | '1'"),
    invalid("assume-highest-infinite", lambda: assumed(highest=math.inf), "highest | inf"),
    invalid("assume-highest-too-large", lambda: assumed(highest=1e10), "highest | 1e+09"),
    invalid(
        "assume-gaussian-lowest",
        lambda: assumed(noise="gaussian", lowest=-1.0),
        "lowest | left out unless noise is bounded | -1.0",
    ),
    invalid(
        "assume-gaussian-highest",
        lambda: assumed(noise="gaussian", highest=5.0),
        "highest | left out unless noise is bounded | 5.0",
    ),
    invalid(
        "assume-difference-beyond-the-scale",
        lambda: assumed(lowest=1, highest=5, smallest_difference=4.5),
        "smallest_difference | (0, 4] | 4.5",
    ),
    invalid(
        "assume-mean-at-the-lowest",
        lambda: assumed(lowest=1, highest=5, largest_mean=1),
        "largest_mean | (1, 5] | got 1",
    ),
    invalid(
        "assume-difference-beyond-the-mean-on-a-scale",
        lambda: assumed(lowest=1, highest=5, largest_mean=3, smallest_difference=2.5),
        "smallest_difference | (0, 2] | 2.5",
    ),
    # From data.
    invalid("assumptions-list", lambda: Assumptions.from_json([2, 10]), "assumptions | table"),
    invalid("assumptions-none", lambda: Assumptions.from_json(None), "assumptions | None"),
    invalid("assumptions-empty", lambda: Assumptions.from_json({}), "groups must be given"),
    unknown(
        "assumptions-unknown-key",
        lambda: described(inital_lead=3),
        "assumption | did you mean 'initial_lead'?",
    ),
    invalid("assumptions-wrong-value", lambda: described(failure="5%"), "failure | '5%'"),
    # Plans.
    invalid("plan-for-a-table", lambda: make_plan({"groups": 2}), "assumptions | groups"),
    invalid("plan-for-nothing", lambda: make_plan(None), "assumptions | None"),
    invalid("plan-seed-negative", lambda: make_plan(assumed(), seed=-1), "seed | -1"),
    invalid("plan-seed-half", lambda: make_plan(assumed(), seed=0.5), "seed | whole | 0.5"),
]

PLANNED_POLICIES = [
    invalid("head-start-negative", lambda: HeadStartElimination(-1), "initial_lead | from 0 | -1"),
    invalid("head-start-half", lambda: HeadStartElimination(0.5), "initial_lead | whole | 0.5"),
    invalid("head-start-too-large", lambda: HeadStartElimination(10**13), "initial_lead"),
    invalid("head-start-sigma-zero", lambda: HeadStartElimination(sigma=0.0), "sigma | 0.0"),
    invalid("head-start-sigma-nan", lambda: HeadStartElimination(sigma=math.nan), "sigma | nan"),
    invalid(
        "head-start-bounded-number",
        lambda: HeadStartElimination(bounded=1),
        "bounded | true or false | got 1",
    ),
    invalid("head-start-never-fails", lambda: HeadStartElimination(failure=0.0), "failure | 0.0"),
    invalid("head-start-always-fails", lambda: HeadStartElimination(failure=1.0), "failure | 1.0"),
    invalid(
        "head-start-none-in-flight", lambda: HeadStartElimination(in_flight=0), "in_flight | 0"
    ),
    invalid("memory-none", lambda: MemoryElimination(memory=0), "memory | from 1 | 0"),
    invalid("head-start-no-arms", lambda: HeadStartElimination().start(0, 10), "arms | got 0"),
    invalid("head-start-no-horizon", lambda: HeadStartElimination().start(2, 0), "horizon | got 0"),
    unknown(
        "head-start-unknown-key",
        lambda: policy_from_json({"name": "head-start-elimination", "inital_lead": 3}),
        "head-start-elimination | did you mean 'initial_lead'?",
    ),
]
