"""Pictures: one a file, each a pure function from data to a matplotlib figure."""

from affinity_bandits.plots.plan import draw_plan
from affinity_bandits.plots.regret import draw_regret

__all__ = ["draw_plan", "draw_regret"]
