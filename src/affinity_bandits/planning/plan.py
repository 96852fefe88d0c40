"""Make a plan: choose a policy for stated assumptions, find its worst case, certify it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from affinity_bandits import checks
from affinity_bandits._version import __version__
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning.calibration import calibrate
from affinity_bandits.planning.certificate import (
    Certificate,
    certify,
    replicates_for,
    suspects,
)
from affinity_bandits.planning.families import Family, families
from affinity_bandits.planning.outcomes import Outcome, Tick, outcomes
from affinity_bandits.planning.reach import (
    DECIDED,
    Reach,
    detectable,
    horizons_around,
    reach_at,
    sufficient_horizon,
)
from affinity_bandits.planning.schedules import ScheduledRound, scheduled_rounds
from affinity_bandits.policies import Assumptions, HandicapElimination, RoundPolicy
from affinity_bandits.simulation.progress import progress_bar

METHODS = ("auto", "handicap", "calibrated")
SEARCH, CERTIFY, COST, REACH = range(4)
"""Seeds' offsets: no run is used for two purposes."""
PROVEN_WORTH = 0.8
"""Part of the handicap's choices below which a measured failure probability is preferred to a
proven one."""
LEAST_EXPECTED = 5.0
"""Failures expected at the tolerated probability, below which runs are too few to certify it."""
ATTEMPTS = 4
"""Schedules tried until one is certified, each predicted to fail a quarter as often."""


@dataclass(frozen=True)
class Plan:
    """A policy for stated assumptions, with what was measured of it.

    Attributes:
        assumptions: what is taken for granted.
        method: "handicap" or "calibrated".
        policy: what to run, ready for `simulate` and for `Live`.
        rounds: its schedule while nobody has been dropped.
        tried: every instance that was tried.
        outcomes: what became of the policy on each of them.
        certificate: the failure probability on the worst of them.
        costliest: position of the instance that took the most choices.
        detectable: the smallest difference told apart in 95% of runs on the costliest instance.
        sufficient: a number of choices that would suffice for the question asked; None if the
            planned one does, or if 10**15 would not.
        reach: the same policy with fewer and with more choices.
        compared: geometric mean of choices over the instances, for each method considered.
        seed: of all its runs.
        version: of the package that made it.
    """

    assumptions: Assumptions
    method: str
    policy: RoundPolicy
    rounds: tuple[ScheduledRound, ...]
    tried: tuple[Family, ...]
    outcomes: tuple[Outcome, ...]
    certificate: Certificate
    costliest: int
    detectable: float | None
    sufficient: int | None
    reach: tuple[Reach, ...]
    compared: dict[str, float]
    seed: int = 0
    version: str = __version__

    @property
    def certified(self) -> bool:
        """Whether the failure probability is certified to be what is tolerated."""
        return self.certificate.upper <= self.assumptions.failure

    @property
    def affordable(self) -> bool:
        """Whether 95% of runs end within the horizon on every instance that was tried."""
        return all(one.undecided_rate <= 1.0 - DECIDED for one in self.outcomes)

    @property
    def cost(self) -> Outcome:
        """What became of the policy on the costliest instance."""
        return self.outcomes[self.costliest]

    @property
    def worst(self) -> Family:
        """The instance with the highest certified failure probability."""
        return self.tried[self.certificate.family]


