"""What becomes of a plan when one of its assumptions is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from affinity_bandits.bandit import AffinityBandit, Gaussian
from affinity_bandits.planning.families import Family, families
from affinity_bandits.planning.outcomes import Outcome, outcomes
from affinity_bandits.planning.plan import Plan
from affinity_bandits.policies import Assumptions, CalibratedElimination, RoundPolicy
from affinity_bandits.policies.assumptions import MOST_GROUPS, MOST_HEAD_START
from affinity_bandits.simulation.progress import progress_bar

FACTORS = (2, 10)
RUNS = 200
STRESS_SEED = 5
LARGEST_SPREAD = 0.5
"""The largest standard deviation that values in [0, 1] can have."""


@dataclass(frozen=True)
class Stress:
    """A line of the stress table.

    Attributes:
        assumption: what is wrong, in words.
        factor: by how much.
        wrong: how often the best group was dropped on the worst instance, with the ends of a 95%
            interval.
        undecided: how often the horizon ended first, on the instance where it did most often.
        family: the worst instance; empty if no run failed on any.
    """

    assumption: str
    factor: int
    wrong: tuple[float, float, float]
    undecided: float
    family: str


def stress(plan: Plan, *, progress: bool | Callable[[float], None] | None = None) -> list[Stress]:
    """Return what becomes of a plan when each assumption is violated by 2 and by 10 times.

    The policy stays as it is; the families are those of the violated assumptions, each with 200
    runs. With no failure among 200, the failure probability is below 1.8% (95%).
    """
    cases = [case for factor in FACTORS for case in _violations(plan, factor)]
    cases.sort(key=lambda case: _ORDER.index(case[0]))
    total = sum(len(tried) for _, _, tried, _, _ in cases) * RUNS
    lines = []
    with progress_bar(progress, total) as bar:
        for assumption, factor, tried, policy, horizon in cases:
            bandits = [family.bandit for family in tried]
            counted = outcomes(bandits, policy, horizon, RUNS, STRESS_SEED, bar.tick)
            lines.append(_line(assumption, factor, tried, counted))
    return lines


Case = tuple[str, int, list[Family], RoundPolicy, int]

GROUPS = "more groups than planned for"
HEAD_START = "a larger head start"
STEEPNESS = "a steeper bias"
NOISE = "noisier scores"
DIFFERENCE = "a smaller difference"
HORIZON = "fewer choices"
_ORDER = (HEAD_START, STEEPNESS, NOISE, DIFFERENCE, HORIZON, GROUPS)


def _violations(plan: Plan, factor: int) -> list[Case]:
    """Return the cases in which one assumption is wrong by a factor."""
    given, policy = plan.assumptions, plan.policy
    horizon = given.horizon
    found: list[Case] = []

    def add(words: str, changed: Assumptions, used: RoundPolicy = policy) -> None:
        found.append((words, factor, families(changed), used, changed.horizon))

    if given.head_start > 0:
        larger = min(MOST_HEAD_START, factor * given.head_start)
        add(HEAD_START, replace(given, head_start=larger))
    if given.steepness > 0.0:
        steeper = min(100.0, factor * given.steepness)
        add(STEEPNESS, replace(given, steepness=steeper, lipschitz=None))
    found.append((NOISE, factor, _noisier(given, factor), policy, horizon))
    add(DIFFERENCE, replace(given, smallest_difference=given.smallest_difference / factor))
    if horizon // factor >= given.groups:
        found.append((HORIZON, factor, families(given), policy, horizon // factor))
    more = min(MOST_GROUPS, factor * given.groups)
    if more > given.groups and more <= horizon:
        changed = replace(given, groups=more)
        add(GROUPS, changed, _for_groups(policy, changed))
    return found


def _for_groups(policy: RoundPolicy, changed: Assumptions) -> RoundPolicy:
    """Return the policy as it would run with another number of groups."""
    if isinstance(policy, CalibratedElimination):
        return replace(policy, assumptions=changed)
    return policy


def _noisier(given: Assumptions, factor: int) -> list[Family]:
    """Return the families with more noise; beyond [0, 1] where scores were to stay inside it."""
    sigma = factor * (LARGEST_SPREAD if given.bounded else given.sigma)

    def noisy(bandit: AffinityBandit) -> AffinityBandit:
        return replace(bandit, noise=Gaussian(sigma), mechanism="shifted")

    return [replace(family, bandit=noisy(family.bandit)) for family in families(given)]


def _line(assumption: str, factor: int, tried: list[Family], counted: list[Outcome]) -> Stress:
    worst = max(range(len(tried)), key=lambda i: counted[i].wrong)
    return Stress(
        assumption=assumption,
        factor=factor,
        wrong=counted[worst].wrong_rate,
        undecided=max(one.undecided_rate for one in counted),
        family=str(tried[worst]) if counted[worst].wrong > 0 else "",
    )
