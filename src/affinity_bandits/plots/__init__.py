"""Pictures: one per file, each a pure function from data to a matplotlib figure."""

from affinity_bandits import extras

extras.need("plot", *extras.NEEDED["simulation"])  # one line to install, not two in turn

from affinity_bandits.plots.plan import draw_plan
from affinity_bandits.plots.regret import draw_regret
from affinity_bandits.plots.sweep import draw_sweep
from affinity_bandits.plots.sweep_data import sweep_grid
from affinity_bandits.plots.ways import draw_ways

__all__ = ["draw_plan", "draw_regret", "draw_sweep", "draw_ways", "sweep_grid"]
