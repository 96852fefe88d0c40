"""Figure 1: once every arm has been picked once, bias divides all means by K and keeps order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.paper.evidence import always, number_within
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import COLOURS, new_figure

LABEL = "fig:biasModel1"
ROUNDING = 1e-12
"""What floating point may add to a number that is exact on paper."""


@dataclass(frozen=True)
class Settings:
    """A committee with one member of each group; the first arm is the real best one."""

    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.9, 0.8, 0.65, 0.5, 0.3)


def run(settings: Settings, runner: CellRunner) -> Data:
    """Compute true and biased means; nothing is random, so no cell is run."""
    bandit = AffinityBandit(settings.means, settings.bias)
    share = 1 / bandit.arms
    return {
        "arm": list(range(1, bandit.arms + 1)),
        "share": [share] * bandit.arms,
        "true_mean": list(settings.means),
        "biased_mean": [bandit.expected_feedback(arm, share) for arm in range(bandit.arms)],
    }


def claims(data: Data) -> list[Claim]:
    """Judge the three sentences of the caption."""
    true, biased = column(data, "true_mean"), column(data, "biased_mean")
    arms = len(true)
    pairs = np.triu_indices(arms, 1)
    true_gaps = true[pairs[0]] - true[pairs[1]]
    biased_gaps = biased[pairs[0]] - biased[pairs[1]]
    return [
        number_within(
            "The expected biased feedback is the expected real reward divided by K",
            LABEL,
            float(np.abs(true / biased / arms - 1.0).max()),
            0.0,
            ROUNDING,
            "largest relative error of (real reward / biased feedback) = K",
        ),
        always(
            "The ordering of the observed rewards is identical to that of the real rewards",
            LABEL,
            int((np.sign(true_gaps) != np.sign(biased_gaps)).sum()),
            len(true_gaps),
            "pairs of arms",
        ),
        number_within(
            "The suboptimality gaps are divided by K",
            LABEL,
            float(np.abs(true_gaps / biased_gaps / arms - 1.0).max()),
            0.0,
            ROUNDING,
            "largest relative error of (real gap / observed gap) = K",
        ),
    ]


def draw(data: Data) -> Any:
    """Draw the real and the biased mean of every arm side by side."""
    figure, axes = new_figure()
    arm, share = column(data, "arm"), column(data, "share")
    true, biased = column(data, "true_mean"), column(data, "biased_mean")
    axes.bar(arm - 0.2, true, 0.38, color=COLOURS[7], label="expected real reward")
    bars = axes.bar(arm + 0.2, biased, 0.38, color=COLOURS[0], label="expected biased feedback")
    axes.bar_label(bars, fmt="%.3g", padding=2, fontsize=8)
    axes.set_xticks(arm, [f"arm {i}\nfraction {x:.3g}" for i, x in zip(arm, share, strict=True)])
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("mean")
    axes.legend(frameon=False, loc="upper right")
    return figure


ITEM = Item(
    identity="figure-1",
    title="When each arm has been picked once, the order stays and gaps shrink by K",
    labels=(LABEL,),
    notes=(
        "Computed, not simulated. The paper gives no numbers: five arms with means (.9, .8, .65, "
        ".5, .3), f(x) = x, and a committee of one member of each group, so that every arm has "
        "been picked exactly once."
    ),
    settings={"quick": Settings(), "full": Settings(), "as-published": Settings()},
    run=run,
    claims=claims,
    draw=draw,
)
