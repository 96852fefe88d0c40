"""Figure 8: the pulls of the suboptimal arm fall as the gap grows, in steps at 2^-i."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtr

from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper import gaps
from affinity_bandits.paper.evidence import (
    LEVEL,
    TWO_SIDED,
    always,
    proportion_above,
    student_interval,
)
from affinity_bandits.paper.item import Claim, Data, Item
from affinity_bandits.plots.style import COLOURS, draw_band, new_figure
from affinity_bandits.simulation.intervals import middle_runs

LABEL = "fig:scaleGap"
SURE = 5.0
"""Standard deviations from a threshold beyond which chance moves no run across it."""

BESIDE = (0.12, 0.18)
"""How far, in octaves, the gaps lie that bracket a step: about 2.5 of its standard deviations."""


def claims(data: Data) -> list[Claim]:
    """Judge that pulls fall, that they fall only at the steps, and where these are."""
    pulls = gaps.by_run(data, "pulls")
    said = gaps.by_run(data, "expected_pulls")
    effective = gaps.by_run(data, "effective_gap")[:, 0]
    octave = int(np.searchsorted(-effective, -effective[0] / 2.0))
    found = [
        never_rises(pulls),
        fewer(np.log2(pulls[octave:] / pulls[:-octave])),
    ]
    # Distance from the nearest 2**-i in octaves, the sign aside.
    exponents = np.log2(effective)
    offset = np.abs(exponents - np.round(exponents))
    beside = (offset > BESIDE[0]) & (offset < BESIDE[1])
    steps = len(np.unique(np.round(exponents[beside])))
    found.append(
        proportion_above(
            f"The change points occur when the gap divided by K is 2^-i: about a tenth below and "
            f"above each of {steps} such points, a run needs the longer and the shorter series of "
            "rounds",
            LABEL,
            int((pulls == said)[beside].sum()),
            pulls[beside].size,
            0.75,
        )
    )
    sure = gaps.by_run(data, "distance")[:, 0] > SURE
    found.append(
        always(
            "Between the change points nothing changes: T_1(n) is what the rounds up to the first "
            f"with 2^-r < Delta/K take (gaps {SURE:g} standard deviations away from a step)",
            LABEL,
            int((pulls != said)[sure].sum()),
            pulls[sure].size,
            "runs",
        )
    )
    return found


def fewer(octaves: FloatArray) -> Claim:
    """Claim that pulls are fewer at twice the gap, from log2 of their ratio by [gap, run]."""
    mean, low, _ = student_interval(octaves.mean(axis=0), TWO_SIDED)
    return Claim(
        "As the suboptimality gap increases, the expected suboptimal arm pulls decrease: at "
        "twice the gap they are fewer",
        LABEL,
        f"Student's lower bound of the mean logarithm of their ratio above 0, level {LEVEL:.1%}",
        f"mean {float(mean):.4g} for log2 T_1(n) at a gap less at twice the gap, over "
        f"{len(octaves)} gaps, in {octaves.shape[1]} runs, lower bound {float(low):.4g}",
        bool(low > 0.0),
    )


def never_rises(pulls: FloatArray) -> Claim:
    """Claim that no mean is above that of the next smaller gap by more than chance explains."""
    # Gaps descend along the first axis; a rise is a mean larger at the larger of two neighbours.
    runs = pulls.shape[1]
    rises = pulls[:-1] - pulls[1:]
    means, errors = rises.mean(axis=1), rises.std(axis=1, ddof=1) / np.sqrt(runs)
    # Between steps all runs agree, and a difference without spread is 0 or certain.
    certain = np.where(means > 0.0, np.inf, np.where(means < 0.0, -np.inf, 0.0))
    surely = np.divide(means, errors, out=certain, where=errors > 0.0)
    worst = float(surely.max())
    chance = float(stdtr(runs - 1, -worst)) * len(means)
    return Claim(
        "As the suboptimality gap increases, the expected suboptimal arm pulls decrease: nowhere "
        "do they rise",
        LABEL,
        f"Student's test of every pair of neighbouring gaps for a rise, none found at the joint "
        f"level {LEVEL:.1%}",
        f"{len(means)} pairs, the largest rise has t = {worst:.3g}, joint p-value "
        f"{min(1.0, chance):.3g}",
        chance > 1.0 - LEVEL,
    )


def draw(data: Data) -> Any:
    """Draw the mean pulls against Delta/K, with the runs around it and a line at every 2^-i."""
    figure, axes = new_figure()
    effective = gaps.by_run(data, "effective_gap")[:, 0]
    pulls = gaps.by_run(data, "pulls")
    mean = pulls.mean(axis=1)
    _, low, high = middle_runs(pulls, axis=1)
    powers = np.arange(np.ceil(np.log2(effective[-1])), np.floor(np.log2(effective[0])) + 1)
    for i, power in enumerate(powers):
        axes.axvline(
            2.0**power,
            color="0.35",
            linewidth=0.9,
            linestyle="--",
            label=r"$\Delta / K = 2^{-i}$" if i == 0 else None,
        )
    draw_band(axes, effective, low, high, COLOURS[0])
    axes.plot(effective, mean, color=COLOURS[0], marker=".", markersize=4, label="Algorithm 1")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(mean.min() / 2.0, mean.max() * 2.0)
    axes.set_xlabel(r"effective suboptimality gap $\Delta / K$")
    axes.set_ylabel("pulls of the suboptimal arm, mean $T_1(n)$")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


ITEM = Item(
    identity="figure-8",
    title="Pulls of the suboptimal arm fall as the gap grows, in steps at Delta/K = 2^-i",
    labels=(LABEL,),
    notes=(
        f"{gaps.NOTES} The noise of a round's means blurs a step by about 4.5% of 2^-i, one "
        "standard deviation. Bands hold the middle 90% of runs."
    ),
    settings=gaps.SETTINGS,
    run=gaps.run,
    claims=claims,
    draw=draw,
)
