"""Figure 2: one more pick of arm 2, and it looks better than the real best arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.paper.evidence import always
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import COLOURS, new_figure

LABEL = "fig:biasModel2"


@dataclass(frozen=True)
class Settings:
    """The committee of Figure 1, and the arm that is picked once more, counted from 1."""

    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.9, 0.8, 0.65, 0.5, 0.3)
    picked: int = 2


def run(settings: Settings, runner: CellRunner) -> Data:
    """Compute shares and means before and after; nothing is random, so no cell is run."""
    bandit = AffinityBandit(settings.means, settings.bias)
    before = np.ones(bandit.arms)
    after = before.copy()
    after[settings.picked - 1] += 1
    table: dict[str, Any] = {
        "arm": list(range(1, bandit.arms + 1)),
        "picked": [arm + 1 == settings.picked for arm in range(bandit.arms)],
        "true_mean": list(settings.means),
    }
    for when, members in (("before", before), ("after", after)):
        shares = members / members.sum()
        table[f"share_{when}"] = shares.tolist()
        table[f"biased_mean_{when}"] = [
            bandit.expected_feedback(arm, float(share)) for arm, share in enumerate(shares)
        ]
    return table


def claims(data: Data) -> list[Claim]:
    """Judge the two sentences of the caption."""
    true, picked = column(data, "true_mean"), column(data, "picked").astype(bool)
    before, after = column(data, "biased_mean_before"), column(data, "biased_mean_after")
    best = int(true.argmax())
    chosen = int(picked.argmax())
    flipped = before[chosen] < before[best] and after[chosen] > after[best]
    growth = column(data, "share_after") - column(data, "share_before")
    return [
        Claim(
            "The biased feedback for arm 2 now appears better than the one for arm 1, the real "
            "best arm",
            LABEL,
            "smaller before the pick, larger after it, while the real mean is smaller",
            f"arm {chosen + 1} against arm {best + 1}: {before[chosen]:.4g} against "
            f"{before[best]:.4g} before, {after[chosen]:.4g} against {after[best]:.4g} after",
            bool(flipped and true[chosen] < true[best]),
        ),
        always(
            "The fraction for arm 2 increases",
            LABEL,
            int((growth[picked] <= 0).sum()),
            int(picked.sum()),
            "fractions of picked arms",
        ),
        always(
            "The fraction for all the other arms decreases",
            LABEL,
            int((growth[~picked] >= 0).sum()),
            int((~picked).sum()),
            "fractions of other arms",
        ),
    ]


def draw(data: Data) -> Any:
    """Draw every arm's biased mean before and after the pick, beside its real one."""
    figure, axes = new_figure()
    arm = column(data, "arm")
    kinds = (
        ("true_mean", "expected real reward", COLOURS[7]),
        ("biased_mean_before", "biased feedback, each arm picked once", COLOURS[0]),
        ("biased_mean_after", "biased feedback after one more pick of arm 2", COLOURS[1]),
    )
    for i, (name, shown, colour) in enumerate(kinds):
        bars = axes.bar(arm + 0.28 * (i - 1), column(data, name), 0.26, color=colour, label=shown)
        if name != "true_mean":
            axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=7.5)
    shares = zip(arm, column(data, "share_before"), column(data, "share_after"), strict=True)
    axes.set_xticks(arm, [f"arm {i}\n{old:.2f} $\\to$ {new:.2f}" for i, old, new in shares])
    axes.set_xlabel("arm, and its fraction before and after")
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("mean")
    # Room above the bars, so that the legend covers none of them.
    axes.set_ylim(0.0, 1.35 * column(data, "true_mean").max())
    axes.legend(frameon=False, loc="upper right")
    return figure


ITEM = Item(
    identity="figure-2",
    title="One more pick of arm 2 makes it look better than the real best arm",
    labels=(LABEL,),
    notes=(
        "Computed, not simulated. The paper gives no numbers: the five arms of Figure 1 with means "
        "(.9, .8, .65, .5, .3), f(x) = x and one member of each group; then arm 2 is picked once, "
        "which makes its fraction 2/6 and every other 1/6."
    ),
    settings={"quick": Settings(), "full": Settings(), "as-published": Settings()},
    run=run,
    claims=claims,
    draw=draw,
)
