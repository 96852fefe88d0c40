"""Figure 10: Algorithm 1 needs a longer horizon when the bias has a larger Lipschitz constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.paper.failure_points import count_failures, draw_failures, failure_claims
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item


@dataclass(frozen=True)
class Settings:
    """The paper gives the family of biases, the range of alpha and ten runs; the rest is ours."""

    replicates: int
    bias: Callable[[float], Bias] = Power
    alphas: Sequence[float] = tuple(1.0 + i / 8.0 for i in range(29))
    means: Sequence[float] = (0.4, 0.6)
    initial_pulls: Sequence[int] = (1, 1)
    horizons: Sequence[int] = (10**6, 4 * 10**6, 16 * 10**6)


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count, for each horizon and alpha, the undecided and the deceived runs."""
    bandits = [
        (
            alpha,
            AffinityBandit(
                settings.means, settings.bias(alpha), settings.initial_pulls, noise="gaussian"
            ),
        )
        for alpha in settings.alphas
    ]
    return count_failures("alpha", bandits, settings.horizons, settings.replicates, runner)


def claims(data: Data) -> list[Claim]:
    """Judge what the text says."""
    return failure_claims(data, "alpha", "exponent alpha", "fig:scaleL")


def draw(data: Data) -> Any:
    """Draw both kinds of failure against alpha."""
    figure = draw_failures(data, "alpha", r"$\alpha$ of the bias model $f(x) = x^\alpha$", False)
    figure.axes[1].legend(frameon=False, loc="upper left")
    return figure


ITEM = Item(
    identity="figure-10",
    title="A larger Lipschitz constant asks for a longer horizon",
    labels=("fig:scaleL",),
    notes=(
        "Two Gaussian arms (sigma = 1) with means (.4, .6), T0 = (1, 1), f(x) = x^alpha with alpha "
        "from 1 to 4.5 in steps of 1/8, Algorithm 1 as published. The paper gives the family, the "
        "range of alpha and ten runs, not the means, T0 or the horizons. Before an elimination the "
        "gap that is seen is .2 / 2^alpha, and round r drops an arm that lags by more than 2^-r, "
        "so the failure point is where .2 / 2^alpha = 2^-r in the last round that fits; horizons "
        "of 1, 4 and 16 million end after round 4, 5 and 6, with failure points near 1.7, 2.7 and "
        "3.7. The paper counts runs that pull arm 1 more than half of the time. All failures here "
        "are of undecided runs, in which both arms have the same number of pulls to within one: "
        "whether that is more than half is decided by a single pull, so undecided and deceived "
        "runs are counted as such, and drawn apart. Bands are exact 95% intervals."
    ),
    settings={
        "quick": Settings(200),
        "full": Settings(4000),
        "as-published": Settings(10),
    },
    run=run,
    claims=claims,
    draw=draw,
)
