"""Draw what scores are like under each noise, without bias and with a weight of 0.6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Beta,
    CustomNoise,
    Empirical,
    Gaussian,
    Noise,
    Ordinal,
)
from affinity_bandits.plots.style import METHODS, SETTINGS, save_figure
from affinity_bandits.testing.contracts import feedback_law

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MEAN = 0.6
WEIGHTS = (1.0, 0.6)
BINS = 20
MARKS = [35, 48, 48, 52, 55, 55, 55, 60, 60, 62, 62, 62, 66, 66, 70, 75, 75, 82, 90, 95]


def spread_evenly(mean: float, u: float) -> float:
    """Evenly around the mean, as wide as the scores from 0 to 10 allow."""
    return mean + (2.0 * u - 1.0) * min(mean, 10.0 - mean)


PANELS: list[tuple[str, Noise]] = [
    ("Bernoulli, gated", Bernoulli()),
    ("Gaussian(0.2), shifted", Gaussian(0.2)),
    ("Ordinal: five stars, gated", Ordinal(shape=[0.05, 0.15, 0.3, 0.35, 0.15])),
    ("Beta(10), redrawn", Beta(10.0)),
    ("Empirical: a column of marks, gated", Empirical(MARKS, 0.0, 100.0)),
    ("CustomNoise: evenly, gated", CustomNoise(spread_evenly, 0.0, 10.0, "evenly")),
]


def law(noise: Noise, weight: float) -> tuple[Any, Any]:
    """Return scores, and the part of all that have each of them."""
    bandit = AffinityBandit([MEAN], noise=noise)
    seen, chances = feedback_law(bandit, 0, weight)
    return np.asarray(noise.as_scores(seen)), chances


def draw_panel(axes: Any, title: str, noise: Noise) -> None:
    """Draw the two histograms of one noise, side by side where scores are few."""
    laws = [law(noise, weight) for weight in WEIGHTS]
    scores = np.unique(np.round(np.concatenate([seen for seen, _ in laws]), 9))
    few = len(scores) <= 8
    if few:
        gap = float(np.diff(scores).min())
        width = 0.42 * max(gap, 0.02 * float(np.ptp(scores)))
    else:
        low, high = float(scores[0]), float(scores[-1])
        edges = np.linspace(low, high, BINS + 1)
        scores, width = 0.5 * (edges[1:] + edges[:-1]), 0.42 * (high - low) / BINS
    for place, ((seen, chances), weight) in enumerate(zip(laws, WEIGHTS, strict=True)):
        if few:
            at = np.argmin(np.abs(seen[:, None] - scores), axis=1)
        else:
            at = np.clip(np.searchsorted(edges, seen, side="right") - 1, 0, BINS - 1)
        parts = np.bincount(at, weights=chances, minlength=len(scores))
        mean = float(chances @ seen)
        axes.bar(
            scores + (place - 0.5) * width,
            100.0 * parts,
            width,
            color=METHODS[place],
            label=f"weight {weight:g}: mean {mean:.3g}",
        )
    axes.set_title(title, fontsize=9.5, loc="left")
    axes.set_xlabel("score")
    axes.margins(y=0.32)
    axes.legend(fontsize=8, loc="upper left", ncols=1, handlelength=1.0)
    if len(scores) <= 5:
        axes.set_xticks(scores)


def main() -> None:
    """Draw all noises in one picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = SETTINGS
    with mpl.rc_context(settings):
        figure = Figure(figsize=(10.0, 5.6), layout="constrained", dpi=150)
        for place, (title, noise) in enumerate(PANELS):
            axes = figure.add_subplot(2, 3, place + 1)
            draw_panel(axes, title, noise)
            if place % 3 == 0:
                axes.set_ylabel("% of pulls")
    save_figure(figure, IMAGES / "noises.png")


if __name__ == "__main__":
    main()
