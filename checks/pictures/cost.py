"""Draw what a fair comparison costs: choices against the difference that is to be found."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.plots.style import GREY, METHODS, new_figure, save_figure
from affinity_bandits.policies import Elimination, HeadStartElimination, RoundPolicy
from research.practice_play import played
from research.practice_scenarios import FAILURE, MILD, Scenario

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COMMITTEE = (60, 40)
BEST = 0.75
DIFFERENCES = (0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32)
HORIZON = 10**7
RUNS = {"head_start": 1_000, "published": 20}


def scenario(difference: float) -> Scenario:
    """Two groups rated with stars, of which the one with fewer members is better."""
    return Scenario("stars", COMMITTEE, (BEST - difference, BEST), 0.25, MILD)


def choices(policy: RoundPolicy, difference: float, runs: int) -> FloatArray:
    """Return the choices until one group is left, in each run."""
    _, spent = played(scenario(difference), policy, runs=runs, horizon=HORIZON, seed=1)
    return np.asarray(spent, dtype=np.float64)


def main() -> None:
    """Measure, and draw."""
    policies: dict[str, RoundPolicy] = {
        "head_start": HeadStartElimination(initial_pulls=COMMITTEE, bounded=True, failure=FAILURE),
        "published": Elimination(),
    }
    found = {
        name: np.array(
            [np.quantile(choices(policy, d, RUNS[name]), (0.1, 0.5, 0.9)) for d in DIFFERENCES]
        )
        for name, policy in policies.items()
    }
    figure, axes = new_figure(6.8, 4.4)
    ordinary = [scenario(d).ordinary_test for d in DIFFERENCES]
    axes.plot(DIFFERENCES, ordinary, color=GREY, ls="--")
    named = {
        "head_start": ("elimination with a head start", METHODS[0]),
        "published": ("Algorithm 1 as published", METHODS[1]),
    }
    for name, (_, color) in named.items():
        low, middle, high = found[name].T
        axes.plot(DIFFERENCES, middle, color=color, marker="o", ms=3.5)
        axes.fill_between(DIFFERENCES, low, high, color=color, alpha=0.15, lw=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(DIFFERENCES, [f"{d:g}" for d in DIFFERENCES])
    axes.minorticks_off()
    axes.set_xlim(0.037, 0.92)
    axes.set_ylim(bottom=15.0)
    axes.set_xlabel("difference of the true means, as a part of the scale")
    axes.set_ylabel("choices until one group is left")
    for name, (words, color) in named.items():
        axes.text(0.345, found[name][-1, 1], words, color=color, va="center", fontsize=8.5)
    words = "ordinary test, which\nbelieves in no bias"
    axes.text(0.345, ordinary[-1], words, va="center", fontsize=8.5)
    price = found["head_start"][:, 1] / ordinary
    axes.set_title(
        f"A head start takes {price.min():.1f} to {price.max():.1f} times as many choices as an"
        " ordinary test",
        fontsize=9,
    )
    save_figure(figure, IMAGES / "cost.png")
    for name, rows in found.items():
        print(name, [round(float(row[1])) for row in rows])
    print("ordinary", ordinary)


if __name__ == "__main__":
    main()
