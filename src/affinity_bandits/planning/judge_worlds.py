"""Worlds of judges (`model.judges`) for plans: those of neutral blocks, and judges who differ.

A plan's spread is that of scores within a group. In these worlds it is made of the candidates'
quality and of errors; what single judges add for everybody comes on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base.displays import one_line
from affinity_bandits.model.judges import JudgeWorld
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.hardest_rounds import NEVER
from affinity_bandits.planning.runs import Runs
from affinity_bandits.policies.blocks import BlockPolicy
from affinity_bandits.simulation.among_judges import simulate_blocks

QUALITY, ERROR, JUDGES_OWN = 0.8, 0.6, 0.4
"""Parts of the spread: the quality within a group, the error of a score, and what single judges
add, about as in the audited interviews."""
WHOLE_POINTS = 0.5
"""The spread in points from which on scores are whole points."""
WIDEST = 50.0
"""Quality and errors spread at most so many times as much as scores, which are cut off."""
USUAL_SPREAD = 0.25
MOST_SCORES = 1_000_000
"""Of a run: worlds of judges are run score by score."""
HALVINGS = 60


class Steps(NamedTuple):
    """A scale with its ends and the distance of neighboring scores."""

    lowest: float
    highest: float
    unit: float

    def moments(self, quality: float, width: float) -> tuple[float, float]:
        """Return mean and standard deviation of scores around a quality.

        A score is at least `lowest + k unit` if quality and noise, whose standard deviation is
        `width`, are at least `lowest + (k - .5) unit`.
        """
        number = math.ceil((self.highest - self.lowest) / self.unit - 1e-9)
        mean = square = 0.0
        for k in range(1, number + 1):
            step = self.lowest + (k - 0.5) * self.unit
            above = 0.5 * math.erfc((step - quality) / (width * math.sqrt(2.0)))
            size = min(k * self.unit, self.highest - self.lowest)
            before = (k - 1) * self.unit
            mean += above * (size - before)
            square += above * (size**2 - before**2)
        return self.lowest + mean, math.sqrt(max(0.0, square - mean**2))


@dataclass(frozen=True)
class BlockWorld:
    """A world of judges in which neutral blocks are planned.

    Attributes:
        favored: what it is, in words.
        world: the judges and candidates.
    """

    favored: str
    world: JudgeWorld

    __repr__ = one_line

    def __str__(self) -> str:
        return self.favored


def block_world(given: Assumptions, difference: float | None = None) -> BlockWorld:
    """Return the world in which the costs of neutral blocks are measured.

    The best group, the last, leads all others by the difference that matters, or another one.
    Favors would change nothing: nobody scores their own group.
    """
    lead = given.smallest_difference if difference is None else difference
    words = "one person of a third group scores a candidate of each of the others"
    return BlockWorld(words, judge_world(given, lead))


def judge_world(given: Assumptions, lead: float, **changes: Any) -> JudgeWorld:
    """Return a world of judges in which the last group leads by so many points of mean scores.

    Mean scores lie around the middle of the scale, where scores vary most. Whoever judges, without
    favor, finds that lead.
    """
    span = given.span
    unit = 1.0 if float(span).is_integer() else 0.5 * (given.spread or span)
    if given.spread is None:
        spread, unit = USUAL_SPREAD * span, span
    else:
        if given.spread < WHOLE_POINTS:
            unit = 0.5 * given.spread
        spread = uncut_spread(given.spread, Steps(given.lowest, given.highest, unit))
    settings: dict[str, Any] = {
        "judges": given.judges_per_group,
        "outsiders": given.judges_per_group,
        "lowest": given.lowest,
        "highest": given.highest,
        "unit": unit,
        "spread": QUALITY * spread,
        "error": ERROR * spread,
        "judge_strictness": JUDGES_OWN * (given.spread or spread),
    } | changes
    best = min(given.best_mean, 0.5 * (given.lowest + given.highest + lead))
    means = [best - lead] * (given.groups - 1) + [best]
    width = math.hypot(settings["spread"], settings["error"], settings["judge_strictness"])
    steps = Steps(given.lowest, given.highest, unit)
    quality = tuple(quality_with_mean(mean, steps, width) for mean in means)
    return JudgeWorld(quality=quality, **settings)


def uncut_spread(wanted: float, steps: Steps) -> float:
    """Return the spread before rounding and cutting off with which scores spread as wanted.

    In the middle of the scale; at most `WIDEST` times the wanted one.
    """
    middle = 0.5 * (steps.lowest + steps.highest)
    low, high = 0.1 * wanted, WIDEST * wanted
    for _ in range(HALVINGS):
        width = math.sqrt(low * high)
        low, high = (width, high) if steps.moments(middle, width)[1] < wanted else (low, width)
    return low


def quality_with_mean(mean: float, steps: Steps, width: float) -> float:
    """Return the quality around which scores have that mean, once they are rounded and cut off."""
    span = steps.highest - steps.lowest
    low, high = steps.lowest - span - width, steps.highest + span + width
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if steps.moments(middle, width)[0] < mean else (low, middle)
    return low


def run_blocks(
    hard: BlockWorld, policy: BlockPolicy, horizon: int, replicates: int, seed: int
) -> Runs:
    """Run a block policy, with at most `MOST_SCORES` scores in a run."""
    found = simulate_blocks(policy, hard.world, min(horizon, MOST_SCORES), replicates, seed)
    wrong = found.dropped_best > 0
    decided = (found.decided > 0) & ~wrong
    return Runs(
        decided=np.where(decided, found.scores, NEVER),
        lost=np.where(wrong, found.scores, NEVER),
        pulls=found.pulls,
    )
