"""Draw the picture of the README and of the start page: who finds the better group.

It is the README's own instance, played by the README's own policies, for light and dark screens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Power, Result, simulate
from affinity_bandits.base.looks import DARK, LIGHT
from affinity_bandits.plots.style import new_figure, save_figure

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HORIZON = 1_000_000
RUNS = 100
METHODS = {
    "ucb1": ("UCB1\nan ordinary bandit", "ordinary"),
    "exp3": ("EXP3\nmade for adversaries", "ordinary"),
    "elimination": ("Algorithm 1\nthe paper's", "paper"),
    "head-start-elimination": ("head start\nthis package's", "ours"),
}
"""How each policy is called, and its color."""
SPREAD = 0.28
"""Half the height in which the dots of a policy are scattered."""


def played() -> Result:
    """Play the instance of the README."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[1000, 20])
    return simulate(bandit, list(METHODS), horizon=HORIZON, replicates=RUNS)


def draw(result: Result, look: dict[str, str]) -> Any:
    """Return the picture in the colors of light or of dark screens."""
    figure, axes = new_figure(6.6, 3.4)
    figure.set_facecolor(look["surface"])
    axes.set_facecolor(look["surface"])
    scatter = np.linspace(-SPREAD, SPREAD, RUNS)[np.random.default_rng(1).permutation(RUNS)]
    for row, (name, (_, color)) in enumerate(METHODS.items()):
        place = result.index(name)
        worse = result.pulls[place, :, -1, 0]
        axes.scatter(worse, row + scatter, s=7, color=look[color], alpha=0.55, linewidth=0)
        middle = float(np.median(worse))
        axes.plot([middle, middle], [row - 0.38, row + 0.38], color=look[color], linewidth=2.4)
        wrong = int(result.wrong_arm[place].sum())
        text = f"{middle:,.0f}\nwrong in {wrong} of {RUNS} runs"
        side = ("right", -0.06) if middle > HORIZON / 2 else ("left", 0.03)
        axes.text(
            middle + side[1] * HORIZON,
            row,
            text,
            color=look[color],
            ha=side[0],
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(METHODS)), [words for words, _ in METHODS.values()])
    axes.set_ylim(len(METHODS) - 0.45, -0.55)
    axes.set_xlim(-0.02 * HORIZON, 1.02 * HORIZON)
    axes.set_xticks([0, HORIZON // 2, HORIZON], ["0", "500,000", "1,000,000"])
    figure.suptitle(
        "Newcomers are better, but founders hold 1,000 of 1,020 seats: who finds out?",
        x=0.01,
        ha="left",
        fontsize=10,
        fontweight="bold",
        color=look["ink"],
    )
    axes.set_title(
        f"choices of the worse group among {HORIZON:,}; a dot per run, a line at the median",
        loc="left",
        x=-0.295,
        fontsize=9,
        color=look["muted"],
    )
    axes.tick_params(length=0, labelcolor=look["ink"])
    for side_line in axes.spines.values():
        side_line.set_visible(False)
    axes.grid(visible=True, axis="x", color=look["line"], alpha=1.0)
    axes.grid(visible=False, axis="y")
    return figure


def main() -> None:
    """Play once, and draw for both kinds of screens."""
    result = played()
    save_figure(draw(result, LIGHT), IMAGES / "front.png")
    save_figure(draw(result, DARK), IMAGES / "front-dark.png")


if __name__ == "__main__":
    main()
