"""Text forms of objects and numbers for prompts, notebooks and tables."""

from __future__ import annotations

import html
import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import NamedTuple

LONGEST = 280
"""Characters of a `repr`: what a prompt shows on a few lines."""
QUIET = "quiet"
"""In a field's metadata: the value that need not be shown."""


class Interval(NamedTuple):
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float


_parts = reprlib.Repr()
_parts.maxtuple = _parts.maxlist = _parts.maxdict = 6
_parts.maxstring = 80
_parts.maxother = 160
_parts.maxlong = 40


def one_line(value: object) -> str:
    """Return the `repr` of a dataclass or named tuple, shortened if it is long."""
    names = getattr(value, "_fields", None) or [
        item.name
        for item in fields(value)  # type: ignore[arg-type]
        if not (item.metadata.get(QUIET) and getattr(value, item.name) == item.metadata[QUIET])
    ]
    shown = ", ".join(f"{name}={_parts.repr(getattr(value, name))}" for name in names)
    text = f"{type(value).__name__}({shown})"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...)"


def one_in(part: float) -> str:
    """Return a part as "1 in 10" if it is one, else in percent.

    >>> one_in(0.1), one_in(0.3)
    ('1 in 10', '30%')
    """
    whole = round(1.0 / part)
    if abs(1.0 / part - whole) <= 1e-6 * whole:
        return f"1 in {whole:,}"
    return f"{100.0 * part:.3g}%"


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with every text escaped; an empty caption or head is left out."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    top = f"<thead>{line('th', head)}</thead>" if head else ""
    body = "".join(line("td", row) for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{top}<tbody>{body}</tbody></table>"


def latex(text: str) -> str:
    """Return a text with the characters escaped that LaTeX reads as commands."""
    return re.sub(r"([%&_#${}])", r"\\\1", text)


FEWEST_RUNS = 20
"""Runs that a table needs to print an interval. Of fewer, 5% is less than one run, so that no run
marks an end of 90% of all; and even if all are alike, the interval of a mean reaches more than
1 - 0.025**(1/20), a sixth, of the way to the largest possible value: 104G instead of 70k."""

TOO_FEW = "too few runs"


def amount(found: Interval | None, runs: int = FEWEST_RUNS) -> str:
    """Return an amount and the ends of its interval, which comes from so many runs."""
    return "-" if found is None else f"{short(found.estimate)} ({span(found, runs)})"


def span(found: Interval, runs: int = FEWEST_RUNS) -> str:
    """Return the two ends of an interval, in three digits, if it comes from enough runs."""
    if runs < FEWEST_RUNS:
        return TOO_FEW
    return f"{format_brief(found.low)} to {format_brief(found.high)}"


def rate(found: Interval | None) -> str:
    """Return a rate and its interval in percent."""
    return "-" if found is None else "{} ({})".format(*percents(found))


def percents(found: Interval) -> tuple[str, str]:
    """Return a rate in percent, and the ends of its interval."""
    mean, low, high = (100.0 * part for part in found)
    return f"{mean:.3g}%", f"{low:.2g} to {high:.2g}" if high < 99.5 else f"{low:.2g} to {high:.0f}"


def short(value: float) -> str:
    """Return a number in few characters, with an exponent only if it is very large or small.

    >>> short(0.1234), short(999.6), short(34_300.0), short(2.5e9), short(3e-7)
    ('0.123', '1,000', '34,300', '2.5G', '3e-07')
    """
    size = abs(value)
    if size >= 1e7:
        return format_brief(value)
    return f"{value:,.0f}" if size >= 99.95 else f"{value:.3g}"


def format_brief(value: float) -> str:
    """Return a number of any size in at most six characters."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * scale:
            return f"{value / scale:.3g}{letter}" if abs(value) < 999.5 * scale else f"{value:.2g}"
    return f"{value:.3g}"
