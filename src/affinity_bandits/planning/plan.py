"""Make a plan: a policy for stated assumptions, whether the choices are enough, what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from affinity_bandits import checks
from affinity_bandits._version import __version__
from affinity_bandits.displays import html_table, short
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.examples import Example, examples
from affinity_bandits.planning.hard_rounds import hardest_outcomes
from affinity_bandits.planning.hardest import HardWorld, hard_worlds
from affinity_bandits.planning.otherwise import Otherwise, costs_otherwise
from affinity_bandits.planning.outcomes import Outcome, outcomes
from affinity_bandits.planning.reach import (
    LARGEST_HORIZON,
    Reach,
    decided_enough,
    far_enough,
    horizons_around,
    reached,
    sufficient_horizon,
)
from affinity_bandits.planning.schedules import ScheduledRound, scheduled_rounds
from affinity_bandits.planning.sifting import worst_worlds
from affinity_bandits.policies import PLANNED_BY_DEFAULT, RoundPolicy
from affinity_bandits.progress import progress_bar

SIFTING, _, HARDEST, COST, REACH, SUFFICIENT, FAR, OTHERWISE = range(8)
SEEDS = 9
"""Seeds' offsets: no run is used for two purposes. Sifting takes two."""
HARDEST_RUNS = 300
EXAMPLE_RUNS = 30
FURTHER = 5
"""What it costs otherwise is looked for up to so many times the choices."""


@dataclass(frozen=True)
class Plan:
    """A policy for stated assumptions, with what was measured of it.

    Figures are in the units of the assumptions' scores.

    Attributes:
        assumptions: what is taken for granted.
        policy: what to run, ready for `simulate` and for `Live`, on scores mapped to [0, 1].
        rounds: its schedule while nobody has been dropped.
        worlds: the hardest world that was found for each initial committee; the verdict is theirs.
        hardest: what became of the policy in each of them.
        examples: instances that people would recognise.
        outcomes: what became of the policy on each of them.
        detectable: the smallest difference told apart in 95% of runs in the costliest world.
        sufficient: a number of choices that would be enough; None if the planned one is, or if
            10**15 is not.
        needed: what became of the policy with as many choices as are enough, in the world that
            took most then; None if 10**15 are not enough.
        otherwise: what it takes if the cost is not as assumed.
        reach: the same policy with fewer and with more choices.
        seed: of all its runs.
        version: of the package that made it.
    """

    assumptions: Assumptions
    policy: RoundPolicy
    rounds: tuple[ScheduledRound, ...]
    worlds: tuple[HardWorld, ...]
    hardest: tuple[Outcome, ...]
    examples: tuple[Example, ...]
    outcomes: tuple[Outcome, ...]
    detectable: float | None
    sufficient: int | None
    needed: Outcome | None
    otherwise: tuple[Otherwise, ...]
    reach: tuple[Reach, ...]
    seed: int = 0
    version: str = __version__

    def __repr__(self) -> str:
        return f"<Plan: {self._verdict}; {self.policy}>"

    def _repr_html_(self) -> str:
        given, cost, wrong = self.assumptions, self.cost, self.most_wrong
        told_apart = "none" if self.detectable is None else f"{self.detectable:.2g}"
        rows = (
            ("policy", str(self.policy)),
            ("chance of settling for a worse group", f"at most {100 * self.failure:.3g}%, proven"),
            ("most runs that did", f"{wrong.wrong:,} of {wrong.replicates:,}"),
            ("choices spent comparing, at worst", f"{short(cost.choices)} on average"),
            ("in 19 of 20 runs", f"{short(cost.choices_95)} of {given.horizon:,}"),
            ("the worst is where", str(self.worlds[self.costliest])),
            ("smallest difference told apart there", told_apart),
        )
        return html_table(self._verdict, (), rows)

    @property
    def _verdict(self) -> str:
        given = self.assumptions
        asked = (
            f"{given.groups:,} groups, differences of {given.smallest_difference:g} or more, "
            f"{given.horizon:,} choices"
        )
        if self.enough:
            return f"{asked}: enough"
        would = "10^15 would not do" if self.sufficient is None else f"{self.sufficient:,} would do"
        return f"{asked}: too few, {would}"

    @property
    def failure(self) -> float:
        """The probability of settling for a worse group is at most this: proven, not measured.

        It holds for every bias that does not fall as a share grows, whatever its steepness.
        """
        return self.assumptions.failure

    @property
    def enough(self) -> bool:
        """Whether the planned choices are enough in every hardest world.

        At most 5% of runs end undecided, with 95% confidence; how many of the others settle for a
        worse group is what `failure` says.
        """
        return all(map(decided_enough, self.hardest))

    @property
    def costliest(self) -> int:
        """The position of the hardest world that took the most choices."""
        return costliest(self.hardest)

    @property
    def cost(self) -> Outcome:
        """What became of the policy in the costliest of the hardest worlds."""
        return self.hardest[self.costliest]

    @property
    def enough_choices(self) -> float | None:
        """The choices that are enough in 19 of 20 cases, by the runs that say so; None: never."""
        if self.needed is None:
            return None
        found = self.needed.choices_95
        if self.enough or found > self.assumptions.horizon:
            return found
        return float(self.sufficient or found)

    @property
    def most_wrong(self) -> Outcome:
        """The outcome with the most runs that settled for a worse group, of all that were run."""
        return max((*self.hardest, *self.outcomes), key=lambda one: one.wrong / one.replicates)

    @property
    def example(self) -> Example:
        """The example that took the most choices."""
        return self.examples[costliest(self.outcomes)]


