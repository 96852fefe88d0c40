"""Logs of decisions for `bench.audit`, drawn with rules of choice that look at past scores."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.audit import DecisionLog, decision_log
from affinity_bandits.bias import Bias, Constant
from affinity_bandits.bias.weights import weight
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies import HandicapElimination, Live
from affinity_bandits.simulation.compiled import compiled

RULES = (
    "round-robin",
    "ucb1",
    "epsilon-greedy",
    "thompson",
    "softmax",
    "compensating",
    "switch after success",
    "last score",
    "wait for a low",
)
"""The last one knows the levels: it waits until a group's scores are low by chance, and chooses it
from then on, so that its share rises while its scores return to their mean."""
DRIFTS = ("none", "rise", "step", "wave", "steady")
HANDICAP = "handicap"


class World(NamedTuple):
    """What a log is drawn from.

    Attributes:
        rule: of choice.
        means: true means of the groups.
        initial: the committee before the first choice.
        rows: of the log.
        stars: scores go up to so many, each a binomial number; 1 for scores of 0 and 1.
        bias: from share to weight.
        drift: of all means, or of the first group's if `alone`.
        alone: whether only the first group drifts.
        seats: of panels drawn at random, from all members with replacement; 0 without panels.
    """

    rule: str
    means: tuple[float, ...]
    initial: tuple[int, ...]
    rows: int
    stars: int = 4
    bias: Bias = Constant()
    drift: str = "none"
    alone: bool = False
    seats: int = 0


def drifting(drift: str, rows: int) -> FloatArray:
    """Return the factor of the means in each row."""
    time = np.arange(rows) / rows
    if drift == "rise":
        return np.asarray(0.7 + 0.3 * time)
    if drift == "step":
        return np.where(time < 0.4, 0.7, 1.0)
    if drift == "wave":
        return np.asarray(0.85 + 0.15 * np.sin(2.0 * np.pi * time))
    if drift == "steady":
        return np.asarray(np.exp(0.7 * (time - 1.0)))
    return np.ones(rows)


def drawn(world: World, seed: int) -> DecisionLog:
    """Return a log that is drawn anew for each seed."""
    rng = np.random.default_rng([seed, 88])
    groups = np.empty(world.rows, dtype=np.int64)
    scores, panel, pool = (np.empty(world.rows) for _ in range(3))
    uniforms = rng.random((world.rows, 3 + len(world.means) + world.stars + world.seats))
    factors = np.ones((world.rows, len(world.means)))
    factors[:, : 1 if world.alone else None] *= drifting(world.drift, world.rows)[:, None]
    means = np.array(world.means)
    bias = (world.bias.code, np.array(world.bias.parameters, dtype=np.float64))
    made = (groups, scores, panel, pool)
    if world.rule == HANDICAP:
        play_handicap(world, seed, factors, uniforms, made)
    else:
        compiled(play, allocates=True)(
            RULES.index(world.rule),
            means,
            *bias,
            np.array(world.initial, dtype=np.int64),
            world.stars,
            world.seats,
            factors,
            uniforms,
            made,
        )
    panels: dict[str, Any] = {"panel": panel, "drawn_from": pool} if world.seats else {}
    return decision_log(groups, scores, initial=dict(enumerate(world.initial)), **panels)


def play_handicap(
    world: World,
    seed: int,
    factors: FloatArray,
    uniforms: FloatArray,
    made: tuple[IntArray, FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill in the choices of the elimination with a handicap, and their scores."""
    live = Live(HandicapElimination(), len(world.means), world.rows, seed)
    members = np.array(world.initial, dtype=np.int64)
    for row in range(world.rows):
        arm = live.ask()
        share = members[arm] / members.sum()
        chance = world.means[arm] * factors[row, arm] * world.bias.weight(float(share))
        score = float((uniforms[row, : world.stars] < chance).sum()) / world.stars
        live.tell(arm, score)
        made[0][row], made[1][row] = arm, score
        members[arm] += 1


def play(
    rule: int,
    means: FloatArray,
    code: int,
    parameters: FloatArray,
    members: IntArray,
    stars: int,
    seats: int,
    factors: FloatArray,
    uniforms: FloatArray,
    made: tuple[IntArray, FloatArray, FloatArray, FloatArray],
) -> None:
    """Fill in choices and scores; a kernel."""
    groups, scores, panel, pool = made
    arms = len(means)
    counts = np.zeros(arms)
    sums = np.zeros(arms)
    last = 0
    latest = 0.0
    gone = False
    low = 0.0
    for row in range(len(groups)):
        numbers = uniforms[row]
        if row < arms and rule < 6:
            arm = row
        else:
            arm = choose(rule, row, arms, counts, sums, means, last, latest, gone, numbers)
        total = 0
        for one in range(arms):
            total += members[one]
        share = members[arm] / total
        pool[row] = share
        at = 3 + arms
        if seats > 0:
            own = 0
            for seat in range(seats):
                own += numbers[at + stars + seat] < share
            panel[row] = own / seats
            share = panel[row]
        chance = means[arm] * factors[row, arm] * weight(code, parameters, share)
        given = 0
        for star in range(stars):
            given += numbers[at + star] < chance
        score = given / stars
        groups[row] = arm
        scores[row] = score
        counts[arm] += 1.0
        sums[arm] += score
        members[arm] += 1
        last = arm
        latest = score
        if arm == 0:
            low += score - means[0]
            if low < -1.5 * math.sqrt(counts[0] * means[0] * (1.0 - means[0]) / stars):
                gone = gone or counts[0] >= 5.0


def choose(
    rule: int,
    row: int,
    arms: int,
    counts: FloatArray,
    sums: FloatArray,
    means: FloatArray,
    last: int,
    latest: float,
    gone: bool,
    numbers: FloatArray,
) -> int:
    """Return the next choice of a rule, by its place in `RULES`; a kernel."""
    other = (last + 1 + int(numbers[1] * (arms - 1))) % arms
    anyone = int(numbers[1] * arms)
    if rule == 0:
        return row % arms
    if rule == 6:
        return other if row > 0 and latest > means[last] else last
    if rule == 7:
        return last if row > 0 and latest > 0.5 and numbers[0] < 0.9 else other
    if rule == 8:
        return 0 if gone or row % 10 == 0 else 1 + int(numbers[1] * (arms - 1))
    if (rule == 2 and numbers[0] < 0.1) or (rule == 5 and numbers[0] < 0.2):
        return anyone
    best = -math.inf
    arm = 0
    for one in range(arms):
        index = sums[one] / counts[one]
        chance = min(max(numbers[3 + one], 1e-9), 1.0 - 1e-9)
        if rule == 1:
            index += math.sqrt(2.0 * math.log(row + 1.0) / counts[one])
        elif rule == 3:
            # A logistic number of the standard deviation that a posterior would have.
            index += 0.28 * math.log(chance / (1.0 - chance)) / math.sqrt(counts[one] + 1.0)
        elif rule == 4:
            index = 6.0 * index - math.log(-math.log(chance))
        elif rule == 5:
            index = -index
        if index > best:
            best = index
            arm = one
    return arm
