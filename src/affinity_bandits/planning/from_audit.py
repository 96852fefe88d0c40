"""The answers that the result of an audit gives to the questions of a plan, and their words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput

TAKEN = {
    "groups": "the groups",
    "scale": "the scale",
    "spread": "the spread of scores within a group, {}",
    "bonus": "the upper end of the favor of all judges together as the bonus, {}",
    "favor_gap": "the largest difference between two groups' favors that its interval allows, {}",
    "judges_per_group": "the number of judges per group, {}",
}
UNKNOWN_TO_AUDIT = {
    "bonus": "how large the favor is",
    "favor_gap": (
        "how much more one group's judges favor their own than another's do theirs (needed if"
        " panels or the committee judge)"
    ),
    "strictness": "whether all groups' judges will be equally strict (needed for recusal)",
}


def answers_of_audit(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers that an audit gives: groups, scale, spread, bonus, favor gap, judges.

    The bonus is the upper end of the favor's interval, relative to the mean score above the worst
    one. It is "no idea" if the log cannot tell. The favor gap is the largest difference between two
    groups' favors that the intervals of these differences allow. It is "no idea" with two groups,
    and if the log cannot tell. Strictness always may differ: an interval leaves some difference
    open. The committee and outsiders are not in an audit. If the lowest score is the best, the plan
    is for the same scores turned round.

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
    judging = found.get("judging") or {}
    gap = judging.get("favor_gap")
    answers["favor_gap"] = "no idea" if gap is None else f"{gap:.3g}"
    answers["strictness"] = "no idea"
    numbers = [group["judges"] for group in found["groups"] if group.get("judges")]
    if numbers:
        answers["judges_per_group"] = str(round(sum(numbers) / len(numbers)))
    return answers


def tell_audit(
    answers: Mapping[str, object], said: Mapping[str, object], *, editable: bool = False
) -> list[str]:
    """Say what a plan took from an audit, and what it does not know from it.

    Args:
        answers: those of the audit.
        said: other answers, which override them.
        editable: whether answers may have been changed since.
    """
    used = {name: one for name, one in answers.items() if name not in said}
    unknown = [
        words
        for name, words in UNKNOWN_TO_AUDIT.items()
        if used.get(name, "no idea") == "no idea" and name not in said
    ]
    if "outsiders" not in said:
        unknown.append("whether there are people who belong to no group")
    taken = [
        TAKEN[name].format(used[name]) for name in TAKEN if name in used and used[name] != "no idea"
    ]
    words = [
        f"Taken from the audit{', unless changed since' if editable else ''}: {'; '.join(taken)}."
    ]
    return [*words, f"Not known from it: {'; '.join(unknown)}."] if unknown else words


def tell_judging(found: Mapping[str, Any]) -> list[str]:
    """Say what an audit found about the judges of different groups, and what follows for a plan."""
    judging = found.get("judging")
    names = [group["name"] for group in found["groups"]]
    if not judging:
        return ["The audit does not say how the judges of different groups differ."]
    words = []
    differing = [one for one in judging["favors"] if one["low"] > 0.0 or one["high"] < 0.0]
    if len(names) == 2:
        words.append(
            "With two groups scores cannot tell by how much each favors its own: half of a"
            " difference in favor looks like a difference in strictness. So the plan takes neither"
            " for granted; only people of neither group could settle it."
        )
    elif differing:
        largest = max(differing, key=lambda one: abs(one["points"]))
        more, less = largest["more"], largest["less"]
        if largest["points"] < 0.0:
            more, less = less, more
        low, high = sorted(abs(one) for one in (largest["low"], largest["high"]))
        words.append(
            f"Favors differ: judges from {more} favor their own by {abs(largest['points']):.2g}"
            f" points more than those from {less} do (95% interval {low:.2g} to {high:.2g}). So let"
            " outsiders judge, or third groups (neutral blocks)."
        )
    elif judging["favor_gap"] is not None:
        words.append(
            "No difference in favor between groups was found; the intervals allow up to"
            f" {judging['favor_gap']:.2g} points."
        )
    if judging["strictness"]:
        parts = [
            f"{one['name']} {one['points']:+.2g} ({one['low']:+.2g} to {one['high']:+.2g})"
            for one in judging["strictness"]
        ]
        words.append(
            f"What judges give everybody, compared with the mean of all groups: {', '.join(parts)}"
            f" points; single judges of a group differ by {judging['deviation']:.2g}."
        )
    use = found.get("scale_use")
    if use and use.get("ratio"):
        words.append(
            f"Judges from {use['best']} use {use['ratio']:.2g} times as much of the scale as those"
            f" from {use['worst']}. Within a block this cannot help a group."
        )
    return words
