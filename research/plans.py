"""Do plans in users' words keep what they say, and what do they cost?

`python -m research.plans --json`.

Situations as people tell them: a scale, how much scores spread, a bonus for one's own group or no
idea of it, a committee or a bound, how many join, who judges. Each is planned, given the number of
choices that the plan calls enough, and attacked from inside what was said: nondecreasing biases up
to that bonus, scores of that spread, and joining at random or by those who score best.

Judges are alike here, as these plans assume: a bias multiplies scores by any nondecreasing function
of the share, which the judges of a `JudgeWorld`, who add points, do not have. Judges who differ are
in `research.judges_as_they_are`.

    plans.broken               situations in which the lower 95% limit of a measured failure is
                               above the tolerated one
    plans.called_enough        situations in which some number of choices is called enough
    plans.not_enough           of those, in which the lower 95% limit of undecided runs is above 5%
    plans.<judges>.mean_ratio  choices until one group is left over the ordinary test of fixed size
                               on the same scores, in the world as told; geometric mean
    plans.<judges>.p95_ratio   the same of the 95th percentile
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    InGroupBonus,
    Joining,
    Judges,
    Ordinal,
    PiecewisePower,
    Power,
    simulate,
)
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.noise import Noise
from affinity_bandits.planning import Assumptions, Outcome
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import Lines, geometric_mean, main_of_lines
from research.admitted import flattened
from research.bias_adversary import TIE, biases
from research.certificates import at_the_edge, policy_of
from research.outcomes import count_outcomes

RUNS = 1_000
SEARCH_RUNS = 20
BIASES = 16
SEED = 20_263
JUDGES = ("committee", "panel", "recused")
EACH = 22
"""Situations of each way to judge."""
SCALES = {"yes/no": (0.0, 1.0), "1..5": (1.0, 5.0), "1..10": (1.0, 10.0), "0..100": (0.0, 100.0)}
BONUSES = (0.05, 0.1, 0.2, 0.5, 1.0)
UNDECIDED = 0.05
POWER = 0.95
USUAL_BONUS = 0.5
"""How strong a bias is of which nothing is known."""
MOST_SPREAD = 0.31
"""Of scores as they would be without a bias: more, and they lie at both ends of the scale."""
LEVELS = 11
"""Scores that there are, evenly spaced, unless they are yes and no."""


class Line(NamedTuple):
    """One situation: what it is, the worst that was found, and what it costs as told."""

    assumptions: dict[str, Any]
    called_enough: bool
    runs: int
    wrong: int
    wrong_in: str
    undecided: int
    undecided_in: str
    ordinary_test: int
    mean_ratio: float
    p95_ratio: float

    @property
    def broken(self) -> bool:
        """Whether the wrong group is chosen more often than tolerated."""
        low = proportion_interval(self.wrong, self.runs, 0.9)[1]
        return bool(low > self.assumptions["failure"])

    @property
    def not_enough(self) -> bool:
        """Whether more runs end undecided than a plan that says "enough" allows."""
        late = proportion_interval(self.undecided, self.runs, 0.9)[1] > UNDECIDED
        return self.called_enough and bool(late)


def situations() -> list[Assumptions]:
    """Return what people might say, the same every time."""
    drawn = np.random.default_rng(SEED)
    found = []
    for judges in JUDGES:
        for number in range(EACH):
            groups = int(drawn.choice([2, 2, 3, 3, 4, 5, 8]))
            scale = list(SCALES)[number % len(SCALES)]
            lowest, highest = SCALES[scale]
            unknown = judges != "recused" and number % 5 == 4
            known = drawn.random() < 0.7
            members = [int(one) for one in drawn.integers(3, 41, groups)]
            spread = float(drawn.uniform(0.15, 0.3))
            # What people call a small or a medium difference, as a part of the spread.
            matters = float(drawn.uniform(0.25, 0.6)) * (0.4 if scale == "yes/no" else spread)
            who: dict[str, Any] = {"committee": members}
            if not known:
                who = {"initial_lead": int(drawn.choice([5, 20, 50]))}
            found.append(
                Assumptions(
                    groups=groups,
                    horizon=10**4,
                    smallest_difference=matters * (highest - lowest),
                    bonus=None if unknown else float(drawn.choice(BONUSES)),
                    # Without a bonus the cost is planned for a bias like x.
                    steepness=1.0 if unknown else None,
                    joining=float(drawn.choice([0.02, 0.1, 0.3, 1.0])) if known else 1.0,
                    judges=judges,
                    spread=None if scale == "yes/no" else spread * (highest - lowest),
                    lowest=lowest,
                    highest=highest,
                    failure=float(drawn.choice([0.05, 0.1])),
                    **who,
                )
            )
    return found


def noise_of(given: Assumptions, weight: float = 1.0) -> Noise:
    """Return scores that spread as stated, in the middle of the scale, once they are biased so."""
    if given.spread is None:
        return Bernoulli()
    wanted = min(MOST_SPREAD, given.spread / weight)
    at = np.linspace(-0.5, 0.5, LEVELS)

    def spread(width: float) -> float:
        shape = np.exp(-0.5 * (at / width) ** 2)
        return float(np.sqrt(shape @ at**2 / shape.sum()))

    low, high = 0.02, 10.0
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spread(middle) < wanted else (low, middle)
    shape = np.exp(-0.5 * (at / low) ** 2)
    return Ordinal(np.linspace(0.0, 1.0, LEVELS).tolist(), shape=(shape / shape.sum()).tolist())


def instance(
    given: Assumptions,
    bias: Bias,
    scores: Sequence[float],
    joining: Joining,
    noise: Noise | None = None,
) -> AffinityBandit:
    """Return a bandit whose mean scores at equal shares are given; `given` is on the unit scale.

    Without any bias scores spread as stated, so with it never more; unless another noise is given.
    """
    fair = bias.weight(1.0 / given.groups)
    judges = {
        "committee": Judges(),
        "panel": Judges("panel", seats=2 * given.groups),
        "recused": Judges("recused"),
    }[given.judges]
    members = [1] * given.groups
    if given.committee is not None:
        members = [max(1, one) for one in given.committee]
    elif given.judges == "committee":
        members[0] += given.ahead
    return AffinityBandit(
        [min(1.0, score / fair) for score in scores],
        bias=bias,
        initial_pulls=members,
        noise=noise_of(given) if noise is None else noise,
        # A weight takes a part of every score; were it to fail some, scores would spread more.
        mechanism="gated" if given.spread is None else "scaled",
        joining=joining,
        judges=judges,
    )


def joinings(given: Assumptions, bias: Bias, scores: Sequence[float]) -> list[Joining]:
    """Return ways in which as many join as was said: by lot, or of those who score best.

    Of no group they are more than twice as large a part as of another.
    """
    if given.joining == 1.0:
        return [Joining()]
    found = [Joining(part=given.joining)]
    if given.spread is not None:
        bandit = instance(given, bias, scores, found[0])
        laws = bandit.noise.finite_laws(bandit.true_means)
        least, most = bias.bounds
        for place in range(len(laws.values) - 1, 0, -1):
            score, next_lower = laws.values[place], laws.values[place - 1]
            above = 1.0 - laws.cumulative[:, place - 1]
            # Between the two at every weight, so that none is shut out by a small share.
            between = 0.5 * (least * score + most * next_lower)
            if least * score > most * next_lower and above.min() >= max(
                given.joining, 0.5 * above.max()
            ):
                part = given.joining / float(above.mean())
                found.append(Joining(part=part, above=between))
                break
    return found


def outcome(
    bandit: AffinityBandit, policy: RoundPolicy, horizon: int, runs: int, seed: int
) -> Outcome:
    """Run a policy and count; by steps where rounds cannot be drawn at once."""
    result = simulate(bandit, policy, horizon, runs, seed, checkpoints=1, progress=False)
    return count_outcomes(result.pulls[0, :, -1, :], result.candidates[0], best=bandit.best_arms[0])


def attack(given: Assumptions, policy: RoundPolicy, runs: int, rng: np.random.Generator) -> Any:
    """Return the worst wrong and the worst undecided outcome, each with its world in words."""
    unit = given.on_unit_scale()
    worlds = []
    for bias in [*_admitted(given, rng), *extremes(unit)]:
        top = min(unit.best_mean, bias.weight(1.0 / unit.groups))
        if top <= unit.smallest_difference:  # no scores could differ by so much
            continue
        level = top if rng.random() < 0.3 else rng.uniform(unit.smallest_difference, top)
        best = int(rng.integers(unit.groups))
        for name, behind in (("", unit.smallest_difference), ("tie, ", TIE * level)):
            scores = [level - behind] * unit.groups
            scores[best] = level
            for joining in joinings(unit, bias, scores):
                words = f"{name}{bias}, {joining}, level {level:.3g}, best {best}"
                worlds.append((words, instance(unit, bias, scores, joining), name == ""))

    first = [outcome(bandit, policy, given.horizon, SEARCH_RUNS, SEED) for _, bandit, _ in worlds]
    by_wrong = max(range(len(worlds)), key=lambda i: first[i].wrong)
    apart = [i for i in range(len(worlds)) if worlds[i][2]]
    by_undecided = max(apart, key=lambda i: (first[i].undecided, first[i].choices_95))
    wrong = outcome(worlds[by_wrong][1], policy, given.horizon, runs, SEED + 1)
    undecided = outcome(worlds[by_undecided][1], policy, given.horizon, runs, SEED + 1)
    return wrong, worlds[by_wrong][0], undecided, worlds[by_undecided][0]


def _admitted(given: Assumptions, rng: np.random.Generator) -> list[PiecewisePower]:
    """Return biases of all shapes, none stronger than was said."""
    found = biases(given, rng, 20 * BIASES)
    picked = [found[int(place)] for place in rng.permutation(len(found))[:BIASES]]
    if given.bonus is None:
        return picked
    most = math.log1p(given.bonus)
    rises = [math.log(bias.weights[-1] / bias.weights[0]) for bias in picked]
    return [
        bias if rise <= most else flattened(bias, most / rise)
        for bias, rise in zip(picked, rises, strict=True)
    ]


def extremes(unit: Assumptions) -> list[Bias]:
    """Return the biases that people think of first, as strong as was said."""
    return [Power(1.0)] if unit.bonus is None else [InGroupBonus(unit.bonus)]


def as_told(given: Assumptions, policy: RoundPolicy, runs: int) -> tuple[int, float, float]:
    """Return the ordinary test of the world as told, and mean and 95th percentile over it.

    Of the bias it is told how strong it is, or nothing; then it is as strong as a usual one.

    The best group is worth two thirds of the scale; at equal shares one rival scores less by the
    difference that matters, the others by up to twice that.
    """
    unit = given.on_unit_scale()
    bias = InGroupBonus(USUAL_BONUS if unit.bonus is None else unit.bonus)
    fair = bias.weight(1.0 / unit.groups)
    level = 2.0 / 3.0 * fair
    d = min(unit.smallest_difference, 0.45 * level)
    gaps = np.linspace(1.0, 2.0, unit.groups - 1) * d
    scores = [level - gap for gap in gaps] + [level]
    weight = bias.weight(0.0 if unit.judges == "recused" else 1.0 / unit.groups)
    noise = noise_of(unit, weight)
    bandit = instance(unit, bias, scores, Joining(part=unit.joining), noise)
    reach = float(norm.isf(unit.failure / (unit.groups - 1)) + norm.isf(1.0 - POWER))
    variances = [_variance(bandit.noise, mean, weight) for mean in bandit.true_means]
    sizes = [
        reach**2 * (variances[-1] + variance) / (weight * (bandit.true_means[-1] - mean)) ** 2
        for mean, variance in zip(bandit.true_means[:-1], variances[:-1], strict=True)
    ]
    test = unit.groups * math.ceil(max(sizes))
    found = outcome(bandit, policy, 10 * given.horizon, runs, SEED + 2)
    return test, found.choices / test, found.choices_95 / test


def _variance(noise: Noise, mean: float, weight: float) -> float:
    """Return the variance of an arm's feedback."""
    if isinstance(noise, Bernoulli):
        return weight * mean * (1.0 - weight * mean)
    laws = noise.finite_laws([mean])
    chances = np.diff(laws.cumulative[0], prepend=0.0)
    return float(weight**2 * (chances @ laws.values**2 - (chances @ laws.values) ** 2))


