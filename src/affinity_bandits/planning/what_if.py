"""Effects of another budget or another difference, read off the curves of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from affinity_bandits.planning.plan import Plan


def detectable_with(plan: Plan, choices: float) -> float | None:
    """Return the smallest difference that is told apart with so many choices; None for none."""
    if choices == plan.assumptions.horizon:
        return plan.detectable
    points = _curve(plan)
    choices /= _shift(plan, points)
    return _interpolated(points, choices) if points and choices >= points[0][0] else None


def choices_for(plan: Plan, difference: float) -> float | None:
    """Return about how many choices a difference takes in 19 of 20 cases.

    None if it takes more than the curve shows.
    """
    points = _curve(plan)
    if not points or difference < points[-1][1]:
        return None
    return _interpolated(_reversed(points), difference) * _shift(plan, points)


def _shift(plan: Plan, points: Sequence[tuple[float, float]]) -> float:
    """Return the factor that shifts the curve to the cost measured for the plan's difference.

    The curve has few runs, so its own figure may contradict the verdict.
    """
    stated = plan.assumptions.smallest_difference
    if plan.enough_choices is None or not points or stated < points[-1][1]:
        return 1.0
    return plan.enough_choices / _interpolated(_reversed(points), stated)


def _reversed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(seen, choices) for choices, seen in reversed(points)]


def _curve(plan: Plan) -> list[tuple[float, float]]:
    """Return choices, ascending, and the differences that are told apart with them, falling."""
    points: list[tuple[float, float]] = []
    for one in plan.reach:
        if one.detectable is not None and (not points or one.detectable < points[-1][1]):
            points.append((float(one.horizon), one.detectable))
    return points


def _interpolated(points: Sequence[tuple[float, float]], x: float) -> float:
    """Return the value at x of a line through points on logarithmic scales, level at its ends."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            part = max(0.0, math.log(x / x0) / math.log(x1 / x0))
            return float(y0 * (y1 / y0) ** part)
    return points[-1][1]
