"""What an audit says of a situation, as answers to the questions of `affinity plan`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

YES_NO = "yes/no"


def said_by(path: Path) -> dict[str, Any]:
    """Return answers: today's committee, the scale, the spread, the largest bonus, who joins.

    Where the log sets no limit to the bonus, nothing is known of the bias.
    """
    from affinity_bandits.audit.result import read_audit

    found = read_audit(path)
    said: dict[str, Any] = {
        "groups": [group["name"] for group in found["groups"]],
        "scale": found["scale"],
        "bonus": _bonus(found["bonus"]),
        "committee": [group["members"] for group in found["groups"]],
    }
    if found["scale"] != YES_NO:
        said["spread"] = f"{found['spread']:.3g}"
    if found["joining"] > 0.0:
        said["joining"] = f"{100.0 * found['joining']:.4g}%"
    else:
        said["judges"] = "panels"  # nobody joins, so the committee would never change
    return said


def _bonus(ends: list[float] | None) -> str:
    """Return the largest bonus that is possible, in whole per cent."""
    if ends is None or math.isinf(ends[1]):
        return "no idea"
    return f"{math.ceil(100.0 * ends[1])}%"
