"""The style of every picture: the shared colors, plain axes."""

from __future__ import annotations

import math
import re
from functools import cache
from html import escape
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affinity_bandits.base.errors import InvalidInput, MissingExtra
from affinity_bandits.base.looks import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS = tuple(LIGHT[f"group-{number}"] for number in range(1, 5))
"""The color of each group; a fifth has that of the first again."""
METHODS = tuple(LIGHT[name] for name in ("ours", "paper", "ordinary", "further"))
"""The color of each line that is no group, such as a method; its dashes differ as well."""
DASHES = ("-", "-.", "--", ":")
GREY = LIGHT["muted"]  # color of notes, and of lines that are given instead of measured
PRINTED = {1: 3.4, 2: 7.0}  # width in inches of one and two columns of a journal

SETTINGS = {
    "figure.dpi": 150,
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": LIGHT["others"],
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.hashsalt": "affinity-bandits",
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
}


def need_matplotlib() -> None:
    """Raise an error if matplotlib is missing; call it before long work whose result is drawn."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", '".[plot]"')


def new_figure(width: float = 6.4, height: float = 4.0) -> tuple[Figure, Any]:
    """Return a figure and its axes in this style, leaving global settings alone."""
    figure, (axes,) = new_panels(1, 1, width, height)
    return figure, axes


def new_figures(
    number: int, in_a_row: int, width: float, height: float, **settings: Any
) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, at most `in_a_row` per row; the height is that of a row."""
    columns = min(number, in_a_row)
    rows = -(-number // columns)
    figure, panels = new_panels(rows, columns, width, height * rows, **settings)
    for spare in panels[number:]:
        spare.remove()
    return figure, panels[:number]


def new_panels(
    rows: int, columns: int, width: float, height: float, **settings: Any
) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes, row by row; settings are those of `Figure.subplots`."""
    need_matplotlib()
    import matplotlib as mpl

    style: Any = SETTINGS
    with mpl.rc_context(style):
        figure = _shown_figure()(figsize=(width, height), layout="constrained", dpi=150)
        return figure, list(figure.subplots(rows, columns, squeeze=False, **settings).flat)


@cache
def _shown_figure() -> type[Figure]:
    """Return the class of our figures: matplotlib's, displayed by notebooks."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            buffer = BytesIO()
            self.savefig(buffer, format="png")
            return buffer.getvalue()

    return ShownFigure


def draw_band(axes: Any, x: Any, low: Any, high: Any, color: str) -> None:
    """Fill the area between two lines."""
    axes.fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)


def draw_estimates(axes: Any, x: Any, bands: Any, index: int, label: str) -> None:
    """Draw a line and its interval; `bands` has rows of estimate, low and high."""
    style = line_style(index)
    mean, low, high = bands.T
    axes.plot(x, mean, marker="o", markersize=3.5, label=label, **style)
    draw_band(axes, x, low, high, style["color"])


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure reproducibly: the same figure gives the same bytes."""
    _save(figure, path, SETTINGS)


def _save(figure: Any, path: Path, settings: Any, **options: Any) -> None:
    import matplotlib as mpl

    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
    with mpl.rc_context(settings):
        figure.savefig(path, metadata=metadata, **options)


_TOKENS = {value: f"var(--{name})" for name, value in LIGHT.items() if value.startswith("#")}


def svg_element(figure: Any, title: str) -> str:
    """Return a figure as an element of an HTML page, with a title for those who cannot see it.

    Its colors are the page's, so it is dark on dark screens. It has attributes instead of styles,
    which strict pages forbid, and no background.
    """
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    out = StringIO()
    settings: Any = {**SETTINGS, "svg.fonttype": "path"}
    with mpl.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(
        "<svg",
        f'<svg class="figure" role="img" aria-label="{escape(title)}" fill="var(--ink)"'
        ' stroke-linejoin="round"',
        1,
    )
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # a page may have several figures
    text = re.sub(r' style="([^"]*)"', _as_attributes, text)
    text = text.replace(to_hex("black"), LIGHT["ink"])  # drawn outside of our settings
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: _TOKENS.get(found[0], found[0]), text)


def _as_attributes(style: re.Match[str]) -> str:
    parts = (part.split(": ", 1) for part in style[1].split("; ") if part)
    return "".join(f' {name}="{value}"' for name, value in parts)


def save_for_print(figure: Any, path: str | Path, columns: int = 1) -> None:
    """Write a figure as PNG, SVG or PDF in the size that journals print.

    The figure is resized: 3.4 inches wide for one column, 7 for two. Text shrinks to 6 points at
    least. Fonts are embedded as text, and a PNG has 600 dots per inch.

    Args:
        figure: a figure of this package.
        path: the file; its ending decides the format.
        columns: 1 or 2 columns of the page.
    """
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    place = Path(path)
    if place.suffix not in (".png", ".svg", ".pdf"):
        raise InvalidInput("path", "a file that ends in .png, .svg or .pdf", str(path))
    if columns not in PRINTED:
        raise InvalidInput("columns", "1 or 2", columns)
    width, height = figure.get_size_inches()
    factor = PRINTED[columns] / width
    figure.set_size_inches(PRINTED[columns], height * factor * (1.25 if columns == 1 else 1.0))
    for text in figure.findobj(Text):
        text.set_fontsize(max(6.0, min(8.0, text.get_fontsize() * factor**0.5)))
    for line in figure.findobj(Line2D):
        line.set_linewidth(max(0.4, line.get_linewidth() * min(1.0, factor)))
    for axes in figure.axes:
        if axes.get_legend() is not None:  # a new one, because spaces do not shrink with the text
            axes.legend(loc="best", frameon=False, fontsize=6.5, handlelength=1.6)
    settings = SETTINGS | {"pdf.fonttype": 42, "svg.fonttype": "none"}
    _save(figure, place, settings, dpi=600, bbox_inches="tight", pad_inches=0.02)


def cut(name: str, most: int = 22) -> str:
    """Return a name, shortened in the middle if it is long: long names often differ at the end."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}\N{HORIZONTAL ELLIPSIS}{name[-end:]}"


def line_style(index: int) -> dict[str, Any]:
    """Return color and dashes of the index-th line; both differ, for black-and-white print.

    Dashes move on by one each time that the colors begin again, so 16 lines differ.
    """
    again, place = divmod(index, len(METHODS))
    return {"color": METHODS[place], "linestyle": DASHES[(place + again) % len(DASHES)]}


def mark_given(axes: Any, x: float, words: str, size: float) -> None:
    """Draw a dotted vertical line at a given number, with words above it."""
    axes.axvline(x, color=GREY, linestyle=":", linewidth=1.4, zorder=1.5)
    axes.annotate(
        words,
        (x, 1.0),
        (0.0, 2.0),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=size,
        color=GREY,
    )


def log_ticks(low: float, high: float, *, dense_below: float = 10.0**2.5) -> list[float]:
    """Return powers of ten, with their doubles and halves if high / low is below a ratio."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < dense_below * low else (1,)
    ticks = [step * 10.0**decade for decade, step in product(decades, steps)]
    return [tick for tick in ticks if low <= tick <= high]
