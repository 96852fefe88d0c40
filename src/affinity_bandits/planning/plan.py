"""Plans: a policy for stated assumptions, its schedule, and its measured outcomes and costs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from affinity_bandits import checks
from affinity_bandits._version import __version__
from affinity_bandits.declaration import Declaration
from affinity_bandits.displays import html_table, short
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning.assumptions import USUAL_STEEPNESS, Assumptions
from affinity_bandits.planning.policy import check_promise, policy_for
from affinity_bandits.planning.runs import (
    FEW_RUNS,
    LATE,
    NEVER,
    Outcome,
    Tick,
    exceptions,
    hardest_outcomes,
    ignore,
    run_hardest,
    vary_means,
    worst_worlds,
)
from affinity_bandits.planning.worlds import (
    NO_LIMIT,
    HardWorld,
    WorldLimits,
    hard_worlds,
)
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.progress import show_progress

REACH_RUNS = 50
LARGEST_HORIZON = 10**15
# Horizons of the picture, in steps of the square root of ten around the planned one.
STEPS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
FACTOR = 2.0  # ratio between the differences that are tried; costs in between are interpolated
TRIED = 14  # differences that are tried at most
# Runs last up to so many times the largest horizon, since half the difference takes about four
# times the choices.
REACH_FURTHER = 6
SIFTING_RUNS = 40
SOME = 0.2  # the part of runs that may be undecided in the search for the worst worlds
SUFFICIENT_RUNS = 150
NEARLY_ALL = 149 / 150
EIGHTFOLD = 8
AIM = 0.85  # the target of a policy, as a part of what suffices in 95% of runs without one
AIM_RUNS = 100


@dataclass(frozen=True)
class Reach:
    """The outcome of a policy with a given number of choices.

    Attributes:
        horizon: that number.
        wrong: the part of runs that drop the best group.
        undecided: the part of runs that keep more than one group.
        choices: mean number of choices until the decision.
        choices_95: choices that suffice in 95% of runs.
        detectable: the smallest difference that 95% of runs detect; None if there is none.
    """

    horizon: int
    wrong: float
    undecided: float
    choices: float
    choices_95: float
    detectable: float | None


def decided_enough(outcome: Outcome) -> bool:
    """Return whether at most 5% of runs end undecided, with 95% confidence.

    Wrong runs count as decided: their probability has a proven bound, which may exceed 5%.
    """
    return outcome.undecided <= exceptions(outcome.replicates)


def measure_reach(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[Reach]:
    """Return the outcomes of a policy in a hardest world with several numbers of choices.

    Runs are made once, with the largest number. A policy that uses the horizon gets the largest.

    Args:
        assumptions: the assumptions of the world.
        hard: the world.
        policy: the policy to run.
        horizons: numbers of choices, ascending.
        seed: seed of all runs.
    """
    runs = run_hardest(hard, policy, horizons[-1], REACH_RUNS, seed)
    detectable = _detectable(assumptions, hard, policy, horizons, seed)
    found = []
    for horizon, difference in zip(horizons, detectable, strict=True):
        one = runs.within(horizon)
        wrong = one.wrong / one.replicates
        found.append(
            Reach(horizon, wrong, one.undecided_rate, one.choices, one.choices_95, difference)
        )
    return found


def _detectable(
    assumptions: Assumptions,
    hard: HardWorld,
    policy: RoundPolicy,
    horizons: Sequence[int],
    seed: int,
) -> list[float | None]:
    """Return the smallest difference that is detected within each number of choices.

    Ever smaller differences are tried, until they take more than all of these numbers.
    """
    world = hard.world
    largest = assumptions.on_unit_scale().best_mean  # the world may be about lower means only
    horizon = min(LARGEST_HORIZON, REACH_FURTHER * horizons[-1])
    differences, needed = [math.inf], [0]
    for number in range(TRIED + 1):
        difference = largest / FACTOR**number
        changed = world._replace(  # a mean is at least its lead over others
            difference=difference,
            least_mean=max(world.least_mean, difference),
            largest_mean=max(world.largest_mean, difference),
            drawn_at=max(world.drawn_at, difference) if world.drawn_at > 0.0 else 0.0,
        )
        runs = run_hardest(replace(hard, world=changed), policy, horizon, REACH_RUNS, seed)
        took = runs.count_needed(1.0 - LATE)
        differences.append(difference)
        needed.append(max(took, needed[-1]))
        if took > horizons[-1]:
            break
    found: list[float | None] = []
    for point in horizons:
        place = bisect_right(needed, point) - 1  # the last that takes no more
        part = 0.0
        if 0 < place < len(needed) - 1 and needed[place + 1] < NEVER:
            part = math.log(point / needed[place]) / math.log(needed[place + 1] / needed[place])
        seen = assumptions.span * differences[place] / FACTOR**part
        found.append(None if place == 0 else seen)
    return found


def horizons_around(assumptions: Assumptions) -> list[int]:
    """Return the horizons that a picture shows."""
    around = {round(assumptions.horizon * 10.0 ** (step / 2)) for step in STEPS}
    return sorted(n for n in around if 2 * assumptions.groups <= n <= LARGEST_HORIZON)


def far_enough(
    assumptions: Assumptions, policy: RoundPolicy, seed: int, tick: Tick = ignore
) -> int | None:
    """Return a horizon by which most runs are decided; None if even 10**15 is too small.

    This is the planned horizon if possible, or eight times the choices that 95% of runs take in the
    worlds without gifts.
    """
    left, horizon = hard_worlds(assumptions), assumptions.horizon
    found = []
    for hard in left:
        found.append(run_hardest(hard, policy, horizon, SIFTING_RUNS, seed).within(horizon))
        tick(1.0 / len(left))
    if all(one.undecided_rate <= SOME for one in found):
        return horizon
    least = horizon
    while left:
        if horizon >= LARGEST_HORIZON:
            return None
        horizon = min(LARGEST_HORIZON, EIGHTFOLD * horizon)
        took = [
            run_hardest(hard, policy, horizon, SIFTING_RUNS, seed).count_needed(1.0 - LATE)
            for hard in left
        ]
        least = max([least, *(one for one in took if one < NEVER)])
        left = [hard for hard, one in zip(left, took, strict=True) if one == NEVER]
    return min(LARGEST_HORIZON, EIGHTFOLD * least)


def aim(
    assumptions: Assumptions, policy: RoundPolicy, far: int, seed: int, tick: Tick = ignore
) -> RoundPolicy:
    """Return the policy with a target, if it takes one: a part of the choices of 95% of runs.

    Those runs have no target and are in the hardest of the worlds without gifts. `far` is a horizon
    by which most runs are decided.
    """
    if policy.aimed_at(1) == policy:
        return policy
    # Longer than most runs take, so that plans for other horizons have the same target.
    far = min(LARGEST_HORIZON, EIGHTFOLD * far)
    worlds = hard_worlds(assumptions)
    took = 1.0
    for hard in worlds:
        tried = vary_means(hard)
        found = hardest_outcomes(tried, policy, far, FEW_RUNS, seed)
        longest = max(range(len(tried)), key=lambda i: found[i].choices)
        runs = run_hardest(tried[longest], policy, far, AIM_RUNS, seed + 1)
        took = max(took, runs.within(far).choices_95)
        tick(1.0 / len(worlds))
    return policy.aimed_at(round_up(math.ceil(AIM * took)))


def round_up(number: int) -> int:
    """Round up to two digits: more would suggest a false precision."""
    scale = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / scale) * scale


def sufficient_horizon(
    worlds: Sequence[HardWorld], policy: RoundPolicy, horizon: int, far: int, seed: int
) -> tuple[int, list[Outcome]] | None:
    """Return a number of choices that is enough in every world, and the outcomes then.

    All but one of 150 runs are decided by it. If more than 5% of all runs took longer, this would
    have probability 0.4%.

    Args:
        worlds: the worst world of each committee.
        policy: the policy to run; it gets `far` as the horizon.
        horizon: a number of choices that is too small.
        far: a horizon by which most runs are decided.
        seed: seed of all runs.
    """
    while True:
        runs = [run_hardest(hard, policy, far, SUFFICIENT_RUNS, seed) for hard in worlds]
        choices = round_up(max(horizon + 1, *(one.count_needed(NEARLY_ALL) for one in runs)))
        if choices <= far:
            return choices, [one.within(choices) for one in runs]
        if far >= LARGEST_HORIZON:
            return None
        far = min(LARGEST_HORIZON, EIGHTFOLD * far)


OTHERWISE_RUNS = 60
JUMP = 1e300  # the steepness of a bias that jumps


@dataclass(frozen=True)
class Otherwise:
    """A line of the table.

    Attributes:
        words: the difference from the assumptions.
        factor: the choices that suffice in 95% of runs, relative to the plan's.
        more: whether even that factor is too small.
    """

    words: str
    factor: float
    more: bool


def costs_otherwise(
    assumptions: Assumptions, policy: RoundPolicy, hard: HardWorld, limit: int, seed: int
) -> list[Otherwise]:
    """Return the cost in a hardest world that is changed in one respect, up to a limit."""
    place = [str(one) for one in hard_worlds(assumptions)].index(str(hard))
    # Common random numbers, so that few runs show the effect of a change.
    usual = run_hardest(hard, policy, limit, OTHERWISE_RUNS, seed).count_needed(0.95)
    found = []
    new = [
        (words, _changed(hard, hard_worlds(change)[place].world))
        for words, change in _changes(assumptions)
    ]
    if assumptions.judges == "committee" and assumptions.steepest > 0.0:
        plain = hard_worlds(assumptions)[place]
        jump = replace(plain, world=plain.world._replace(steepness=JUMP, lipschitz=NO_LIMIT))
        new.append(("a bias that jumps at equal shares", vary_means(jump)))
    for words, changed in new:
        took = max(
            run_hardest(one, policy, limit, OTHERWISE_RUNS, seed).count_needed(0.95)
            for one in changed
        )
        found.append(Otherwise(words, min(limit, took) / min(limit, usual), took > limit))
    return found


def _changed(hard: HardWorld, new: WorldLimits) -> list[HardWorld]:
    """Return a world with other limits; with a larger spread, also one at the middle mean."""
    names = ("spread", "steepness", "strength", "difference")
    world = hard.world._replace(**{name: getattr(new, name) for name in names})
    found = [world]
    middle = 0.5 * new.largest_mean
    if new.spread > hard.world.spread and middle > world.difference:
        found.append(world._replace(least_mean=middle, largest_mean=middle, drawn_at=middle))
    return [replace(hard, world=one) for one in found]


def _changes(given: Assumptions) -> Iterator[tuple[str, Assumptions]]:
    """Yield changed assumptions, with a description."""
    if given.spread is not None:
        largest = 0.5 * given.span
        for factor in (0.5, 1.5):
            if factor * given.spread < largest:
                changed = replace(given, spread=factor * given.spread)
                yield f"scores spread by {changed.spread:.3g}, not {given.spread:.3g}", changed
        yield "they spread as much as they can", replace(given, spread=None)
    if given.bonus and given.judges != "panel":
        twice = replace(given, bonus=2.0 * given.bonus, steepness=None)
        yield f"a bias of {200.0 * given.bonus:.3g}%, not {100.0 * given.bonus:.3g}%", twice
        if given.judges == "committee" and given.steepest < USUAL_STEEPNESS:
            yield "a bias with a tipping point", replace(given, steepness=USUAL_STEEPNESS)
    elif given.bonus is None and given.judges == "committee" and given.steepest > 1.0:
        yield "scores at most in proportion to the share", replace(given, steepness=1.0)


SIFTING, HARDEST, REACH, SUFFICIENT, FAR, OTHERWISE, AIMED = 0, 2, 4, 5, 6, 7, 9
# Offsets of seeds, so that no run is used for two purposes. Sifting and aiming take two each.
SEEDS = 11
HARDEST_RUNS = 300
FURTHER = 5  # `costs_otherwise` searches up to so many times the choices


@dataclass(frozen=True)
class Plan:
    """A policy for stated assumptions, with its measured outcomes.

    Numbers are in the units of the assumptions' scores.

    Attributes:
        assumptions: the assumptions.
        policy: the policy to run, for `simulate` and `Live`, on scores mapped to [0, 1].
        worlds: the hardest world that was found for each initial committee.
        hardest: the outcome of the policy in each of them, which decides the verdict.
        detectable: the smallest difference that 95% of runs detect in the costliest world.
        sufficient: a sufficient number of choices; None if the planned one suffices, or if even
            10**15 is too small.
        needed: the outcome with sufficient choices in the world that takes most; None if even
            10**15 choices are too few, or if no number is enough because scores cannot tell groups
            from judges (`Assumptions.identified`). Then `detectable`, `otherwise` and `reach` are
            empty as well.
        otherwise: the cost under another spread or bias.
        reach: outcomes with fewer and with more choices.
        seed: seed of all runs.
        version: version of the package that made it.
        declaration: of the groups, the person responsible and the purpose, if made.
    """

    assumptions: Assumptions
    policy: RoundPolicy
    worlds: tuple[HardWorld, ...]
    hardest: tuple[Outcome, ...]
    detectable: float | None
    sufficient: int | None
    needed: Outcome | None
    otherwise: tuple[Otherwise, ...]
    reach: tuple[Reach, ...]
    seed: int = 0
    version: str = __version__
    declaration: Declaration | None = None

    def __post_init__(self) -> None:
        if self.declaration is not None:
            self.declaration.check_comparison()

    def __repr__(self) -> str:
        return f"<Plan: {self._verdict}; {self.policy}>"

    def _repr_html_(self) -> str:
        given, cost, wrong = self.assumptions, self.cost, self.most_wrong
        told_apart = "none" if self.detectable is None else f"{self.detectable:.2g}"
        if self.failure is None:
            return html_table(self._verdict, (), (("policy", str(self.policy)),))
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
        if not given.identified:
            return f"{asked}: no number is enough, as scores cannot tell groups from judges"
        if self.enough:
            return f"{asked}: enough{given.covered and f' for {given.covered}'}"
        would = "10^15 would not do" if self.sufficient is None else f"{self.sufficient:,} would do"
        return f"{asked}: too few, {would}"

    @property
    def failure(self) -> float | None:
        """The proven bound on the probability of settling for a worse group; None if there is none.

        It holds for every nonnegative, nondecreasing bias of any steepness that all groups share
        (but for a stated gap in favor), if the assumed people judge, drawn by lot. If strangers
        judge, those of each group must also be equally strict on average.
        """
        return self.assumptions.failure if self.assumptions.identified else None

    @property
    def enough(self) -> bool:
        """Whether at most 5% of runs end undecided in every hardest world (95% confidence).

        Never, if scores cannot tell groups from judges.
        """
        return self.assumptions.identified and all(map(decided_enough, self.hardest))

    @property
    def costliest(self) -> int:
        """The index of the hardest world that took the most choices."""
        return costliest(self.hardest)

    @property
    def cost(self) -> Outcome:
        """The outcome in the costliest of the hardest worlds."""
        return self.hardest[self.costliest]

    @property
    def enough_choices(self) -> float | None:
        """The choices that are enough in 19 of 20 cases; None if even 10**15 are too few."""
        if self.needed is None:
            return None
        found = self.needed.choices_95
        settled = self.enough or found > self.assumptions.horizon
        return found if settled else float(self.sufficient or found)

    @property
    def most_wrong(self) -> Outcome:
        """The outcome with the largest part of wrong runs."""
        return max(self.hardest, key=lambda one: one.wrong / one.replicates)


def cheapest_enough(plans: Sequence[Plan]) -> Plan | None:
    """Return the plan that takes the fewest choices among those that are enough, if any is."""
    enough = [plan for plan in plans if plan.enough]
    return min(enough, key=lambda plan: plan.enough_choices or math.inf, default=None)


def costliest(found: tuple[Outcome, ...] | list[Outcome]) -> int:
    """Return the index of the outcome that took the most choices."""
    return max(range(len(found)), key=lambda i: (found[i].choices_95, found[i].choices))


def make_plan(
    assumptions: Assumptions,
    *,
    policy: RoundPolicy | None = None,
    seed: int = 0,
    progress: bool | Callable[[float], None] | None = None,
) -> Plan:
    """Return a plan for stated assumptions.

    The policy is elimination with a handicap, whose failure probability has a proven bound for
    every nonnegative, nondecreasing bias that all groups share, or your own policy with such a
    bound. The verdict, the detectable difference and the cost are measured in the hardest worlds
    of the assumptions.

    Args:
        assumptions: the assumptions.
        policy: a policy of your own, on scores mapped to [0, 1], with `judged_by` and a `failure`.
            By giving it you promise that it drops the best group with at most that probability,
            for every nondecreasing bias and the assumed judges: the plan states this as proven.
            Default: `policy_for(assumptions)`.
        seed: seed of all runs.
        progress: True for a bar, None for a bar on a terminal, False for silence, or a function
            that is called with the part done.

    >>> from affinity_bandits.planning import Assumptions, make_plan
    >>> plan = make_plan(Assumptions(groups=2, horizon=100_000, smallest_difference=0.3))
    >>> plan.enough, plan.failure
    (True, 0.05)
    """
    if not isinstance(assumptions, Assumptions):
        raise InvalidInput("assumptions", "assumptions of a plan", assumptions)
    seed = checks.integer("seed", seed, low=0, high=2**62)
    own = SEEDS * seed
    if policy is None:
        policy = policy_for(assumptions)
    check_promise(policy, assumptions)
    points = horizons_around(assumptions)
    horizon = assumptions.horizon
    work = len(hard_worlds(assumptions)) * HARDEST_RUNS
    with show_progress(progress, 3.0 * work) as bar:
        far = far_enough(assumptions, policy, own + FAR, lambda part: bar.tick(0.1 * work * part))
        if far is not None:
            policy = aim(
                assumptions, policy, far, own + AIMED, lambda part: bar.tick(0.1 * work * part)
            )
        worlds = worst_worlds(
            assumptions, policy, far or horizon, own + SIFTING, lambda part: bar.tick(work * part)
        )
        hardest = hardest_outcomes(worlds, policy, horizon, HARDEST_RUNS, own + HARDEST, bar.tick)
        costly = worlds[costliest(hardest)]
        needed: Outcome | None = hardest[costliest(hardest)]
        asked = sorted({horizon, *points})
        reach = measure_reach(assumptions, costly, policy, asked, own + REACH)
        bar.tick(0.4 * work)
        detectable, sufficient = reach[asked.index(horizon)].detectable, None
        if all(map(decided_enough, hardest)):
            if detectable is not None:  # fewer runs than the verdict's may give a larger one
                detectable = min(detectable, assumptions.smallest_difference)
        else:
            needed = found = None
            if far is not None:
                found = sufficient_horizon(worlds, policy, horizon, far, own + SUFFICIENT)
            if found is not None:
                sufficient, then = found
                needed = then[costliest(then)]
            if detectable is not None and sufficient is not None:
                # The same: larger than the difference that matters. The choices that are needed
                # are about inversely proportional to its square.
                least = assumptions.smallest_difference * math.sqrt(sufficient / horizon)
                largest = assumptions.best_mean - assumptions.lowest
                detectable = min(max(detectable, least), largest)
        bar.tick(0.3 * work)
        limit = min(LARGEST_HORIZON, FURTHER * max(horizon, sufficient or 0))
        otherwise = costs_otherwise(assumptions, policy, costly, limit, own + OTHERWISE)
        bar.tick(0.1 * work)
        if not assumptions.identified:  # costs would only hold for judges who are alike
            needed, detectable, sufficient, otherwise, reach = None, None, None, [], []
        return Plan(
            assumptions=assumptions,
            policy=policy,
            worlds=tuple(worlds),
            hardest=tuple(hardest),
            detectable=detectable,
            sufficient=sufficient,
            needed=needed,
            otherwise=tuple(otherwise),
            reach=tuple(one for one in reach if one.horizon in points),
            seed=seed,
        )
