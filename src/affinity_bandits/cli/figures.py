"""Figures as tables show them."""

from __future__ import annotations

Interval = tuple[float, float, float]


def amount(found: Interval) -> str:
    """Return an amount and the ends of its interval, or of the runs around it."""
    return f"{short(found[0])} ({span(found)})"


def span(found: Interval) -> str:
    """Return two ends in few digits."""
    return f"{brief(found[1])}-{brief(found[2])}"


def rate(found: Interval | None) -> str:
    """Return a rate and its interval in percent."""
    return "-" if found is None else "{} ({})".format(*_percents(found))


def two_lines(found: Interval | None, of_runs: bool = False) -> str:
    """Return a figure, and on a second line its ends; a rate `of_runs` is in percent."""
    if found is None:
        return "-"
    parts = _percents(found) if of_runs else (short(found[0]), span(found))
    return "{}\n[dim]{}[/]".format(*parts)


def _percents(found: Interval) -> tuple[str, str]:
    mean, low, high = (100.0 * part for part in found)
    return f"{mean:.3g}%", f"{low:.3g}-{high:.3g}"


def short(value: float) -> str:
    """Return a number in few characters."""
    return f"{value:,.0f}" if 1000.0 <= value < 1e7 else f"{value:.3g}"


def brief(value: float) -> str:
    """Return a number of any size in at most six characters."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 0.9995 * scale:
            return f"{value / scale:.3g}{letter}" if value < 999.5 * scale else f"{value:.2g}"
    return f"{value:.3g}"
