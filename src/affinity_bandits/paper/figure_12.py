"""Figure 12: how Algorithm 1's regret grows with the number of arms depends on the bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Constant, Power, Sigmoid
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper.evidence import LEVEL, TWO_SIDED, student_interval
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import draw_band, line_style, new_figure
from affinity_bandits.policies import Elimination
from affinity_bandits.simulation.intervals import middle_runs

LABEL = "fig:scaleTmaxmin"
"""The paper gives Figure 12 the same label as Figure 11."""

NAMES = {
    "square": "$f(x) = x^2$",
    "linear": "$f(x) = x$",
    "sigmoid": "$f(x) = (1 + e^{-x})^{-1}$",
    "unbiased": "$f(x) = 1$",
}


def bias_models() -> dict[str, Bias]:
    """Return the bias models by their names here."""
    return {
        "square": Power(2.0),
        "linear": Power(1.0),
        "sigmoid": Sigmoid(),
        "unbiased": Constant(),
    }


@dataclass(frozen=True)
class Settings:
    """The paper gives the bias models and ten runs; the rest is ours."""

    replicates: int
    biases: Mapping[str, Bias] = field(default_factory=bias_models)
    arms: Sequence[int] = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    best: float = 0.9
    other: float = 0.2
    horizon: int = 10**15


def run(settings: Settings, runner: CellRunner) -> Data:
    """Take the regret of every run, for each bias model and number of arms."""
    grid = [(name, arms) for name in NAMES for arms in settings.arms]
    cells = []
    for name, arms in grid:
        means = (settings.best, *[settings.other] * (arms - 1))
        bandit = AffinityBandit(means, settings.biases[name], noise="gaussian")
        cells.append(Cell(bandit, Elimination(), settings.horizon))
    results = runner.results(cells, settings.replicates)
    rows = [
        (name, arms, replicate, float(regret), settings.horizon)
        for (name, arms), result in zip(grid, results, strict=True)
        for replicate, regret in enumerate(result.regret[0, :, -1])
    ]
    columns = zip(*rows, strict=True)
    return dict(
        zip(("bias", "arms", "replicate", "regret", "horizon"), map(list, columns), strict=True)
    )


def normalised(data: Data, name: str) -> tuple[FloatArray, FloatArray]:
    """Return numbers of arms, and regret / ((K - 1) log(12/pi^2 K^2 n)) by [arms, replicate].

    That is the regret of one suboptimal arm without the logarithm by which every round grows
    with K, so that what is left is the effect of the bias.
    """
    mine = column(data, "bias") == name
    arms, replicate = column(data, "arms")[mine], column(data, "replicate")[mine]
    horizon = int(column(data, "horizon")[0])
    counts = np.unique(arms)
    regret = column(data, "regret")[mine][np.lexsort((replicate, arms))]
    table = regret.reshape(len(counts), -1)
    logs = np.log(12.0 / math.pi**2 * counts**2) + np.log(horizon)
    return counts, table / ((counts - 1) * logs)[:, None]


def exponents(data: Data, name: str) -> FloatArray:
    """Return the fitted exponent of the normalised regret in K, one a replicate."""
    counts, table = normalised(data, name)
    slopes: FloatArray = np.polyfit(np.log(counts), np.log(table), 1)[0]
    return slopes


def claims(data: Data) -> list[Claim]:
    """Judge what the text says, and the orders f(1/K)^-2 that it illustrates."""
    counts, square = normalised(data, "square")
    others = [normalised(data, name)[1] for name in NAMES if name != "square"]
    largest = np.log(square) - np.log(np.maximum.reduce(others))
    faster = [
        exponents(data, "square") - exponents(data, name) for name in NAMES if name != "square"
    ]
    sigmoid = np.log(normalised(data, "sigmoid")[1]) - np.log(normalised(data, "unbiased")[1])
    return [
        _all_above(
            "the bias model f(x) = x^2 has a significantly larger regret scaling than the others",
            "exponent of K more than that of each other bias",
            faster,
            1.0,
        ),
        _all_above(
            "the difference becomes more pronounced as K increases",
            f"log ratio of the regret to the next largest, K = {counts[-1]} minus K = {counts[0]}",
            [largest[-1] - largest[0]],
            0.0,
        ),
        _between("the regret of a suboptimal arm grows as K^4 for f(x) = x^2", data, "square", 4.0),
        _between("the regret of a suboptimal arm grows as K^2 for f(x) = x", data, "linear", 2.0),
        _all_above(
            "the sigmoid's regret is larger than the unbiased setting's, at every K",
            "log ratio of the sigmoid's regret to the unbiased",
            list(sigmoid),
            0.0,
        ),
        _between("the sigmoid's scaling does not depend on K", data, "sigmoid", 0.0),
    ]


def _all_above(sentence: str, what: str, samples: list[FloatArray], threshold: float) -> Claim:
    """Judge the smallest of several lower bounds: if it is above, all are."""
    bounds = [student_interval(sample, TWO_SIDED) for sample in samples]
    mean, low, _ = min(bounds, key=lambda bound: float(bound[1]))
    cases = f", the smallest of {len(samples)}" if len(samples) > 1 else ""
    return Claim(
        sentence,
        LABEL,
        f"Student's lower bound of the mean {what} above {threshold:g}{cases}, level {LEVEL:.1%}",
        f"mean {float(mean):.4g}{cases}, lower bound {float(low):.4g}",
        bool(low > threshold),
    )


def _between(sentence: str, data: Data, name: str, order: float, slack: float = 0.25) -> Claim:
    mean, low, high = (float(x) for x in student_interval(exponents(data, name), TWO_SIDED))
    return Claim(
        sentence,
        LABEL,
        f"Student's bounds of the mean fitted exponent of K, regret over (K - 1) log(12/pi^2 K^2 "
        f"n), within {slack:g} of {order:g}, level {LEVEL:.1%} on each side",
        f"exponent {mean:.4g}, bounds {low:.4g} and {high:.4g}",
        order - slack < low and high < order + slack,
    )


def draw(data: Data) -> Any:
    """Draw the square root of the normalised regret against K, with the runs around the mean."""
    figure, axes = new_figure()
    for i, (name, shown) in enumerate(NAMES.items()):
        counts, table = normalised(data, name)
        roots = np.sqrt(table)
        mean = roots.mean(axis=1)
        _, low, high = middle_runs(roots, axis=1)
        style = line_style(i)
        axes.plot(counts, mean, marker="os^D"[i], markersize=3.5, label=shown, **style)
        draw_band(axes, counts, low, high, style["color"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("number of arms $K$")
    axes.set_ylabel(r"$\sqrt{\mathrm{Regret}(n)\, /\, ((K - 1) \log(12 K^2 n / \pi^2))}$")
    axes.legend(frameon=False, loc="upper left")
    return figure


ITEM = Item(
    identity="figure-12",
    title="Regret grows with the number of arms as the bias model says",
    labels=(LABEL,),
    notes=(
        "K Gaussian arms (sigma = 1), one with mean .9 and K - 1 with mean .2, T0_i = 1, "
        "n = 10^15, Algorithm 1 as published. The paper gives the bias models and ten runs, not "
        "the means, T0, the horizon, the range of K or what the regret is normalised by. n is "
        "large enough for every run to decide (64 arms under x^2 take 10^13 pulls). Drawn is "
        "sqrt(regret / ((K - 1) log(12/pi^2 K^2 n))), the root of the regret of one suboptimal arm "
        "without the logarithm in the rounds' lengths, which grows with K for every bias; theory "
        "says that it is of the order 1 / f(1/K). Rounds make steps between one power of two and "
        "the next. An exponent is fitted to each run of every K by least squares on logarithms. "
        "Bands hold the middle 90% of runs."
    ),
    settings={
        "quick": Settings(40),
        "full": Settings(1000),
        "as-published": Settings(10),
    },
    run=run,
    claims=claims,
    draw=draw,
)
