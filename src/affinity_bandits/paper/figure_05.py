"""Figure 5: UCB meets a frozen environment in which the worse arm is best, and never recovers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.experiments import Cell
from affinity_bandits.paper.evidence import (
    TWO_SIDED,
    mean_above,
    number_within,
    proportion_above,
)
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import draw_estimates, line_style, new_panels
from affinity_bandits.policies import UCB1
from affinity_bandits.simulation.intervals import mean_interval
from affinity_bandits.theory.ucb import STATIC_PULLS, ucb_linear_regret

SLOPE = 0.098
PART = 0.99
ENVIRONMENTS = {"true": "true means", "biased": "biased, at t = 1", "frozen": "frozen"}


@dataclass(frozen=True)
class Settings:
    """The theorem's own; how far beyond its first horizon we look is ours."""

    replicates: int
    horizon: int
    horizons: int = 9
    bias: Bias = field(default_factory=Power)
    means: tuple[float, float] = (0.9, 0.8)
    initial: tuple[int, int] = (10, round(STATIC_PULLS**1.5))
    frozen: int = STATIC_PULLS

    @property
    def first(self) -> int:
        """t_1 of `lem:sufficientGoodEvent`, the first horizon the theorem speaks of."""
        return self.frozen - self.initial[0] + 1


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count pulls of the suboptimal arm at horizons from the theorem's first one on."""
    bandit = AffinityBandit(settings.means, settings.bias, settings.initial)
    first = min(settings.first, settings.horizon)
    times = np.unique(np.geomspace(first, settings.horizon, settings.horizons).astype(np.int64))
    cell = Cell(bandit, UCB1(), settings.horizon, tuple(int(t) for t in times))
    (result,) = runner.results([cell], settings.replicates)
    pulls = result.pulls[0, :, :, 1]
    total = settings.frozen + settings.initial[1]
    shares = {
        "biased": [pulled / sum(settings.initial) for pulled in settings.initial],
        "frozen": [settings.frozen / total, settings.initial[1] / total],
    }
    proof = ucb_linear_regret(settings.frozen, settings.initial, settings.means)
    constants: dict[str, float] = {
        "eps": proof.eps,
        "condition_has": proof.condition_one[0],
        "condition_needs": proof.condition_one[1],
        "failure_bound": 1.0 - proof.probability,
    }
    for arm in (0, 1):
        constants[f"true_{arm + 1}"] = settings.means[arm]
        for name, given in shares.items():
            constants[f"{name}_{arm + 1}"] = bandit.expected_feedback(arm, given[arm])
    return {
        "n": np.tile(result.checkpoints, len(pulls)),
        "replicate": np.repeat(result.replicates, len(result.checkpoints)),
        "suboptimal_pulls": pulls.ravel(),
        "regret": result.regret[0].ravel(),
        **{name: np.full(pulls.size, value) for name, value in constants.items()},
    }


def claims(data: Data) -> list[Claim]:
    """Judge the theorem at the horizon at which it does worst, and its choice of numbers."""
    n, pulls = column(data, "n"), column(data, "suboptimal_pulls")
    slopes = {time: (column(data, "regret") / n)[n == time] for time in np.unique(n)}
    possible = (0.0, _gap(data))
    lowest = min(
        slopes, key=lambda time: float(mean_interval(slopes[time], *possible, TWO_SIDED)[1])
    )
    hits = {time: int((pulls >= PART * n)[n == time].sum()) for time in slopes}
    fewest = min(hits, key=lambda time: hits[time])
    frozen = [float(column(data, f"frozen_{arm}")[0]) for arm in (1, 2)]
    biased = [float(column(data, f"biased_{arm}")[0]) for arm in (1, 2)]
    return [
        mean_above(
            f"UCB suffers linear regret: at least {SLOPE} n at each of {len(slopes)} horizons from "
            f"{n.min():,} to {n.max():,} (the worst: {lowest:,})",
            "thm:ucbLinearRegretAppendix",
            slopes[lowest],
            SLOPE,
            possible,
            " n",
        ),
        proportion_above(
            f"P(T_2(n) >= {PART} n) >= {PART} at each of them (the worst: {fewest:,})",
            "lem:ucbParameterChoicesAppendix",
            hits[fewest],
            int((n == fewest).sum()),
            PART,
        ),
        Claim(
            "At t = 1 the frozen means lie between the biased ones, and the suboptimal arm is best "
            "in both environments",
            "fig:UCB",
            "biased_1 <= frozen_1 < frozen_2 <= biased_2",
            f"{biased[0]:.2g} <= {frozen[0]:.2g} < {frozen[1]:.4f} <= {biased[1]:.4f}",
            biased[0] <= frozen[0] < frozen[1] <= biased[1],
        ),
        number_within(
            "The chosen numbers satisfy eps t_1 >= max(8 / gap^2, 1 + 8 log(t_1) / gap^2)",
            "eq:ucbNegResultConditionOne",
            float((column(data, "condition_has") - column(data, "condition_needs"))[0]),
            0.0,
            math.inf,
            "the left side less the right one",
        ),
        number_within(
            "They make the bound on P(T_2(n) < (1 - eps) n) at most 0.01, with eps <= 0.01",
            "eq:ucbNegResultConditionTwo",
            max(float(column(data, "failure_bound")[0]), float(column(data, "eps")[0])),
            0.0,
            1.0 - PART,
            "the larger of the bound and eps",
        ),
    ]


