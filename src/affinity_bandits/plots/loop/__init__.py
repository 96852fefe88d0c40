"""The feedback loop to look at: a few policies side by side, as a picture, a film or a page."""

from affinity_bandits.plots.loop.courses import Course, course
from affinity_bandits.plots.loop.pages import draw_moment, write_film, write_page

__all__ = ["Course", "course", "draw_moment", "write_film", "write_page"]
