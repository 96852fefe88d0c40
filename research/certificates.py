"""Do plans keep their word on every bias they admit? `python -m research.certificates --json`.

For each of some two hundred sets of assumptions a plan says: choosing the wrong group has at most
the stated probability, and (where it says so) the choices are enough. `bias_adversary` then looks
for an f inside the assumptions that makes either false.

    certificates.broken       sets in which the lower 95% limit of a measured failure is above what
                              was stated
    certificates.not_enough   sets called enough in which more than 5% of 4,000 runs on an admitted
                              f end undecided

Half of the sets get the number of choices that the planner calls sufficient, where "enough" is most
easily broken; the others get any number. Two planted planners must break: one certified on a short
list of examples (the biases that people think of first), and one whose verdict knows only a world
without bias.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits import AffinityBandit, Constant, Gaussian, Power, Sigmoid
from affinity_bandits.planning import Assumptions
from affinity_bandits.planning.enough import decided_enough, far_enough, sufficient_horizon
from affinity_bandits.planning.making import HARDEST_RUNS
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.runs import hardest_outcomes
from affinity_bandits.planning.target import aim
from affinity_bandits.planning.worlds import initial_members
from affinity_bandits.planning.worst_worlds import worst_worlds
from affinity_bandits.policies import Elimination, PublishedSchedule, RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import Lines, main_of_lines
from research.bias_adversary import CONFIRM_RUNS, attacks, biases, worst
from research.outcomes import outcome

SETS = 210
BIASES = 300
SEED = 20_260
LEAST_CHOICES = 200
MOST_CHOICES = 3 * 10**7
UNDECIDED = 0.05
STEEPNESS_LISTED = (0.1, 0.25, 0.5, 0.75, 0.9, 1.5, 2.0, 3.0)
PLANTED_EVERY = 10
"""The planted planners are tried on every tenth set."""
PLANNED, EXAMPLES, UNBIASED = "planned", "examples", "unbiased"
"""A plan, and the two planted ones: certified on examples, or enough only without bias."""


class Line(NamedTuple):
    """One set of assumptions: what was stated and the worst that was found."""

    planner: str
    assumptions: dict[str, Any]
    stated: float
    enough: bool
    wrong: float
    wrong_low: float
    wrong_bias: str
    undecided: float
    undecided_bias: str
    choices_95: float
    hardest_95: float

    @property
    def broken(self) -> bool:
        """Whether a failure was measured that is above what was stated."""
        return self.wrong_low > self.stated

    @property
    def not_enough(self) -> bool:
        """Whether runs end undecided where the choices were called enough."""
        return self.enough and self.undecided > UNDECIDED


def listed() -> Iterator[Assumptions]:
    """Yield assumptions under which plans once failed, or that are at the edge of what is asked."""
    for initial_lead in (300, 1000):
        yield Assumptions(2, 10**6, 0.1, initial_lead=initial_lead, steepness=0.9)
    for steepness in STEEPNESS_LISTED:
        yield Assumptions(3, 10**6, 0.1, initial_lead=100, steepness=steepness)
    for steepness in (0.1, 0.5, 1.0, 2.0):
        yield Assumptions(3, 10**8, 0.1, initial_lead=100, steepness=steepness, noise="gaussian")
    yield Assumptions(3, 20_000, 0.1, initial_lead=100, steepness=0.2)


LISTED = tuple(listed())


def drawn(count: int, rng: np.random.Generator) -> Iterator[Assumptions]:
    """Yield random assumptions."""
    for number in range(count):
        steepness = float(np.exp(rng.uniform(math.log(0.05), math.log(3.0))))
        yield Assumptions(
            groups=round(float(np.exp(rng.uniform(math.log(2.0), math.log(16.4))))),
            horizon=int(10.0 ** rng.uniform(4.0, 7.0)),
            smallest_difference=float(np.exp(rng.uniform(math.log(0.03), math.log(0.4)))),
            initial_lead=int(rng.choice([0, 1, 10, 30, 100, 300, 1000, 3000])),
            steepness=steepness,
            # Relative to the weight at equal shares, where x**s has a slope of s K.
            lipschitz=float(steepness * rng.choice([1.0, 3.0, 10.0])) if number % 3 == 0 else None,
            noise="gaussian" if number % 2 else "bounded",
            sigma=float(rng.choice([0.2, 0.5, 1.0])),
            failure=float(rng.choice([0.01, 0.05, 0.2])),
        )


def at_the_edge(given: Assumptions) -> Assumptions:
    """Return the assumptions with the number of choices that the planner calls sufficient."""
    short = _with_horizon(given, max(LEAST_CHOICES, given.groups))
    policy = round_policy_for(short)
    far = far_enough(short, policy, SEED + 4)
    if far is None:
        return given
    policy = aim(short, policy, far, SEED + 5)
    worlds = worst_worlds(short, policy, far, SEED + 2)
    found = sufficient_horizon(worlds, policy, short.horizon, far, SEED)
    return given if found is None or found[0] > MOST_CHOICES else _with_horizon(given, found[0])


def _with_horizon(given: Assumptions, horizon: int) -> Assumptions:
    return Assumptions.from_json(given.to_json() | {"horizon": horizon})


def round_policy_for(given: Assumptions) -> RoundPolicy:
    """Return the policy of a plan by rounds; no set of assumptions here is about blocks."""
    policy = policy_for(given)
    assert isinstance(policy, RoundPolicy)
    return policy


def policy_of(given: Assumptions) -> RoundPolicy:
    """Return the policy of a plan, with its target."""
    policy = round_policy_for(given)
    far = far_enough(given, policy, SEED + 4)
    return policy if far is None else aim(given, policy, far, SEED + 5)


def measure(item: tuple[int, Assumptions, str], runs: int, tried: int = BIASES) -> Line:
    """Attack the plan, or a planted one, for one set of assumptions, which has a number."""
    number, given, planner = item
    if planner == PLANNED and number >= len(LISTED) and number % 4 < 2:
        given = at_the_edge(given)
    policy, enough, hardest_95 = policy_of(given), False, math.nan
    if planner == PLANNED:
        worlds = worst_worlds(given, policy, given.horizon, SEED + 2)
        found = hardest_outcomes(worlds, policy, given.horizon, HARDEST_RUNS, SEED)
        enough = all(map(decided_enough, found))
        hardest_95 = max(one.choices_95 for one in found)
    elif planner == EXAMPLES:
        policy = planted_schedule(given)
    else:  # what 95% of runs take without bias, and a tenth more
        fair = first_thoughts(given)[: len(initial_members(given))]
        taken = [outcome(one, policy, given.horizon, 400, SEED).choices_95 for one in fair]
        needed = int(1.1 * max(taken))
        enough = needed < given.horizon
        given = _with_horizon(given, needed) if enough else given
    rng = np.random.default_rng([SEED, number])
    against = attacks(given, biases(given, rng, tried), rng)
    damage = worst(policy, given.horizon, against, SEED, runs)
    wrong = damage.wrong
    return Line(
        planner=planner,
        assumptions=given.to_json(),
        stated=given.failure,
        enough=enough,
        wrong=wrong.wrong / wrong.replicates,
        wrong_low=proportion_interval(wrong.wrong, wrong.replicates, 0.9)[1],
        wrong_bias=damage.wrong_bias,
        undecided=damage.undecided.undecided_rate,
        undecided_bias=damage.undecided_bias,
        choices_95=damage.undecided.choices_95,
        hardest_95=hardest_95,
    )


def first_thoughts(given: Assumptions) -> list[AffinityBandit]:
    """Return the instances that a planner certified on examples would try."""
    offered = [(0.0, Constant()), (0.27, Sigmoid()), (1.0, Power(1.0)), (2.0, Power(2.0))]
    scale = given.on_unit_scale()
    best, rival = scale.best_mean, scale.best_mean - scale.smallest_difference
    return [
        AffinityBandit(
            [rival] * (given.groups - 1) + [best],
            bias=bias,
            initial_pulls=initial,
            noise="bernoulli" if given.bounded else Gaussian(given.sigma),
        )
        for needed, bias in offered
        if needed <= given.steepest
        for _, initial in initial_members(given)
    ]


def planted_schedule(given: Assumptions) -> RoundPolicy:
    """Return the shortest rounds of Algorithm 1 that are safe on the instances thought of first."""
    chosen = Elimination()
    for offset in range(5, -9, -1):
        bolder = Elimination(PublishedSchedule(float(offset)))
        counted = [outcome(b, bolder, given.horizon, 200, SEED) for b in first_thoughts(given)]
        if any(one.wrong > 0.5 * given.failure * one.replicates for one in counted):
            break
        chosen = bolder
    return chosen


def work(sets: int = SETS) -> list[tuple[int, Assumptions, str]]:
    """Return the number of each set, its assumptions, and who plans."""
    others = drawn(max(0, sets - len(LISTED)), np.random.default_rng(SEED))
    return [
        (number, given, planner)
        for number, given in enumerate([*LISTED[:sets], *others])
        for planner in (PLANNED, EXAMPLES, UNBIASED)
        if planner == PLANNED or number % PLANTED_EVERY == 0
    ]


def figures(found: Sequence[Line]) -> dict[str, float]:
    """Return the figures of all sets together."""
    lines = [line for line in found if line.planner == PLANNED]
    controls = [line for line in found if line.planner != PLANNED]
    enough = [line for line in lines if line.enough]
    care = [line.hardest_95 / line.choices_95 for line in enough]
    return {
        "certificates.sets": len(lines),
        "certificates.broken": sum(line.broken for line in lines),
        "certificates.not_enough": sum(line.not_enough for line in lines),
        "certificates.called_enough": len(enough),
        "certificates.worst_wrong_over_stated": max(line.wrong / line.stated for line in lines),
        "certificates.worst_undecided": max((line.undecided for line in enough), default=0.0),
        "certificates.hardest_over_found": math.exp(sum(map(math.log, care)) / len(care)),
        "certificates.planted.tried": len(controls),
        "certificates.planted.broken": sum(line.broken for line in controls),
        "certificates.planted.not_enough": sum(line.not_enough for line in controls),
    }


def table(lines: Sequence[Line]) -> str:
    """Return a line for each set."""
    text = [f"{'planner':<9} {'K':>2} {'choices':>11}  {'stated':>6}  wrong  undecided"]
    for line in lines:
        given = line.assumptions
        text.append(
            f"{line.planner:<9} {given['groups']:>2} {given['horizon']:>11,}  {line.stated:>6}"
            f"  {line.wrong:>5.3f}  {line.undecided:.3f}{' of enough' if line.enough else ''}"
        )
    return "\n".join(text)


if __name__ == "__main__":
    bench = Lines(__doc__ or "", Line, work(), measure, figures, table, CONFIRM_RUNS)
    sys.exit(main_of_lines(bench))
