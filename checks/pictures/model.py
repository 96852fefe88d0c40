"""Draw the pictures of the README and the docs: `make pictures`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from affinity_bandits import AffinityBandit, Power, simulate
from affinity_bandits.experiments import (
    ProcessExecutor,
    Store,
    Sweep,
    axes_of,
    cell_summaries,
    run_cells,
)
from affinity_bandits.experiments.sweep import fixed_words
from affinity_bandits.paper import StoreCellRunner, run_item
from affinity_bandits.plots import draw_regret, draw_sweep, sweep_grid
from affinity_bandits.plots.style import save_figure
from research.studies import STUDIES

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def regret_picture() -> None:
    """UCB1 and Algorithm 1 where the worse group already dominates the committee."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    result = simulate(
        bandit,
        {"UCB1": "ucb1", "Algorithm 1 (elimination)": "elimination"},
        horizon=10_000_000,
        replicates=40,
        seed=1,
    )
    save_figure(draw_regret(result), IMAGES / "regret.png")


def runs_picture() -> None:
    """The study of the README: 100 runs of four policies."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[1000, 20])
    policies = {
        "UCB1": "ucb1",
        "EXP3": "exp3",
        "Algorithm 1": "elimination",
        "head start": "head-start-elimination",
    }
    result = simulate(bandit, policies, horizon=1_000_000, replicates=100)
    save_figure(draw_regret(result), IMAGES / "runs.png")


def sweep_picture() -> None:
    """The heat map of the guide to sweeps, as `affinity sweep show heads.toml` draws it."""
    sweep = Sweep.from_toml(Path(__file__).parents[2] / "docs" / "heads.toml")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        run_cells(sweep, store, ProcessExecutor())
        grid = sweep_grid(axes_of(sweep), cell_summaries(sweep, store))
    (figure,) = draw_sweep(grid, fixed_words(sweep))
    save_figure(figure, IMAGES / "sweep.png")


def study_pictures() -> None:
    """The figure of each study that has a page, at the scale `full`."""
    for study in STUDIES.items().values():
        with tempfile.TemporaryDirectory() as folder:
            runner = StoreCellRunner(Store(Path(folder) / "store"), ProcessExecutor())
            outcome = run_item(study, "full", runner, Path(folder))
            shutil.copy(outcome.folder / "figure.png", IMAGES / f"study-{study.identity}.png")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    regret_picture()
    runs_picture()
    sweep_picture()
    study_pictures()