def measure(item: tuple[int, Assumptions], runs: int) -> Line:
    """Plan one situation, which has a number, and attack the plan."""
    number, given = item
    edge = at_the_edge(given)
    policy = policy_of(edge)
    rng = np.random.default_rng([SEED, number])
    wrong, wrong_in, undecided, undecided_in = attack(edge, policy, runs, rng)
    test, mean, most = as_told(edge, policy, runs)
    return Line(
        assumptions=edge.to_json() | {"failure": edge.failure},
        called_enough=edge is not given,  # or no number that anybody has would be
        runs=runs,
        wrong=wrong.wrong,
        wrong_in=wrong_in,
        undecided=undecided.undecided,
        undecided_in=undecided_in,
        ordinary_test=test,
        mean_ratio=mean,
        p95_ratio=most,
    )


def figures(lines: Sequence[Line]) -> dict[str, float]:
    """Return what all situations say."""
    found: dict[str, float] = {
        "plans.situations": len(lines),
        "plans.called_enough": sum(line.called_enough for line in lines),
        "plans.broken": sum(line.broken for line in lines),
        "plans.not_enough": sum(line.not_enough for line in lines),
    }
    for judges in JUDGES:
        some = [line for line in lines if line.assumptions["judges"] == judges]
        if some:
            found[f"plans.{judges}.mean_ratio"] = geometric_mean(line.mean_ratio for line in some)
            found[f"plans.{judges}.p95_ratio"] = geometric_mean(line.p95_ratio for line in some)
    return found


def table(lines: Sequence[Line]) -> str:
    """Return a line for each situation."""
    text = [f"{'judges':<10} {'K':>2} {'choices':>9} {'test':>6} {'mean':>6} {'95%':>6}  worst"]
    for line in lines:
        given = line.assumptions
        text.append(
            f"{given['judges']:<10} {given['groups']:>2} {given['horizon']:>9,}"
            f" {line.ordinary_test:>6,} {line.mean_ratio:>6.2f} {line.p95_ratio:>6.2f}"
            f"  {line.wrong:>3} wrong, {line.undecided:>3} undecided of {line.runs:,}"
        )
    return "\n".join(text)


if __name__ == "__main__":
    work = list(enumerate(situations()))
    sys.exit(main_of_lines(Lines(__doc__ or "", Line, work, measure, figures, table, RUNS)))
