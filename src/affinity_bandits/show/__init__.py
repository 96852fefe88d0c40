"""The feedback loop to look at: a few policies side by side, as a picture, a film or a page."""

from affinity_bandits import extras

extras.need("simulation")  # a page needs no more; films and pictures need matplotlib as well

from affinity_bandits.show.courses import Course, Moment, course
from affinity_bandits.show.film import write_film
from affinity_bandits.show.page import write_page
from affinity_bandits.show.picture import draw_moment

__all__ = ["Course", "Moment", "course", "draw_moment", "write_film", "write_page"]
