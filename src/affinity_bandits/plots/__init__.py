"""Pictures: one per file, each a pure function from data to a matplotlib figure."""

from affinity_bandits.plots.plan import draw_plan, draw_ways
from affinity_bandits.plots.results import draw_quantiles, draw_ranking, draw_regret
from affinity_bandits.plots.style import save_for_print
from affinity_bandits.plots.sweep import draw_sureness, draw_sweep, sweep_grid

__all__ = [
    "draw_plan",
    "draw_quantiles",
    "draw_ranking",
    "draw_regret",
    "draw_sureness",
    "draw_sweep",
    "draw_ways",
    "save_for_print",
    "sweep_grid",
]
