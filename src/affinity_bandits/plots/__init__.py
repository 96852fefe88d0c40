"""Pictures: one per file, each a pure function from data to a matplotlib figure."""

from affinity_bandits import extras

extras.need("plot", *extras.NEEDED["simulation"])  # one line to install, not two in turn

from affinity_bandits.plots.plan import draw_plan
from affinity_bandits.plots.quantiles import draw_quantiles
from affinity_bandits.plots.ranking import draw_ranking
from affinity_bandits.plots.regret import draw_regret
from affinity_bandits.plots.style import save_for_print
from affinity_bandits.plots.sureness import draw_sureness
from affinity_bandits.plots.sweep import draw_sweep
from affinity_bandits.plots.sweep_data import sweep_grid
from affinity_bandits.plots.ways import draw_ways

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
