"""Figures as the terminal's tables show them."""

from __future__ import annotations

from affinity_bandits.displays import Interval, percents, short, span


def two_lines(found: Interval | None, of_runs: bool = False) -> str:
    """Return a figure, and on a second line its ends; a rate `of_runs` is in percent."""
    if found is None:
        return "-"
    parts = percents(found) if of_runs else (short(found[0]), span(found))
    return "{}\n[dim]{}[/]".format(*parts)
