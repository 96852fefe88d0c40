"""Search for the bias, within stated assumptions, that does the most harm to a policy.

It draws nondecreasing f no steeper than assumed: flat ones, ramps A min(1, (x/c)**s) with corners
at the shares that a run visits, steep steps between them, and random chains of powers. Each is put
into an instance whose scores at equal shares are as assumed, with somebody's initial lead; bounded
scores are 0 and 1, but some are of five levels. All of them are run a few times; the worst are then
confirmed with many fresh runs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from affinity_bandits import AffinityBandit, Ordinal, PiecewisePower
from affinity_bandits.planning import Assumptions, Outcome
from affinity_bandits.planning.worlds import initial_members
from affinity_bandits.policies import HeadStartElimination, RoundPolicy
from research.admitted import flattened, instance, is_admitted
from research.outcomes import outcome

SEARCH_RUNS = 12
CONFIRM_RUNS = 4_000
CONFIRMED = 1
"""How many of the worst are confirmed, of each of three kinds: undecided, wrong, wrong in a tie."""
FLAT = (1.0, 0.3, 0.1, 0.03, 0.001)
BASES = (1, 20, 400)
"""Members of the smallest group at the start."""
FIVE_LEVELS = 0.15
"""The part of attacks with bounded scores of five levels: they should be easier to compare."""
TIE = 1e-9
"""A difference so small that nobody can see it: what a proven failure probability must survive."""


class Attack(NamedTuple):
    """A bias and the instance it was tried in."""

    bias: PiecewisePower
    bandit: AffinityBandit
    tied: AffinityBandit  # the same with rivals that are all but equal to the best


class Damage(NamedTuple):
    """The worst that was confirmed."""

    wrong: Outcome
    wrong_bias: str
    undecided: Outcome
    undecided_bias: str


def biases(assumptions: Assumptions, rng: np.random.Generator, count: int) -> list[PiecewisePower]:
    """Return admitted biases with largest weight 1: every deliberate one, then random ones."""
    given = assumptions.on_unit_scale()
    found = [bias for bias in _deliberate(given) if is_admitted(given, bias)]
    while len(found) < count:
        bias = _random(given, rng)
        for _ in range(12):  # with a Lipschitz limit, most are too steep somewhere
            if is_admitted(given, bias):
                found.append(bias)
                break
            bias = flattened(bias, 0.7)
    return found


def _visited(given: Assumptions) -> list[float]:
    """Return shares that a leader and its rivals have in a run, the equal ones among them."""
    groups, ahead = given.groups, given.ahead
    shares = {1.0 / k for k in range(2, groups + 1)}
    for passes in np.geomspace(1.0, 1e5, 8):
        for behind in {1, groups - 1}:  # rivals with the initial lead
            total = groups * (1.0 + passes) + behind * ahead + (groups - 1) * (ahead + 1)
            shares.add((1.0 + passes) / total)
            shares.add((2.0 + passes + 2.0 * ahead) / total)
    return sorted(share for share in shares if 0.0 < share < 1.0)


def _ramp(corner: float, steepness: float, foot: float) -> PiecewisePower:
    if steepness == 0.0 or foot >= corner:
        return PiecewisePower([corner], [1.0])
    return PiecewisePower([foot, corner], [(foot / corner) ** steepness, 1.0])


def _deliberate(given: Assumptions) -> Iterable[PiecewisePower]:
    steepness, foot = given.steepest, _smallest_share(given)
    for flat in FLAT:
        yield PiecewisePower([1.0], [flat])
    yield _ramp(1.0, steepness, foot)
    for share in _visited(given):
        for factor in (0.999, 1.0, 1.001, 1.1):
            corner = min(1.0, share * factor)
            for height in (1.0, 0.3):
                ramp = _ramp(corner, steepness, foot)
                weights = [height * weight for weight in ramp.weights]
                yield PiecewisePower(ramp.shares, weights)
        for width in (1.01, 1.3, 3.0):
            end = min(1.0, share * width)
            if end > share and steepness > 0.0:
                yield PiecewisePower([share, end], [(share / end) ** steepness, 1.0])


def _random(given: Assumptions, rng: np.random.Generator) -> PiecewisePower:
    count = int(rng.integers(2, 7))
    logs = rng.uniform(math.log(_smallest_share(given)), 0.0, count)
    marks = np.log(rng.choice(_visited(given), size=count)) + rng.normal(0.0, 0.1, count)
    logs = np.sort(np.where(rng.random(count) < 0.6, np.minimum(marks, 0.0), logs))
    logs = np.unique(np.round(logs, 9))
    powers = given.steepest * rng.choice([0.0, 1.0, rng.random()], size=len(logs) - 1)
    heights = np.concatenate([[0.0], np.cumsum(powers * np.diff(logs))])
    weights = np.maximum(np.exp(heights - heights[-1]), 1e-250)
    return PiecewisePower(np.exp(logs).tolist(), weights.tolist())


def _smallest_share(given: Assumptions) -> float:
    return 0.5 / (2.0 + given.groups * (2.0 + 2.0 * given.ahead))


def attacks(
    assumptions: Assumptions, tried: Sequence[PiecewisePower], rng: np.random.Generator
) -> list[Attack]:
    """Put each bias into an instance, with an initial lead and a level drawn at random."""
    given = assumptions.on_unit_scale()
    starts = initial_members(given)
    found = []
    for bias in tried:
        fair = bias.weight(1.0 / given.groups)
        top = min(given.best_mean, fair) if given.bounded else given.best_mean
        level = top if rng.random() < 0.7 else rng.uniform(given.smallest_difference, top)
        base = int(rng.choice(BASES, p=(0.8, 0.1, 0.1)))
        initial = [base - 1 + members for members in starts[rng.integers(len(starts))][1]]
        noise = Ordinal(5) if rng.random() < FIVE_LEVELS else "bernoulli"
        bandit = instance(given, bias, level, initial, bounded_noise=noise)
        rival = level * (1.0 - TIE)
        tied = instance(given, bias, level, initial, rival, noise)
        found.append(Attack(bias, bandit, tied))
    return found


def bolder(policy: RoundPolicy) -> RoundPolicy:
    """Return a version that decides too early: a sound policy fails too rarely to rank biases."""
    if isinstance(policy, HeadStartElimination):
        return replace(policy, failure=0.49, initial_lead=(policy.initial_lead or 0) // 2)
    return policy


def worst(
    policy: RoundPolicy, horizon: int, tried: Sequence[Attack], seed: int, runs: int = CONFIRM_RUNS
) -> Damage:
    """Return the worst failures among the attacks, confirmed with fresh runs."""
    bold = bolder(policy)

    def counted(
        chosen: Callable[[Attack], AffinityBandit], used: RoundPolicy
    ) -> Callable[[Attack], Outcome]:
        return lambda attack: outcome(chosen(attack), used, horizon, SEARCH_RUNS, seed)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        normal = list(pool.map(counted(lambda attack: attack.bandit, policy), tried))
        deceived = list(pool.map(counted(lambda attack: attack.bandit, bold), tried))
        tied = list(pool.map(counted(lambda attack: attack.tied, bold), tried))
        by_undecided = sorted(
            range(len(tried)), key=lambda i: (-normal[i].undecided, -normal[i].choices_95)
        )[:CONFIRMED]
        by_wrong = sorted(range(len(tried)), key=lambda i: -deceived[i].wrong)[:CONFIRMED]
        by_tie = sorted(range(len(tried)), key=lambda i: -tied[i].wrong)[:CONFIRMED]

        def confirmed(bandit: AffinityBandit) -> Outcome:
            return outcome(bandit, policy, horizon, runs, seed + 1)

        stuck = list(pool.map(confirmed, [tried[i].bandit for i in by_undecided]))
        places = [*by_wrong, *by_tie]
        bandits = [tried[i].bandit for i in by_wrong] + [tried[i].tied for i in by_tie]
        wrong = list(pool.map(confirmed, bandits))
    # The confirmed runs of the one kind say something of the other kind as well.
    wrong += stuck
    places += by_undecided
    at = max(range(len(wrong)), key=lambda i: wrong[i].wrong)
    of = max(range(len(stuck)), key=lambda i: stuck[i].undecided)
    return Damage(
        wrong[at],
        str(tried[places[at]].bias),
        stuck[of],
        str(tried[by_undecided[of]].bias),
    )
