"""Courses as a film: a GIF that shows one moment after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits.show.courses import Course
from affinity_bandits.show.picture import draw_again, draw_moment

EVERY = 2
"""Moments from one frame to the next."""
MILLISECONDS = 120
AT_THE_END = 2_500
"""Milliseconds of each frame, and of the last."""
COLOURS_KEPT = 64


def write_film(
    courses: Sequence[Course],
    groups: Sequence[str],
    path: Path,
    *,
    tell: Callable[[int, int], None] | None = None,
) -> None:
    """Write a film of the courses.

    Args:
        courses: with the same groups and the same moments.
        groups: their names.
        path: a .gif file.
        tell: called with the number of frames drawn and of all.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    places = range((len(courses[0].choices) - 1) % EVERY, len(courses[0].choices), EVERY)
    frames = []
    figure = draw_moment(courses, groups)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    figure.set_layout_engine("none")  # where things stand is found once: it takes longest
    for place in places:
        draw_again(figure, courses, groups, place)
        canvas.draw()
        drawn = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
        frames.append(drawn.quantize(COLOURS_KEPT))
        if tell is not None:
            tell(len(frames), len(places))
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=[MILLISECONDS] * (len(frames) - 1) + [AT_THE_END],
        loop=0,
    )
