"""Draw the picture of the README and of the start page: who finds the better group.

It is the README's own instance, played by the README's own policies, for light and dark screens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from affinity_bandits import AffinityBandit, Power, Result, simulate
from affinity_bandits.base.looks import DARK, LIGHT
from affinity_bandits.plots.style import new_figure, save_figure

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDTH, HEIGHT = 6.6, 6.1
TEXT, TITLE = 15.5, 17.0
"""Large, because a telephone shows the picture at a third of its width."""
HORIZON = 1_000_000
RUNS = 100
METHODS = {
    "ucb1": ("UCB1, an ordinary bandit", "ordinary"),
    "exp3": ("EXP3, made for adversaries", "ordinary"),
    "elimination": ("Algorithm 1, the paper's", "paper"),
    "head-start-elimination": ("Head start, this package's", "ours"),
}
"""How each policy is called, and the token of its color."""
SPREAD = 0.16
"""Half the height in which the dots of a policy are scattered."""


def played() -> Result:
    """Play the instance of the README."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[1000, 20])
    return simulate(bandit, list(METHODS), horizon=HORIZON, replicates=RUNS)


def draw_method(axes: Any, row: int, worse: Any, wrong: int, color: str) -> None:
    """Draw a dot for each run, a line at the median, and both in words."""
    scatter = np.linspace(-SPREAD, SPREAD, RUNS)[np.random.default_rng(1).permutation(RUNS)]
    axes.scatter(worse, row + scatter, s=18, color=color, alpha=0.55, linewidth=0)
    middle = float(np.median(worse))
    axes.plot([middle, middle], [row - 0.24, row + 0.24], color=color, linewidth=3.6)
    words = f"{middle:,.0f}, wrong in {wrong} of {RUNS} runs"
    left = middle > HORIZON / 2
    place = middle + (-0.07 if left else 0.04) * HORIZON
    axes.text(
        place, row, words, color=color, ha="right" if left else "left", va="center", fontsize=TEXT
    )


def draw(result: Result, look: dict[str, str]) -> Any:
    """Return the picture in the colors of light or of dark screens."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    figure.set_facecolor(look["surface"])
    axes.set_facecolor(look["surface"])
    for row, (name, (words, color)) in enumerate(METHODS.items()):
        place = result.index(name)
        wrong = int(result.wrong_arm[place].sum())
        draw_method(axes, row, result.pulls[place, :, -1, 0], wrong, look[color])
        axes.text(0, row - 0.4, words, color=look["ink"], fontsize=TEXT, va="center")
    axes.set_yticks([])
    axes.set_ylim(len(METHODS) - 0.65, -0.6)
    axes.set_xlim(-0.02 * HORIZON, 1.02 * HORIZON)
    axes.set_xticks([0, HORIZON // 2, HORIZON], ["0", "500,000", "1,000,000"])
    axes.tick_params(length=0, labelcolor=look["ink"], labelsize=TEXT)
    axes.set_xlabel("choices of the worse group; a dot per run", fontsize=TEXT, color=look["ink"])
    figure.suptitle(
        "Newcomers are better, but founders hold\n1,000 of 1,020 seats: who finds out?",
        x=0.02,
        ha="left",
        fontsize=TITLE,
        fontweight="bold",
        color=look["ink"],
    )
    for side in axes.spines.values():
        side.set_visible(False)
    axes.grid(visible=True, axis="x", color=look["line"], alpha=1.0)
    return figure


def main() -> None:
    """Play once, and draw for both kinds of screens."""
    result = played()
    for name, look in (("front", LIGHT), ("front-dark", DARK)):
        path = IMAGES / f"{name}.png"
        save_figure(draw(result, look), path)
        with Image.open(path) as drawn:  # 64 colors: a third of the bytes
            few = drawn.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


if __name__ == "__main__":
    main()