def make_plan(
    assumptions: Assumptions,
    method: str = "auto",
    *,
    seed: int = 0,
    progress: bool | Callable[[float], None] | None = None,
) -> Plan:
    """Return a plan for stated assumptions.

    Every instance of `families` is simulated with each method, and their choices are compared
    (geometric mean over the instances): calibrated rounds are taken if they need less than 80% of
    the choices that the handicap does. The worst instances for the method taken are searched for
    with a bolder version of it and certified with runs of their own.

    Args:
        assumptions: what is taken for granted.
        method: "handicap" (elimination with a handicap, whose failure probability is proven),
            "calibrated" (Algorithm 1 with shorter rounds, whose is measured), or "auto".
        seed: of all runs.
        progress: True for a bar, None for a bar on a terminal, False for none, or a function that
            is called with the part done.

    >>> from affinity_bandits.planning import Assumptions, make_plan
    >>> plan = make_plan(Assumptions(groups=2, horizon=100_000, smallest_difference=0.3))
    >>> plan.certified, plan.affordable
    (True, True)
    """
    if not isinstance(assumptions, Assumptions):
        raise InvalidInput("assumptions", "assumptions of a plan", assumptions)
    checks.choice("method", method, METHODS)
    seed = 4 * checks.integer("seed", seed, low=0, high=2**62)
    tried = families(assumptions)
    runs = search_runs(assumptions)
    methods = METHODS[1:] if method == "auto" else (method,)
    points = horizons_around(assumptions)
    work = len(tried) * runs * (len(methods) + 1) + 3 * replicates_for(assumptions.failure)
    with progress_bar(progress, 1.2 * work) as bar:
        found = {name: candidate(name, assumptions, tried) for name in methods}
        bandits = [family.bandit for family in tried]
        counted = {
            name: outcomes(bandits, policy, assumptions.horizon, runs, seed + COST, bar.tick)
            for name, policy in found.items()
        }
        compared = {
            name: math.exp(sum(math.log(max(1.0, o.choices)) for o in some) / len(some))
            for name, some in counted.items()
        }
        chosen = _cheaper(compared)
        policy, certificate = certified(found[chosen], assumptions, tried, seed, bar.tick)
        results = counted[chosen]
        if policy != found[chosen]:  # a longer schedule was needed
            results = outcomes(bandits, policy, assumptions.horizon, runs, seed + COST, bar.tick)
        costliest = max(range(len(tried)), key=lambda i: results[i].choices)
        hardest = tried[costliest]
        reach = []
        for horizon in points:
            reach.append(reach_at(assumptions, policy, hardest, horizon, seed + REACH))
            bar.tick(0.2 * work / len(points))
        plan = Plan(
            assumptions=assumptions,
            method=chosen,
            policy=policy,
            rounds=scheduled_rounds(policy, assumptions),
            tried=tuple(tried),
            outcomes=tuple(results),
            certificate=certificate,
            costliest=costliest,
            detectable=detectable(assumptions, policy, hardest, assumptions.horizon, seed + REACH),
            sufficient=None,
            reach=tuple(reach),
            compared=compared,
            seed=seed // 4,
        )
        if plan.affordable:
            return plan
        # All of them: where nothing is decided, all cost the same, and none looks the hardest.
        undecided = [
            family
            for family, one in zip(tried, results, strict=True)
            if one.undecided_rate > 1.0 - DECIDED
        ]
        enough = sufficient_horizon(assumptions, policy, undecided, seed + REACH)
        return replace(plan, sufficient=enough)


def _cheaper(compared: dict[str, float]) -> str:
    """Return the method to take."""
    if len(compared) == 1:
        return next(iter(compared))
    clearly = compared["calibrated"] < PROVEN_WORTH * compared["handicap"]
    return "calibrated" if clearly else "handicap"


def search_runs(assumptions: Assumptions) -> int:
    """Return how many runs each family gets in a search: fewer where a run takes longer."""
    return max(60, min(400, 2_400 // assumptions.groups))


def candidate(method: str, assumptions: Assumptions, tried: Sequence[Family]) -> RoundPolicy:
    """Return the policy that a method proposes, before anything is simulated."""
    if method == "calibrated":
        return calibrate(assumptions, tried).policy
    return HandicapElimination(
        head_start=assumptions.head_start,
        sigma=assumptions.sigma,
        bounded=assumptions.bounded,
        failure=assumptions.failure,
    )


def certified(
    policy: RoundPolicy,
    assumptions: Assumptions,
    tried: Sequence[Family],
    seed: int,
    tick: Tick | None = None,
) -> tuple[RoundPolicy, Certificate]:
    """Return the policy, made safer if need be, with its certificate."""
    horizon, runs, failure = assumptions.horizon, search_runs(assumptions), assumptions.failure
    out_of_reach = replicates_for(failure) * failure < LEAST_EXPECTED
    for attempt in range(ATTEMPTS):
        chosen = suspects(policy, tried, horizon, runs, seed + SEARCH, tick)
        # Runs of an attempt that failed must not be met again.
        fresh = seed + CERTIFY + (attempt << 70)
        certificate = certify(policy, tried, chosen, horizon, failure, fresh, tick)
        proven = isinstance(policy, HandicapElimination)
        last = attempt == ATTEMPTS - 1
        if proven or certificate.upper <= failure or out_of_reach or last:
            break
        policy = calibrate(assumptions, tried, failure=failure / 4.0 ** (attempt + 1)).policy
    return policy, certificate