def draw(data: Data) -> Any:
    """Draw the three environments on the left and regret over n on the right."""
    figure, (left, right) = new_panels(1, 2, 8.6, 3.8, width_ratios=(1.0, 1.15))
    left.set_axisbelow(True)
    places = np.arange(len(ENVIRONMENTS))
    for arm, label in ((1, "arm 1, truly better"), (2, "arm 2, favoured")):
        heights = [float(column(data, f"{name}_{arm}")[0]) for name in ENVIRONMENTS]
        bars = left.bar(
            places + 0.38 * (arm - 1.5),
            heights,
            0.36,
            label=label,
            color=line_style(arm - 1)["color"],
        )
        left.bar_label(bars, [_short(value) for value in heights], padding=2, fontsize=8)
    left.set_xticks(places, list(ENVIRONMENTS.values()))
    left.grid(visible=False, axis="x")
    left.set_ylim(0, 1.2)
    left.set_yticks(np.linspace(0, 1, 6))
    left.set_ylabel("mean feedback")
    left.legend(frameon=False, loc="upper center", ncols=2, fontsize=8.5)

    n = column(data, "n")
    times = np.unique(n)
    bands = np.array(
        [mean_interval((column(data, "regret") / n)[n == t], 0.0, _gap(data)) for t in times]
    )
    draw_estimates(right, times, bands, 0, "UCB, mean")
    right.axhline(SLOPE, color="black", linestyle="--", linewidth=1.2, label=f"the bound, {SLOPE}")
    right.set_xscale("log")
    ticks = [t for t in (2e4, 1e5, 1e6, 1e7) if times[0] <= t <= times[-1]]
    right.set_xticks(ticks, [f"{t:,.0f}" for t in ticks])
    right.xaxis.set_minor_formatter("")
    right.set_ylim(min(0.0974, 0.99 * float(bands[:, 1].min())), 0.1004)
    right.set_xlabel("horizon n")
    right.set_ylabel("regret / n")
    right.legend(frameon=False, loc="center")
    return figure


def _gap(data: Data) -> float:
    """Return the most that regret over n can be."""
    return abs(float(column(data, "true_1")[0]) - float(column(data, "true_2")[0]))


def _short(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-") if value < 1e-3 else f"{value:.3f}".rstrip("0")


ITEM = Item(
    identity="figure-5",
    title="UCB suffers linear regret when the worse arm starts with the larger share",
    labels=("thm:ucbLinearRegretAppendix", "fig:UCB", "lem:ucbParameterChoicesAppendix"),
    notes=(
        "Two Bernoulli arms with means (.9, .8), f(x) = x, T0 = (10, 16216^1.5), rounded to a "
        "whole number; the frozen environment has 16216 in place of 10, as the arithmetic of the "
        "proof does (the lemma's statement has the digits as 16126, with which its first condition "
        "fails). The second condition is taken with delta where 1 - delta is printed. The theorem "
        "speaks of every n >= 16207; we look at horizons evenly spaced in the logarithm from "
        "there, each claim at the one where it does worst. Bands are 95% intervals of the mean."
    ),
    settings={
        "quick": Settings(700, 150_000),
        "full": Settings(2000, 1_000_000),
        "as-published": Settings(600, 10_000_000),
    },
    run=run,
    claims=claims,
    draw=draw,
)
