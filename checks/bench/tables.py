"""Put the figures that benchmarks wrote into the pages of the documentation.

`python -m checks.bench.steps --out docs/measured/steps.json` measures, and likewise every other
benchmark. `python -m checks.bench.tables` fills all places that pages mark like this:

    <!-- single pulls: from measured/steps.json -->
    <!-- end of single pulls -->

`docs/measured/tables.toml` has the layout of each place, a table or a paragraph. In a layout,
`{steps.gaussian.k2.ratio:.2f}` is a figure in Python's format. The format `1/.3g` prints the
reciprocal, and `down` keeps the first digit. `{min steps.*.ratio:.2f}` and `{max ...}` print the
smallest and the largest of several figures. A line with `@` is repeated for each name that its
first figure can have in place of `@`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import filter as matching
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = DOCS / "measured"
LAYOUTS = tomllib.loads((MEASURED / "tables.toml").read_text(encoding="utf-8"))
PLACE = re.compile(r"(<!-- (.+): from \w+/(\S+) -->\n)(?:.*\n)*?(<!-- end of \2 -->)")
FIGURE = re.compile(r"\{(min |max )?([^{}:]+):([^{}]*)\}")
Figures = Mapping[str, Any]


def measured(files: str) -> Figures:
    """Return the figures of the files that match a pattern."""
    found: dict[str, Any] = {}
    for path in MEASURED.glob(files):
        figures = json.loads(path.read_text(encoding="utf-8"))
        found |= figures | {f"{path.stem}.date": figures.get("date", "not stated")}
    return found


def rewritten(text: str, read: Callable[[str], Figures] = measured) -> str:
    """Return the text of a page with the figures in their places."""
    return PLACE.sub(lambda one: one[1] + laid_out(LAYOUTS[one[2]], read(one[3])) + one[4], text)


def laid_out(layout: str, figures: Figures) -> str:
    """Return a layout with its figures.

    >>> laid_out("{a:.2f}, {max a*:,}, {a:1/.2g}, {ab:down}", {"a": 0.25, "ab": 62_853})
    '0.25, 62,853, 1/4, 60,000'
    >>> laid_out("| @ | {a.@.n:.0f} |", {"a.one.n": 1.0, "a.two.n": 2.0})
    '| one | 1 || two | 2 |'
    """

    def shown(one: re.Match[str]) -> str:
        choose, name, form = one.groups()
        names = matching(figures, name) or [name]  # an unknown name raises a KeyError below
        value = (min if choose == "min " else max)(figures[one] for one in names)
        if form == "down":
            unit = 10 ** int(math.log10(value))
            return f"{value // unit * unit:,.0f}"
        inverse = form.startswith("1/")
        return "1/" + format(1.0 / value, form[2:]) if inverse else format(value, form)

    return FIGURE.sub(shown, "".join(_repeated(line, figures) for line in layout.splitlines(True)))


def _repeated(line: str, figures: Figures) -> str:
    """Return a line once, or once for every name in place of `@`."""
    first = FIGURE.search(line)
    if first is None or "@" not in first[2]:
        return line
    pattern = re.escape(first[2]).replace("@", "(.+)")
    names = [found[1] for name in figures if (found := re.fullmatch(pattern, name))]
    return "".join(line.replace("@", name) for name in names)


def main() -> None:
    """Put the figures into all pages."""
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        if PLACE.search(text):
            path.write_text(rewritten(text), encoding="utf-8")


if __name__ == "__main__":
    main()
