"""Where Algorithm 1 begins to fail as a setting is made harder: what Figures 10 and 11 share.

A run fails in one of two ways, which the paper counts together. It is *undecided* if the horizon
ends before an elimination; both arms then have half of the pulls, to within one. It is *deceived*
if the better arm was eliminated. The failure point of a horizon is where the probability of
either crosses one half.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels import FloatArray
from affinity_bandits.paper.evidence import LEVEL, proportion_above, proportion_below
from affinity_bandits.paper.item import CellRunner, Claim, Data, column
from affinity_bandits.plots.style import draw_band, line_style, new_panels
from affinity_bandits.policies import Elimination
from affinity_bandits.simulation.intervals import proportion_interval

KINDS = {"undecided": "undecided at the horizon", "deceived": "deceived: better arm eliminated"}


def count_failures(
    name: str,
    bandits: Sequence[tuple[float, AffinityBandit]],
    horizons: Sequence[int],
    replicates: int,
    runner: CellRunner,
) -> Data:
    """Run Algorithm 1 on every bandit to every horizon and count the two kinds of failure.

    Args:
        name: of the column that says how hard a bandit is.
        bandits: each with its value in that column, from the easiest to the hardest.
        horizons: ascending.
        replicates: of every bandit and horizon.
        runner: where they are run.
    """
    grid = [(horizon, *hardness) for horizon in horizons for hardness in bandits]
    results = runner.results(
        [Cell(bandit, Elimination(), horizon) for horizon, _, bandit in grid], replicates
    )
    return {
        "horizon": [horizon for horizon, _, _ in grid],
        name: [value for _, value, _ in grid],
        "undecided": [int(result.undecided.sum()) for result in results],
        "deceived": [int(result.deceived.sum()) for result in results],
        "runs": [replicates] * len(grid),
    }


def failure_claims(data: Data, name: str, symbol: str, label: str) -> list[Claim]:
    """Judge that every horizon has a failure point, and that it grows with the horizon."""
    horizons = [int(horizon) for horizon in np.unique(column(data, "horizon"))]
    return [
        _at_an_end(data, name, symbol, label, -1),
        _at_an_end(data, name, symbol, label, 0),
        *(
            _moves(data, name, symbol, label, shorter, longer)
            for shorter, longer in pairwise(horizons)
        ),
    ]


def _at_an_end(data: Data, name: str, symbol: str, label: str, end: int) -> Claim:
    """Judge the horizon that is furthest from the claim: if it holds there, it holds for all."""
    value = column(data, name)
    failed = column(data, "undecided") + column(data, "deceived")
    at = value == np.unique(value)[end]
    worst = int(np.flatnonzero(at)[np.argmax(failed[at] * (1 if end == 0 else -1))])
    hits, runs = int(failed[worst]), int(column(data, "runs")[worst])
    if end == 0:
        claim = proportion_below(
            f"at every horizon the algorithm does not fail when the {symbol} is small "
            f"({value[worst]:g})",
            label,
            hits,
            runs,
            0.5,
        )
    else:
        claim = proportion_above(
            f"for a fixed horizon, increasing the {symbol} eventually causes the algorithm to fail "
            f"(at {value[worst]:g}, at every horizon)",
            label,
            hits,
            runs,
            0.5,
        )
    undecided, deceived = (
        int(column(data, "undecided")[worst]),
        int(column(data, "deceived")[worst]),
    )
    return claim._replace(
        evidence=f"{claim.evidence}; {undecided} undecided, {deceived} deceived; at "
        f"n = {column(data, 'horizon')[worst]:.3g}, the horizon with the "
        f"{'most' if end == 0 else 'fewest'} failures"
    )


def _moves(data: Data, name: str, symbol: str, label: str, shorter: int, longer: int) -> Claim:
    start, before = bracket(data, name, shorter)
    after, end = bracket(data, name, longer)
    return Claim(
        f"increasing the horizon from {shorter:.3g} to {longer:.3g} moves the point of failure "
        f"to a larger {symbol}",
        label,
        f"at every {symbol} up to the end of the shorter horizon's bracket the longer one fails "
        f"with a probability below 1/2; brackets by exact bounds taken inwards from both ends of "
        f"the grid, both right with probability {LEVEL:.1%}",
        f"failure point in ({start:g}, {before:g}] for the shorter and in ({after:g}, {end:g}] "
        f"for the longer horizon",
        bool(before <= after),
    )


def bracket(data: Data, name: str, horizon: int) -> tuple[float, float]:
    """Return two neighbours of the failure point, -inf or inf where the grid has none.

    From the easy end inwards, values are passed as long as the upper bound of the probability to
    fail is below one half; from the hard end, as long as the lower bound is above. Because each
    walk stops at the first bound that does not say so, no correction for their number is needed.
    """
    mine = column(data, "horizon") == horizon
    values, rates = _rates(data, name, mine, ("undecided", "deceived"), LEVEL)
    good = int(np.logical_and.accumulate(rates[:, 2] < 0.5).sum())
    bad = int(np.logical_and.accumulate(rates[::-1, 1] > 0.5).sum())
    return (
        float(values[good - 1]) if good else -np.inf,
        float(values[len(values) - bad]) if bad else np.inf,
    )


def _rates(
    data: Data, name: str, mine: FloatArray, kinds: Sequence[str], level: float
) -> tuple[FloatArray, FloatArray]:
    """Return values in ascending order, and for each the rate of some kinds with its interval."""
    value = column(data, name)[mine]
    order = np.argsort(value)
    hits = sum(column(data, kind)[mine] for kind in kinds)[order]
    runs = column(data, "runs")[mine][order]
    rates = [proportion_interval(int(h), int(r), level) for h, r in zip(hits, runs, strict=True)]
    return value[order], np.array(rates)


def draw_failures(data: Data, name: str, x_label: str, logarithmic: bool) -> Any:
    """Draw the two kinds of failure in two panels, one line a horizon, with 95% intervals."""
    figure, panels = new_panels(1, 2, 7.4, 3.6, sharex=True, sharey=True)
    horizons = np.unique(column(data, "horizon"))
    for axes, (kind, title) in zip(panels, KINDS.items(), strict=True):
        for i, horizon in enumerate(horizons):
            mine = column(data, "horizon") == horizon
            values, rates = _rates(data, name, mine, (kind,), 0.95)
            style = line_style(i)
            axes.plot(
                values,
                rates[:, 0],
                marker="os^D"[i % 4],
                markersize=3.0,
                label=f"n = {power_of_ten(int(horizon))}",
                **{**style, "linewidth": 1.3},
            )
            draw_band(axes, values, rates[:, 1], rates[:, 2], style["color"])
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel(x_label)
        if logarithmic:
            axes.set_xscale("log")
    panels[0].set_ylim(-0.03, 1.03)
    panels[0].set_ylabel("fraction of runs")
    return figure


def power_of_ten(number: int) -> str:
    """Return a number the way it is written in a formula."""
    exponent = int(np.floor(np.log10(number) + 1e-12))
    leading = number / 10.0**exponent
    power = f"10^{{{exponent}}}"
    return f"${power}$" if leading == 1.0 else rf"${leading:g} \times {power}$"
