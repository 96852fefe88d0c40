"""Figure 11: Algorithm 1 needs a longer horizon when the initial pulls are further apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.paper.failure_points import count_failures, draw_failures, failure_claims
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item

GAPS = (
    *(1_000, 3_162),
    *(round(10.0 ** (4.0 + i / 16.0)) for i in range(21)),
    *(316_228, 1_000_000),
)
"""Evenly spaced in the logarithm, and closer where the failure points are."""


@dataclass(frozen=True)
class Settings:
    """The paper gives the bias and ten runs, and Figure 10's arms; the rest is ours."""

    replicates: int
    horizons: Sequence[int] = (10**6, 10**8, 10**11, 10**15)
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.4, 0.6)
    gaps: Sequence[int] = GAPS


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count, for each horizon and gap T0_max - T0_min, the undecided and the deceived runs."""
    bandits = [
        (
            float(gap),
            AffinityBandit(settings.means, settings.bias, (1 + gap, 1), noise="gaussian"),
        )
        for gap in settings.gaps
    ]
    return count_failures("gap", bandits, settings.horizons, settings.replicates, runner)


def claims(data: Data) -> list[Claim]:
    """Judge what the text says."""
    return failure_claims(data, "gap", "gap in initial pulls", "fig:scaleTmaxmin")


def draw(data: Data) -> Any:
    """Draw both kinds of failure against the gap."""
    figure = draw_failures(
        data, "gap", r"initial arm pull gap $T^0_{\max} - T^0_{\min}$", logarithmic=True
    )
    figure.axes[0].legend(frameon=False, loc="upper right")
    return figure


ITEM = Item(
    identity="figure-11",
    title="A larger gap in initial pulls asks for a longer horizon",
    labels=("fig:scaleTmaxmin",),
    notes=(
        "Two Gaussian arms (sigma = 1) with means (.4, .6), f(x) = x, T0 = (1 + gap, 1) in favour "
        "of the worse arm, gaps from 10^3 to 10^6, Algorithm 1 as published. The paper gives f and "
        "ten runs, not the gaps or the horizons. A gap is forgotten only as the rounds' lengths "
        "m_r outgrow it, and these grow with log n, so the failure point is about proportional to "
        "log n: n = 10^6, 10^8, 10^11, 10^15 are chosen so that log n grows evenly. Ten runs are "
        "too few to tell neighbours among the longer ones apart, so as-published takes the first, "
        "the second and the last. Failures are of deceived runs, except near the failure point of "
        "the shortest horizon, where the gap hides the difference long enough for runs to end "
        "undecided; the paper counts both as one, here they are drawn apart. Bands are exact 95% "
        "intervals."
    ),
    settings={
        "quick": Settings(400),
        "full": Settings(3000),
        "as-published": Settings(10, horizons=(10**6, 10**8, 10**15)),
    },
    run=run,
    claims=claims,
    draw=draw,
)
