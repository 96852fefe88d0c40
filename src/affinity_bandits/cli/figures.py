"""Figures as tables show them."""

from __future__ import annotations

Interval = tuple[float, float, float]


def amount(found: Interval) -> str:
    """Return an amount and half the length of its interval."""
    mean, _, high = found
    half = high - mean if high - mean > 1e-9 * mean else 0.0  # less is rounding of the mean
    return f"{short(mean)} ±{short(half)}"


def rate(found: Interval | None) -> str:
    """Return a rate and its interval in percent."""
    if found is None:
        return "-"
    mean, low, high = (100.0 * part for part in found)
    return f"{mean:.3g}% ({low:.3g}-{high:.3g})"


def short(value: float) -> str:
    """Return a number in few characters."""
    return f"{value:,.0f}" if 1000.0 <= value < 1e7 else f"{value:.3g}"
