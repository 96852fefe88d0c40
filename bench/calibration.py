"""Do plans keep what they promise? `python -m bench.calibration --json`.

Fifty random sets of assumptions; for each, a plan by either method, and fresh random instances
inside the assumptions, which are not those that the plan was searched and certified on. A plan
keeps its word on an instance if the best group is dropped in no larger part of the runs than was
tolerated.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Clipped, Constant, Gaussian, Power, Sigmoid
from affinity_bandits.bias import Bias
from affinity_bandits.planning import Assumptions, families
from affinity_bandits.planning.families import SIGMOID_STEEPNESS
from affinity_bandits.planning.outcomes import outcomes
from affinity_bandits.planning.plan import candidate, certified

SETS = 50
INSTANCES = 20
REPLICATES = 2_000
SEED = 11
METHODS = ("handicap", "calibrated")


def random_assumptions(random: np.random.Generator) -> Assumptions:
    """Draw a set of assumptions."""
    return Assumptions(
        groups=int(random.choice([2, 3, 4, 6, 8, 12, 16])),
        horizon=int(10.0 ** random.uniform(4.0, 9.0)),
        smallest_difference=float(random.uniform(0.03, 0.4)),
        head_start=int(10.0 ** random.uniform(0.0, 3.5)),
        steepness=float(random.choice([0.5, 1.0, 1.5, 2.0, 3.0])),
        noise=str(random.choice(["bounded", "gaussian"])),
        sigma=float(random.uniform(0.3, 2.0)),
        failure=float(random.choice([0.1, 0.05, 0.02, 0.01])),
    )


def random_bias(random: np.random.Generator, given: Assumptions) -> Bias:
    """Draw a bias no steeper than assumed."""
    offered: list[Bias] = [Constant()]
    if given.steepness >= SIGMOID_STEEPNESS:
        offered.append(Sigmoid())
    if given.steepness >= 1.0:
        power = Power(float(random.uniform(1.0, given.steepness)))
        low, high = np.sort(random.uniform(0.0, 1.0, size=2))
        offered += [power, power, Clipped(power, low=float(low), high=float(high))]
    return offered[int(random.integers(len(offered)))]


def random_instance(random: np.random.Generator, given: Assumptions) -> AffinityBandit:
    """Draw an instance inside the assumptions; anyone may be best, anyone favoured."""
    groups = given.groups
    best = float(random.uniform(given.smallest_difference, given.largest_mean))
    means = (best - given.smallest_difference) * random.uniform(0.0, 1.0, size=groups) ** 0.3
    winner = int(random.integers(groups))
    means[winner] = best
    smallest = int(random.choice([1, 10, 100]))
    shares = random.choice([0.0, 1.0, random.uniform()], size=groups)
    initial = smallest + np.floor(given.head_start * shares).astype(int)
    if random.uniform() < 0.5:
        initial[winner] = smallest
    noise = "bernoulli" if given.bounded else Gaussian(given.sigma)
    bias = random_bias(random, given)
    return AffinityBandit(means.tolist(), bias=bias, initial_pulls=initial.tolist(), noise=noise)


def run(sets: int = SETS) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the figures, and every case in which a plan did not keep its word."""
    random = np.random.default_rng(SEED)
    drawn = []
    for _ in range(sets):
        given = random_assumptions(random)
        drawn.append((given, [random_instance(random, given) for _ in range(INSTANCES)]))
    broken: list[dict[str, Any]] = []
    kept: Counter[str] = Counter()
    certificates: Counter[str] = Counter()
    largest = dict.fromkeys(METHODS, 0.0)
    for number, (given, instances) in enumerate(drawn):
        tried = families(given)
        for method in METHODS:
            policy, certificate = certified(candidate(method, given, tried), given, tried, SEED)
            certificates[method] += certificate.upper <= given.failure
            for bandit, one in zip(
                instances,
                outcomes(instances, policy, given.horizon, REPLICATES, SEED + 1),
                strict=True,
            ):
                rate = one.wrong / one.replicates
                largest[method] = max(largest[method], rate / given.failure)
                if rate <= given.failure:
                    kept[method] += 1
                else:
                    broken.append(
                        {
                            "method": method,
                            "set": number,
                            "assumptions": given.to_json(),
                            "instance": bandit.to_json(),
                            "measured": one.wrong_rate,
                        }
                    )
        print(f"\r{number + 1} of {sets}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    figures: dict[str, float] = {}
    for method in METHODS:
        sets_broken = {case["set"] for case in broken if case["method"] == method}
        figures[f"calibration.{method}.sets_kept"] = 1.0 - len(sets_broken) / sets
        figures[f"calibration.{method}.instances_kept"] = kept[method] / (sets * INSTANCES)
        figures[f"calibration.{method}.certified"] = certificates[method] / sets
        figures[f"calibration.{method}.largest_part_of_tolerated"] = largest[method]
    return figures, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--sets", type=int, default=SETS)
    arguments = parser.parse_args()
    figures, broken = run(arguments.sets)
    if arguments.json:
        print(json.dumps(figures | {"calibration.broken": broken}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:<50}  {value:.4g}")
        for case in broken:
            print(f"not kept: {json.dumps(case)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
