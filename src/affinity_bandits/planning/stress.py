"""What becomes of a plan when one of its assumptions is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from affinity_bandits.planning.assumptions import MOST_GROUPS, MOST_HEAD_START, Assumptions
from affinity_bandits.planning.hard_rounds import hardest_outcomes
from affinity_bandits.planning.hardest import HardWorld, hard_worlds
from affinity_bandits.planning.outcomes import Outcome, Tick
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.sifting import worst_of
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.progress import progress_bar

FACTORS = (2, 10)
RUNS = 200
STRESS_SEED, SIFTING_SEED = 5, 6
LARGEST_SPREAD = 0.5
"""The largest standard deviation that values in [0, 1] can have."""


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
NOISE = "noisier scores"
DIFFERENCE = "a smaller difference"
HORIZON = "fewer choices"
_ORDER = (HEAD_START, STEEPNESS, NOISE, DIFFERENCE, HORIZON, GROUPS)


def _violated(given: Assumptions, factor: int, nodes: bool) -> list[Case]:
    """Return the cases in which one assumption is wrong by a factor.

    Of a policy with nodes, scores are not noisier than assumed: those beyond an end count as that
    end, and no bounded scores have a larger variance than those of the hardest worlds.
    """
    horizon = given.horizon
    found: list[Case] = []

    def add(words: str, changed: Assumptions) -> None:
        found.append(Case(words, factor, hard_worlds(changed), changed.horizon))

    if given.head_start > 0:
        larger = min(MOST_HEAD_START, factor * given.head_start)
        add(HEAD_START, replace(given, head_start=larger))
    if given.steepness > 0.0:
        steeper = min(100.0, factor * given.steepness)
        add(STEEPNESS, replace(given, steepness=steeper, lipschitz=None))
    if not nodes:
        found.append(Case(NOISE, factor, _noisier(given, factor), horizon))
    add(DIFFERENCE, replace(given, smallest_difference=given.smallest_difference / factor))
    if horizon // factor >= given.groups:
        found.append(Case(HORIZON, factor, hard_worlds(given), horizon // factor))
    more = min(MOST_GROUPS, factor * given.groups)
    if more > given.groups and more <= horizon:
        add(GROUPS, replace(given, groups=more))
    return found


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
