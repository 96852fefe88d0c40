"""Regret against an oracle that knows the bias, the initial pulls and the gaps.

`python -m bench.oracle --json`. The constants of the paper's lower bound are those of its proof,
and for so few groups they say next to nothing; being so many times above it says as little. The
oracle here is a fairer measure. It must convince itself that a group is worse, as every consistent
policy must, but it knows how much each pull says: with feedback N(mu W, 1), W**2 / 2 times the
squared gap, so that 2 log(n) / gap**2 has to be gathered in W**2 (Lai and Robbins for W = 1). It
pulls the worse groups one after the other, those with the largest gap first, each alone until it
has gathered that, and so lets the group's share, and with it W, grow as fast as it can. Nobody can
do that without knowing which group is the best, so it is no policy, and it is not proven to be the
cheapest order: it is a scale that knows the bias.

Only the Gaussian half of the suite: the information of a pull is that of N(mu W, 1).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from affinity_bandits import simulate
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import Gaussian
from affinity_bandits.policies import Elimination, HandicapElimination, RoundPolicy
from bench.measure import print_figures
from bench.regret import geometric_mean
from bench.suite import HEAD_START, Instance, instances

REPLICATES = 200
"""Regret hardly varies from run to run: figures of three digits need no more."""
SEED = 1
PANELS = 2000


class Line(NamedTuple):
    """One policy on one instance."""

    instance: str
    policy: str
    bias: str
    regret: float
    oracle: float


def oracle_regret(bandit: AffinityBandit, horizon: int) -> float:
    """Return the oracle's regret; it rules arms out in the order of decreasing gaps.

    Of groups with equal gaps, that with more members comes first: its pulls say more.
    """
    gaps = bandit.gaps.tolist()
    initial = list(bandit.initial_pulls or ())
    members, lost = float(sum(initial)), 0.0
    worse = [arm for arm in range(bandit.arms) if gaps[arm] > 0.0]
    for arm in sorted(worse, key=lambda arm: (-gaps[arm], -initial[arm])):
        needed = 2.0 * math.log(horizon) / gaps[arm] ** 2
        pulls = pulls_alone(bandit.bias, float(initial[arm]), members, needed)
        members += pulls
        lost += gaps[arm] * pulls
    return lost


def pulls_alone(bias: Bias, own: float, members: float, needed: float) -> float:
    """Return how many pulls in a row, as a real number, gather so much in W**2.

    The sum over pulls t of f((own + t) / (members + t))**2, as an integral by Simpson's rule.
    """
    if bias.weight(1.0) == 0.0:
        return math.inf
    low, high = 0.0, needed
    while gathered(bias, own, members, high) < needed:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if gathered(bias, own, members, middle) < needed:
            low = middle
        else:
            high = middle
    return high


def gathered(bias: Bias, own: float, members: float, pulls: float) -> float:
    """Return the integral of f((own + t) / (members + t))**2 over t from 0 to `pulls`."""
    # In u = log(members + t), in which the share moves evenly.
    u: FloatArray = np.linspace(math.log(members), math.log(members + pulls), PANELS + 1)
    sizes = np.exp(u)
    shares = np.clip(1.0 - (members - own) / sizes, 0.0, 1.0)
    values = np.asarray(bias.weight(shares)) ** 2 * sizes
    simpson = values[0] + values[-1] + 4.0 * values[1:-1:2].sum() + 2.0 * values[2:-1:2].sum()
    return float(simpson * (u[1] - u[0]) / 3.0)


def measure(instance: Instance, label: str, policy: RoundPolicy, replicates: int) -> Line:
    """Run one policy on one instance."""
    bandit, horizon = instance.bandit, instance.horizon
    result = simulate(bandit, policy, horizon, replicates, SEED, checkpoints=1, progress=False)
    regret = float(result.regret[0, :, -1].mean())
    return Line(instance.name, label, str(bandit.bias), regret, oracle_regret(bandit, horizon))


def policies(instance: Instance) -> dict[str, RoundPolicy]:
    """Return the policies that run on an instance."""
    return {
        "published": Elimination(),
        "handicap": HandicapElimination(HEAD_START),
        "handicap_known": HandicapElimination(initial_pulls=instance.bandit.initial_pulls),
    }


def run(replicates: int = REPLICATES) -> list[Line]:
    """Measure every policy on every Gaussian instance of the suite."""
    work = [
        (instance, label, policy)
        for instance in instances()
        if isinstance(instance.bandit.noise, Gaussian)
        for label, policy in policies(instance).items()
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda item: measure(item[0], item[1], item[2], replicates), work))


def figures(lines: list[Line]) -> dict[str, float]:
    """Return each policy's regret as a multiple of the oracle's, in all and by bias."""
    found = {}
    for policy in dict.fromkeys(line.policy for line in lines):
        for bias in ("all", *dict.fromkeys(line.bias for line in lines)):
            some = [line for line in lines if line.policy == policy and bias in ("all", line.bias)]
            ratios = [line.regret / line.oracle for line in some]
            found[f"oracle.{policy}.{bias}"] = geometric_mean(ratios)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    arguments = parser.parse_args()
    found = figures(run(arguments.replicates))
    print_figures(found, as_json=arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
