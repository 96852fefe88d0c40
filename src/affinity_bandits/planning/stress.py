"""What becomes of a plan when one of its assumptions is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from affinity_bandits.planning.assumptions import MOST_GROUPS, MOST_HEAD_START, Assumptions
from affinity_bandits.planning.hard_rounds import hardest_outcomes
from affinity_bandits.planning.hardest import LARGEST_SPREAD, HardWorld, hard_worlds
from affinity_bandits.planning.outcomes import Outcome, Tick
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.sifting import worst_of
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.progress import progress_bar

FACTORS = (2, 10)
RUNS = 200
STRESS_SEED, SIFTING_SEED = 5, 6


@dataclass(frozen=True)
class Stress:
    """A line of the stress table.

    Attributes:
        assumption: what is wrong, in words.
        factor: by how much.
        wrong: how often the best group was dropped in the worst world, with the ends of a 95%
            interval.
        undecided: how often the horizon ended first, in the world where it did most often.
        world: the worst world; empty if no run failed in any.
    """

    assumption: str
    factor: int
    wrong: tuple[float, float, float]
    undecided: float
    world: str


def stress(plan: Plan, *, progress: bool | Callable[[float], None] | None = None) -> list[Stress]:
    """Return what becomes of a plan when each assumption is violated by 2 and by 10 times.

    The policy stays as it is; the worlds are the hardest ones of the violated assumptions, the
    worst variant of each with 200 runs. With no failure among 200, the failure probability is
    below 1.8% (95%).
    """
    cases = violations(plan.assumptions, plan.policy)
    total = sum(len(case.worlds) for case in cases) * RUNS
    with progress_bar(progress, total) as bar:
        return [judged(plan.policy, case, bar.tick) for case in cases]


class Case(NamedTuple):
    """An assumption that is wrong.

    Attributes:
        assumption: what is wrong, in words.
        factor: by how much.
        worlds: the hardest ones that there are then.
        horizon: the choices that there are then.
    """

    assumption: str
    factor: int
    worlds: list[HardWorld]
    horizon: int


def violations(given: Assumptions, policy: RoundPolicy) -> list[Case]:
    """Return the cases of the table, in the order of its lines."""
    nodes = bool(policy.nodes)
    cases = [case for factor in FACTORS for case in _violated(given, factor, nodes)]
    return sorted(cases, key=lambda case: _ORDER.index(case.assumption))


def judged(policy: RoundPolicy, case: Case, tick: Tick | None = None) -> Stress:
    """Return the line of a case."""
    worst = [worst_of(one, policy, case.horizon, SIFTING_SEED) for one in case.worlds]
    found = hardest_outcomes(worst, policy, case.horizon, RUNS, STRESS_SEED, tick)
    return _line(case, worst, found)


GROUPS = "more groups than planned for"
HEAD_START = "a larger head start"
STEEPNESS = "a steeper bias"
STRONGER = "a stronger bias"
NOISE = "noisier scores"
DIFFERENCE = "a smaller difference"
HORIZON = "fewer choices"
_ORDER = (HEAD_START, STEEPNESS, STRONGER, NOISE, DIFFERENCE, HORIZON, GROUPS)


def _violated(given: Assumptions, factor: int, nodes: bool) -> list[Case]:
    """Return the cases in which one assumption is wrong by a factor.

    Of a policy with nodes, scores are not noisier than assumed: those beyond an end count as that
    end, and no bounded scores have a larger variance than those of the hardest worlds.
    """
    horizon = given.horizon
    found: list[Case] = []

    def add(words: str, changed: Assumptions) -> None:
        found.append(Case(words, factor, hard_worlds(changed), changed.horizon))

    if given.judges == "committee" and (given.ahead > 0 or given.committee is not None):
        add(HEAD_START, _further_ahead(given, factor))
    if given.bonus is not None and given.bonus > 0.0:
        add(STRONGER, replace(given, bonus=factor * given.bonus, steepness=None, lipschitz=None))
    elif given.bonus is None and given.steepest > 0.0 and given.judges == "committee":
        steeper = min(100.0, factor * given.steepest)
        add(STEEPNESS, replace(given, steepness=steeper, lipschitz=None))
    if given.spread is not None:
        add(NOISE, replace(given, spread=min(0.5 * given.span, factor * given.spread)))
    elif not nodes:
        found.append(Case(NOISE, factor, _noisier(given, factor), horizon))
    add(DIFFERENCE, replace(given, smallest_difference=given.smallest_difference / factor))
    if horizon // factor >= given.groups:
        found.append(Case(HORIZON, factor, hard_worlds(given), horizon // factor))
    more = min(MOST_GROUPS, factor * given.groups)
    if more > given.groups and more <= horizon and given.committee is None:
        add(GROUPS, replace(given, groups=more, names=None))
    return found


def _further_ahead(given: Assumptions, factor: int) -> Assumptions:
    """Return the assumptions with a larger head start; of a known committee, its largest group."""
    if given.committee is None:
        return replace(given, head_start=min(MOST_HEAD_START, factor * given.ahead))
    members = list(given.committee)
    largest = members.index(max(members))
    members[largest] = min(MOST_HEAD_START, factor * members[largest])
    return replace(given, committee=members)


def _noisier(given: Assumptions, factor: int) -> list[HardWorld]:
    """Return the worlds with more noise; scores that were to be bounded then leave their range."""
    sigma = factor * (LARGEST_SPREAD if given.bounded else given.sigma)
    return [replace(hard, world=hard.world._replace(sigma=sigma)) for hard in hard_worlds(given)]


def _line(case: Case, worlds: list[HardWorld], found: list[Outcome]) -> Stress:
    worst = max(range(len(worlds)), key=lambda i: found[i].wrong)
    return Stress(
        assumption=case.assumption,
        factor=case.factor,
        wrong=found[worst].wrong_rate,
        undecided=max(one.undecided_rate for one in found),
        world=str(worlds[worst]) if found[worst].wrong > 0 else "",
    )
