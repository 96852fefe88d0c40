"""Figures 6 to 9: Algorithm 1 against its rivals, and its pulls as the gap grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, Power
from affinity_bandits.model.noise import Gaussian
from affinity_bandits.paper.item import (
    LEVEL,
    TWO_SIDED,
    CellRunner,
    Claim,
    Data,
    Item,
    column,
    draw_groups,
    in_every_case,
    mean_above,
    per_run,
    proportion_above,
    proportion_below,
    student_interval,
)
from affinity_bandits.plots.style import METHODS, draw_band, new_figure
from affinity_bandits.policies import Elimination
from affinity_bandits.policies.elimination import PublishedSchedule, Schedule
from affinity_bandits.simulation.intervals import mean_interval, middle_runs, proportion_interval

LABEL_6 = "fig:CompareAlgs"
OURS = "elimination"
RIVALS = {"efficient-ucb-v": "Efficient-UCBV", "lucb": "LUCB"}
COMPARED = {OURS: "Algorithm 1", **RIVALS}
LAST_PART = 0.1
"""The fraction of the horizon at its end in which pulls are counted separately."""
INITIAL_GAPS = (10, 30, 100, 300, 1000, 3000, 8000, 11_000, 16_000)
NOTES_6 = (
    "Two Gaussian arms with means (.4, .6) and variance 1, f(x) = x, 10 runs as published. The "
    "paper gives neither n nor initial pulls: n = 2,000,000, in which Algorithm 1 plays five "
    "rounds, T0_2 = 10 and T0_1 = 10 + gap. LUCB has delta = .05 and sigma = 1 and commits to its "
    "winner; Efficient-UCBV has rho = 1/2 and psi = n/K^2. With two arms LUCB pulls both in turn "
    "until it decides, so it errs only where the initial gap outlasts its decision, from about "
    "10,000 on, while Efficient-UCBV errs in a good part of the runs at every gap; Algorithm 1 is "
    "deceived too from about 20,000 on, which is Figure 11."
)


@dataclass(frozen=True)
class RivalSettings:
    """Repeats and gaps; the rivals, which are far slower, may run at fewer gaps."""

    replicates: int
    rival_gaps: Sequence[int] = INITIAL_GAPS
    gaps: Sequence[int] = INITIAL_GAPS
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.4, 0.6)
    second: int = 10
    horizon: int = 2_000_000


def run_6(settings: RivalSettings, runner: CellRunner) -> Data:
    """Count the pulls of arm 1 in every run, in total and in the last part of the horizon."""
    n, runs = settings.horizon, settings.replicates
    grid = [(OURS, gap) for gap in settings.gaps]
    grid += [(policy, gap) for policy in RIVALS for gap in settings.rival_gaps]
    cells = []
    for policy, gap in grid:
        initial = (settings.second + gap, settings.second)
        bandit = AffinityBandit(settings.means, settings.bias, initial, Gaussian())
        cells.append(Cell(bandit, policy_from_json(policy), n, (round((1.0 - LAST_PART) * n),)))
    pulls = np.stack([result.pulls[0, :, :, 0] for result in runner.results(cells, runs)])
    points = {
        "policy": [policy for policy, _ in grid],
        "gap": [gap for _, gap in grid],
        "horizon": [n] * len(grid),
    }
    return {
        **per_run(points, runs),
        "pulls": pulls[:, :, 1].ravel(),
        "late_pulls": (pulls[:, :, 1] - pulls[:, :, 0]).ravel(),
    }


def claims_6(data: Data) -> list[Claim]:
    """Judge who pulls arm 1 more than half of the time, and at which gap."""
    policy, gap = column(data, "policy"), column(data, "gap")
    wrong = column(data, "pulls") > column(data, "horizon") / 2
    at = {name: (policy == name) & (gap == gap.max()) for name in RIVALS}
    return [
        proportion_below(
            "Algorithm 1 succeeds: at no gap shown does it pull arm 1 more than half of the time",
            LABEL_6,
            int(wrong[policy == OURS].sum()),
            int((policy == OURS).sum()),
            0.1,
        ),
        *(
            proportion_above(
                f"{shown} pulls arm 1 more than half of the time in most runs when the gap of "
                f"initial pulls is large ({gap.max():,})",
                LABEL_6,
                int(wrong[at[name]].sum()),
                int(at[name].sum()),
                0.5,
            )
            for name, shown in RIVALS.items()
        ),
    ]


def claims_7(data: Data) -> list[Claim]:
    """Judge whose pulls of arm 1 grow with n to the end of the horizon."""
    policy, gap, n = column(data, "policy"), column(data, "gap"), column(data, "horizon")
    pulls, late = column(data, "pulls"), column(data, "late_pulls")
    found = []
    for name, shown in RIVALS.items():
        largest = (policy == name) & (gap == gap.max())
        found += [
            mean_above(
                f"{shown} suffers linear regret when the gap of initial pulls is large "
                f"({gap.max():,}): E T_1(n) is more than n/2",
                LABEL_6,
                pulls[largest] / n[largest],
                0.5,
                (0.0, 1.0),
                " n",
            ),
            mean_above(
                f"{shown} still pulls arm 1 more often than not in the last tenth of the horizon",
                LABEL_6,
                late[largest] / (LAST_PART * n[largest]),
                0.5,
                (0.0, 1.0),
                " of those pulls",
            ),
        ]
    ours = proportion_below(
        "Algorithm 1 does not: at every gap shown it has stopped pulling arm 1 before the last "
        "tenth of the horizon",
        LABEL_6,
        int((late[policy == OURS] > 0).sum()),
        int((policy == OURS).sum()),
        0.1,
    )
    return [*found, ours]


def draw_6(data: Data) -> Any:
    """Draw the fraction of failed runs against the gap, with exact 95% intervals."""
    wrong = column(data, "pulls") > column(data, "horizon") / 2

    def interval(rows: Any) -> Any:
        return proportion_interval(int(wrong[rows].sum()), int(rows.sum()))

    figure, axes = _draw_groups_6(data, interval)
    axes.set(ylabel="fraction of runs with $T_1(n) > n/2$", ylim=(-0.02, 1.02))
    return figure


def draw_7(data: Data) -> Any:
    """Draw the mean of T_1(n) against the gap, with 95% intervals."""
    pulls, n = column(data, "pulls"), float(column(data, "horizon")[0])
    figure, axes = _draw_groups_6(data, lambda rows: mean_interval(pulls[rows], 0.0, n))
    axes.axhline(n, color="0.4", linewidth=0.8, linestyle=":")
    axes.annotate("n", (0.005, n), xycoords=("axes fraction", "data"), va="bottom", color="0.3")
    axes.set(ylabel="pulls of the suboptimal arm, mean $T_1(n)$", ylim=(0.0, 1.08 * n))
    return figure


def _draw_groups_6(data: Data, interval: Any) -> Any:
    figure, axes = new_figure()
    draw_groups(axes, data, "policy", COMPARED, "gap", interval)
    axes.set_xscale("log")
    axes.set_xlabel(r"gap of initial arm pulls, $T^0_{\mathrm{max}} - T^0_{\mathrm{min}}$")
    axes.legend(frameon=False, loc="center", bbox_to_anchor=(0.5, 0.5))
    return figure, axes


SETTINGS_6 = {
    "quick": RivalSettings(10, (100, 16_000)),
    "full": RivalSettings(50),
    "as-published": RivalSettings(10),
}
FIGURE_6 = Item(
    identity="figure-6",
    title="Algorithm 1 succeeds where Efficient-UCBV and LUCB mostly pull the wrong arm",
    labels=(LABEL_6,),
    notes=f"{NOTES_6} Bands are exact 95% intervals.",
    settings=SETTINGS_6,
    run=run_6,
    claims=claims_6,
    draw=draw_6,
)
FIGURE_7 = Item(
    identity="figure-7",
    title="Efficient-UCBV and LUCB pull the wrong arm linearly often, Algorithm 1 does not",
    labels=(LABEL_6,),
    notes=f"{NOTES_6} Bands are 95% intervals of the mean.",
    settings=SETTINGS_6,
    run=run_6,
    claims=claims_7,
    draw=draw_7,
)


ARMS = 2
LABEL_8, LABEL_9 = "fig:scaleGap", "fig:scaleGapInv"
SURE = 5.0
"""Standard deviations from a threshold beyond which chance moves no run across it."""
BESIDE = (0.12, 0.18)
"""Distance in octaves of the gaps that bracket a step: about 2.5 of its standard deviations."""
SLOPES = (0.85, 1.15)
"""Allowed slopes. A whole number of octaves of steps bends a fitted slope by less than .05, and
the slowly growing logarithm in m_r by as much again."""
NOTES_8 = (
    "Two Gaussian arms with variance 1, f(x) = x, mean of the suboptimal arm fixed and that of the "
    "optimal arm varied, 3 runs, as published. The paper gives no numbers: mu_1 = .2, T0 = (1, 1), "
    "n = 10^12, which every run decides long before, and Delta/K over the five octaves around "
    "2^-2, ..., 2^-6, sixteen gaps an octave, evenly spaced in the logarithm, none on a power of "
    "two."
)


@dataclass(frozen=True)
class GapSettings:
    """Gaps as exponents: Delta/K = 2**-x for x between these, `per_octave` per unit of x."""

    replicates: int
    bias: Bias = field(default_factory=Power)
    schedule: Schedule = field(default_factory=PublishedSchedule)
    first_mean: float = 0.2
    exponents: Sequence[float] = (1.5, 6.5)
    per_octave: int = 16
    horizon: int = 10**12


def run_8(settings: GapSettings, runner: CellRunner) -> Data:
    """Count the pulls of the suboptimal arm per gap and run."""
    low, high = settings.exponents
    count = round((high - low) * settings.per_octave)
    effective = 2.0 ** -(low + (np.arange(count) + 0.5) / settings.per_octave)
    cells = []
    for one in effective.tolist():
        means = (settings.first_mean, settings.first_mean + ARMS * one)
        bandit = AffinityBandit(means, settings.bias, noise=Gaussian())
        cells.append(Cell(bandit, Elimination(settings.schedule), settings.horizon))
    results = runner.results(cells, settings.replicates)
    # The paper's prediction uses the published schedule, whichever schedule runs.
    pulls, distances = zip(
        *[predict_pulls(one, settings.horizon) for one in effective.tolist()], strict=True
    )
    points = {
        "effective_gap": effective,
        "gap": ARMS * effective,
        "expected_pulls": pulls,
        "distance": distances,
    }
    return {
        **per_run(points, settings.replicates),
        "pulls": np.concatenate([result.pulls[0, :, -1, 0] for result in results]),
    }


def predict_pulls(effective: float, horizon: int) -> tuple[int, float]:
    """Return the pulls that the paper predicts for a gap, and their distance from a step.

    If the observed means are the true ones divided by K, the suboptimal arm is dropped after the
    first round r with 2**-r < Delta/K, after 1 + m_1 + ... + m_r pulls. The distance to the nearest
    threshold is in standard deviations, sqrt(2 / m_r), of the difference of two means.
    """
    schedule = PublishedSchedule()
    pulls, number, nearest = 1, 0, math.inf
    dropped = False
    while not dropped:
        number += 1
        repetitions = schedule.repetitions(number, ARMS, horizon)
        pulls += repetitions
        lag = effective - schedule.threshold(number)
        nearest = min(nearest, abs(lag) / math.sqrt(2.0 / repetitions))
        dropped = lag > 0.0
    return pulls, nearest


def by_run(data: Data, name: str) -> FloatArray:
    """Return a column as [gap, run]."""
    values = np.asarray(data[name], dtype=np.float64)
    return values.reshape(-1, len(np.unique(np.asarray(data["run"]))))


def claims_8(data: Data) -> list[Claim]:
    """Judge that pulls fall, that they fall only at the steps, and where the steps are."""
    pulls, said = by_run(data, "pulls"), by_run(data, "expected_pulls")
    effective = by_run(data, "effective_gap")[:, 0]
    octave = int(np.searchsorted(-effective, -effective[0] / 2.0))
    # Distance from the nearest 2**-i in octaves, the sign aside.
    exponents = np.log2(effective)
    offset = np.abs(exponents - np.round(exponents))
    beside = (offset > BESIDE[0]) & (offset < BESIDE[1])
    steps = len(np.unique(np.round(exponents[beside])))
    sure = by_run(data, "distance")[:, 0] > SURE
    return [
        never_rises(pulls),
        fewer(np.log2(pulls[octave:] / pulls[:-octave])),
        proportion_above(
            f"The change points occur when the gap divided by K is 2^-i: about a tenth below and "
            f"above each of {steps} such points, a run needs the longer and the shorter series of "
            "rounds",
            LABEL_8,
            int((pulls == said)[beside].sum()),
            pulls[beside].size,
            0.75,
        ),
        in_every_case(
            "Between the change points nothing changes: T_1(n) is what the rounds up to the first "
            f"with 2^-r < Delta/K take (gaps {SURE:g} standard deviations away from a step)",
            LABEL_8,
            int((pulls != said)[sure].sum()),
            pulls[sure].size,
            "runs",
        ),
    ]


def fewer(octaves: FloatArray) -> Claim:
    """Claim that pulls are fewer at twice the gap, from log2 of their ratio by [gap, run]."""
    mean, low, _ = student_interval(octaves.mean(axis=0), TWO_SIDED)
    return Claim(
        "As the suboptimality gap increases, the expected suboptimal arm pulls decrease: at "
        "twice the gap they are fewer",
        LABEL_8,
        f"Student's lower bound of the mean logarithm of their ratio above 0, level {LEVEL:.1%}",
        f"mean {float(mean):.4g} for log2 T_1(n) at a gap less at twice the gap, over "
        f"{len(octaves)} gaps, in {octaves.shape[1]} runs, lower bound {float(low):.4g}",
        bool(low > 0.0),
    )


def never_rises(pulls: FloatArray) -> Claim:
    """Claim that every mean is at most that of the next smaller gap, up to chance."""
    # Gaps descend along the first axis; a rise is a mean larger at the larger of two neighbors.
    runs = pulls.shape[1]
    rises = pulls[:-1] - pulls[1:]
    means, errors = rises.mean(axis=1), rises.std(axis=1, ddof=1) / np.sqrt(runs)
    # Between steps all runs agree, and a difference without spread is 0 or certain.
    certain = np.where(means > 0.0, np.inf, np.where(means < 0.0, -np.inf, 0.0))
    worst = float(np.divide(means, errors, out=certain, where=errors > 0.0).max())
    from scipy.special import stdtr

    chance = float(stdtr(runs - 1, -worst)) * len(means)
    return Claim(
        "As the suboptimality gap increases, the expected suboptimal arm pulls decrease: nowhere "
        "do they rise",
        LABEL_8,
        f"Student's test of every pair of neighboring gaps for a rise, none found at the joint "
        f"level {LEVEL:.1%}",
        f"{len(means)} pairs, the largest rise has t = {worst:.3g}, joint p-value "
        f"{min(1.0, chance):.3g}",
        chance > 1.0 - LEVEL,
    )


def claims_9(data: Data) -> list[Claim]:
    """Judge the exponent by the slope of log T_1 against log(1 / Delta^2) in every run."""
    x = -2.0 * np.log(by_run(data, "gap")[:, 0])
    x = x - x.mean()
    slopes = x @ np.log(by_run(data, "pulls")) / (x @ x)
    mean, low, high = (float(end) for end in student_interval(slopes, TWO_SIDED))
    return [
        Claim(
            "The expected plays of the suboptimal arm scale proportionally to 1/Delta^2",
            LABEL_9,
            f"Student's bounds of the slope of log T_1 against log(1/Delta^2), over a whole number "
            f"of octaves, inside [{SLOPES[0]:g}, {SLOPES[1]:g}], level {LEVEL:.1%} each",
            f"slope {mean:.4g}, bounds {low:.4g} and {high:.4g}",
            SLOPES[0] < low and high < SLOPES[1],
        )
    ]


def draw_8(data: Data) -> Any:
    """Draw the mean pulls against Delta/K, with the runs around it and a line at every 2^-i."""
    figure, axes = new_figure()
    effective = by_run(data, "effective_gap")[:, 0]
    powers = np.arange(np.ceil(np.log2(effective[-1])), np.floor(np.log2(effective[0])) + 1)
    for i, power in enumerate(powers):
        label = r"$\Delta / K = 2^{-i}$" if i == 0 else None
        axes.axvline(2.0**power, color="0.35", linewidth=0.9, linestyle="--", label=label)
    _draw_pulls(axes, effective, by_run(data, "pulls"))
    axes.set_xscale("log", base=2)
    axes.set_xlabel(r"effective suboptimality gap $\Delta / K$")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


def draw_9(data: Data) -> Any:
    """Draw the mean pulls against 1/Delta^2, with the runs around it and a line of slope 1."""
    figure, axes = new_figure()
    x, pulls = by_run(data, "gap")[:, 0] ** -2.0, by_run(data, "pulls")
    scale = np.exp(np.mean(np.log(pulls.mean(axis=1) / x)))
    label = r"proportional to $1/\Delta^2$"
    axes.plot(x, scale * x, color="0.35", linewidth=1.2, linestyle="--", label=label)
    _draw_pulls(axes, x, pulls)
    axes.set(xscale="log", xlabel=r"$1 / \Delta^2$")
    axes.legend(frameon=False, loc="upper left")
    return figure


def _draw_pulls(axes: Any, x: FloatArray, pulls: FloatArray) -> None:
    mean = pulls.mean(axis=1)
    _, low, high = middle_runs(pulls, axis=1)
    draw_band(axes, x, low, high, METHODS[1])
    axes.plot(x, mean, color=METHODS[1], marker=".", markersize=4, label="Algorithm 1")
    axes.set(yscale="log", ylim=(mean.min() / 2.0, mean.max() * 2.0))
    axes.set_ylabel("pulls of the suboptimal arm, mean $T_1(n)$")


SETTINGS_8 = {"quick": GapSettings(50), "full": GapSettings(1000), "as-published": GapSettings(3)}
FIGURE_8 = Item(
    identity="figure-8",
    title="Pulls of the suboptimal arm fall as the gap grows, in steps at Delta/K = 2^-i",
    labels=(LABEL_8,),
    notes=(
        f"{NOTES_8} The noise of a round's means blurs a step by about 4.5% of 2^-i, one "
        "standard deviation. Bands hold the middle 90% of runs."
    ),
    settings=SETTINGS_8,
    run=run_8,
    claims=claims_8,
    draw=draw_8,
)
FIGURE_9 = Item(
    identity="figure-9",
    title="Pulls of the suboptimal arm scale as 1/Delta^2",
    labels=(LABEL_9,),
    notes=(
        f"{NOTES_8} Both axes are logarithmic, so that proportionality is a line of slope 1. "
        "Bands hold the middle 90% of runs."
    ),
    settings=SETTINGS_8,
    run=run_8,
    claims=claims_9,
    draw=draw_9,
)
