"""Does the plan of a story in users' words keep what it says? `python -m bench.story --json`.

The story of docs/stories/hiring.md: three sources, a committee of 30, 10 and 10, scores of 1 to 5,
a bonus of at most 20% for one's own kind, 0.3 points that matter; one in ten of those chosen joins,
or everybody. The plan's number of choices is given to 500 random biases inside that bonus: half of
them no steeper than the plan takes for granted when it counts the cost, half of any shape, with
jumps wherever they fall.

    story.<joining>.choices     planned: enough in 19 of 20 cases
    story.<joining>.failure     upper 95% limit of runs that settle for a worse group, over all
    story.<joining>.undecided   part of runs that were not decided within the plan, no steeper
    story.<joining>.jumps       the same of any shape
    story.<joining>.worst       runs of the worst single bias that settled for a worse group
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from affinity_bandits import PiecewisePower
from affinity_bandits.bias import Bias
from affinity_bandits.planning import Assumptions
from affinity_bandits.planning.plan import planned_policy
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval
from bench.admitted import random_bias
from bench.certificates import at_the_edge
from bench.measure import main
from bench.plans import instance, joinings, outcome

BIASES = 500
RUNS = 40
SEED = 20_264
LOW, MIDDLE = 0.4, 0.6
"""Levels of the best group, as parts of the scale: much lower ones cannot spread by a point."""
JOINING = {"tenth": 0.1, "all": 1.0}


class Found(NamedTuple):
    """What became of one bias."""

    jumps: bool
    wrong: int
    undecided: int
    runs: int


def story(joining: float) -> Assumptions:
    """Return what is told, in points of the scale."""
    return Assumptions(
        groups=3,
        horizon=2_000,
        smallest_difference=0.3,
        committee=[30, 10, 10],
        bonus=0.2,
        joining=joining,
        spread=1.0,
        lowest=1.0,
        highest=5.0,
    )


def any_shape(rng: np.random.Generator, bonus: float, groups: int) -> PiecewisePower:
    """Return a bias that rises by at most the bonus in all, in jumps and ramps."""
    count = int(rng.integers(1, 5))
    middles = np.where(
        rng.random(count) < 0.5,
        np.exp(rng.normal(0.0, 0.2, count)) / groups,
        rng.uniform(0.02, 0.98, count),
    )
    widths = np.exp(rng.uniform(math.log(1e-4), math.log(0.3), count))
    parts = rng.dirichlet(np.ones(count)) * math.log1p(bonus)
    if rng.random() < 0.3:
        parts *= rng.random()
    shares = np.unique(np.clip(np.concatenate((middles - widths, middles + widths)), 1e-5, 1.0))
    shares = np.unique(np.append(shares, 1.0))
    rises = [
        float(parts @ np.clip((share - middles + widths) / (2.0 * widths), 0.0, 1.0))
        for share in shares
    ]
    weights = np.exp(np.array(rises) - rises[-1])
    return PiecewisePower(shares.tolist(), weights.tolist())


def tried(given: Assumptions, policy: RoundPolicy, number: int) -> Found:
    """Run the policy with one bias, at a random level and with a random best group."""
    rng = np.random.default_rng([SEED, number])
    unit = given.on_unit_scale()
    jumps = number % 2 == 1
    bias: Bias
    if jumps:
        assert unit.bonus is not None
        bias = any_shape(rng, unit.bonus, unit.groups)
    else:
        drawn = random_bias(rng, unit, MIDDLE)
        bias = PiecewisePower(drawn.shares, (np.array(drawn.weights) / drawn.weights[-1]).tolist())
    top = min(unit.best_mean, bias.weight(1.0 / unit.groups))
    level = float(rng.uniform(LOW, top))
    scores = [level - unit.smallest_difference] * unit.groups
    scores[int(rng.integers(unit.groups))] = level
    ways = joinings(unit, bias, scores)
    bandit = instance(unit, bias, scores, ways[number // 2 % len(ways)])
    found = outcome(bandit, policy, given.horizon, RUNS, SEED + number)
    return Found(jumps, found.wrong, found.undecided, RUNS)


def run() -> dict[str, float]:
    """Return every figure."""
    figures: dict[str, float] = {}
    for name, joining in JOINING.items():
        given = at_the_edge(story(joining))
        policy = planned_policy(given)
        found = [tried(given, policy, number) for number in range(BIASES)]
        wrong, runs = sum(one.wrong for one in found), sum(one.runs for one in found)
        figures[f"story.{name}.choices"] = given.horizon
        figures[f"story.{name}.failure"] = proportion_interval(wrong, runs, 0.9)[2]
        for kind, jumps in (("undecided", False), ("jumps", True)):
            some = [one for one in found if one.jumps == jumps]
            ended = sum(one.undecided for one in some)
            figures[f"story.{name}.{kind}"] = ended / sum(one.runs for one in some)
        figures[f"story.{name}.worst"] = max(one.wrong for one in found)
    return figures


if __name__ == "__main__":
    sys.exit(main(run))
