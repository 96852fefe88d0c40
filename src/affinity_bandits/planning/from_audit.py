"""The answers that the result of an audit gives to the questions of a plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput


def answers_of_audit(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers that an audit gives: groups, scale, spread of scores, bonus, favor gap.

    The bonus is the upper end of the favor's interval, relative to the mean score above the worst
    one. It is "no idea" if the log cannot tell. The favor gap is the largest difference that the
    intervals of two groups' favors allow, and left out if a group has none. The committee is not in
    an audit. If the lowest score is the best, the plan is for the same scores turned round.

    Args:
        found: the audit's result as JSON data.

    Raises:
        InvalidInput: its groups were declared as protected attributes, or judges give their own
            group less, which plans do not allow for.
    """
    if found.get("declaration"):
        Declaration.from_json(found["declaration"]).check_comparison()
    if found["word"] in ("shown less", "indicated less"):
        rule = "an audit in which judges do not give their own group less: plans allow for more"
        raise InvalidInput("from", rule, found["word"])
    worst, best = found["scale"]
    low, high = min(worst, best), max(worst, best)
    counts = [group["scores"] for group in found["groups"]]
    total = sum(n * group["mean"] for n, group in zip(counts, found["groups"], strict=True))
    level = abs(total / sum(counts) - worst)
    answers: dict[str, Any] = {
        "groups": [group["name"] for group in found["groups"]],
        "scale": f"{low:g}..{high:g}",
        "bonus": "no idea",
    }
    if found["spread"]:
        answers["spread"] = f"{found['spread']:.3g}"
    if found["word"] != "cannot tell" and found["favor"] is not None and level > 0.0:
        answers["bonus"] = f"{math.ceil(100.0 * max(0.0, found['favor']['high']) / level)}%"
        favors = [group.get("favor") for group in found["groups"]]
        if all(favors):
            pairs = itertools.permutations(favors, 2)
            gap = max(one["high"] - other["low"] for one, other in pairs)
            answers["favor_gap"] = f"{max(0.0, gap):.3g}"
    return answers