def costliest(found: tuple[Outcome, ...] | list[Outcome]) -> int:
    """Return the position of the outcome that took the most choices, undecided ones first."""
    return max(range(len(found)), key=lambda i: (found[i].choices_95, found[i].choices))


def planned_policy(
    assumptions: Assumptions, policy_class: type[RoundPolicy] = PLANNED_BY_DEFAULT
) -> RoundPolicy:
    """Return the policy that a plan runs."""
    if not (isinstance(policy_class, type) and issubclass(policy_class, RoundPolicy)):
        raise InvalidInput("policy_class", "a class of round policies", policy_class)
    policy = policy_class.planned_for(assumptions.on_unit_scale())
    if policy.nodes and not assumptions.bounded:  # Gaussian scores are drawn as sums
        raise InvalidInput("policy_class", "one without nodes unless noise is bounded", policy)
    return policy


def make_plan(
    assumptions: Assumptions,
    *,
    policy_class: type[RoundPolicy] = PLANNED_BY_DEFAULT,
    seed: int = 0,
    progress: bool | Callable[[float], None] | None = None,
) -> Plan:
    """Return a plan for stated assumptions.

    The policy is elimination with a handicap, whose failure probability is proven for every
    nondecreasing bias, or one of your own that promises the same (`RoundPolicy.planned_for`).
    Whether the choices are enough, what they can tell apart and what they cost at most is measured
    in worlds at least as hard as any bias inside the assumptions.

    Args:
        assumptions: what is taken for granted.
        policy_class: what to plan with.
        seed: of all runs.
        progress: True for a bar, None for a bar on a terminal, False for none, or a function that
            is called with the part done.

    >>> from affinity_bandits.planning import Assumptions, make_plan
    >>> plan = make_plan(Assumptions(groups=2, horizon=100_000, smallest_difference=0.3))
    >>> plan.enough, plan.failure
    (True, 0.05)
    """
    if not isinstance(assumptions, Assumptions):
        raise InvalidInput("assumptions", "assumptions of a plan", assumptions)
    seed = checks.integer("seed", seed, low=0, high=2**62)
    own = SEEDS * seed
    policy = planned_policy(assumptions, policy_class)
    shown = examples(assumptions)
    points = horizons_around(assumptions)
    horizon = assumptions.horizon
    work = len(hard_worlds(assumptions)) * HARDEST_RUNS + len(shown) * EXAMPLE_RUNS
    with progress_bar(progress, 3.0 * work) as bar:
        far = far_enough(assumptions, policy, own + FAR, lambda part: bar.tick(0.2 * work * part))
        worlds = worst_worlds(
            assumptions, policy, far or horizon, own + SIFTING, lambda part: bar.tick(work * part)
        )
        hardest = hardest_outcomes(worlds, policy, horizon, HARDEST_RUNS, own + HARDEST, bar.tick)
        bandits = [example.bandit for example in shown]
        measured = outcomes(bandits, policy, horizon, EXAMPLE_RUNS, own + COST, bar.tick)
        costly = worlds[costliest(hardest)]
        asked = sorted({horizon, *points})
        reach = reached(assumptions, costly, policy, asked, own + REACH)
        bar.tick(0.4 * work)
        plan = Plan(
            assumptions=assumptions,
            policy=policy,
            rounds=scheduled_rounds(policy, assumptions),
            worlds=tuple(worlds),
            hardest=tuple(hardest),
            examples=tuple(shown),
            outcomes=tuple(measured),
            detectable=reach[asked.index(horizon)].detectable,
            sufficient=None,
            needed=hardest[costliest(hardest)],
            otherwise=(),
            reach=tuple(one for one in reach if one.horizon in points),
            seed=seed,
        )
        if plan.enough:
            # It is found with fewer runs than the verdict, so perhaps some percent too large.
            told_apart = plan.detectable
            if told_apart is not None and told_apart > assumptions.smallest_difference:
                plan = replace(plan, detectable=assumptions.smallest_difference)
        elif far is None:
            plan = replace(plan, needed=None)
        else:
            found = sufficient_horizon(worlds, policy, horizon, far, own + SUFFICIENT)
            choices, then = (None, None) if found is None else found
            needed = None if then is None else then[costliest(then)]
            plan = replace(
                plan, sufficient=choices, needed=needed, detectable=_larger(plan, choices)
            )
        bar.tick(0.3 * work)
        limit = min(LARGEST_HORIZON, FURTHER * max(horizon, plan.sufficient or 0))
        changed = costs_otherwise(assumptions, policy, costly, limit, own + OTHERWISE)
        bar.tick(0.1 * work)
        return replace(plan, otherwise=tuple(changed))


def _larger(plan: Plan, sufficient: int | None) -> float | None:
    """Return what can be told apart if the difference that matters cannot: more than that.

    What is found with fewer runs than the verdict may say otherwise. Choices grow about as the
    square of the difference.
    """
    if plan.detectable is None or sufficient is None:
        return plan.detectable
    given = plan.assumptions
    least = given.smallest_difference * math.sqrt(sufficient / given.horizon)
    return min(max(plan.detectable, least), given.best_mean - given.lowest)
