"""Who should judge: the ways to judge that keep their promise, better ones first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from affinity_bandits.planning.assumptions import FEWEST_FOR_BLOCKS, JUDGES, Assumptions

if TYPE_CHECKING:
    from affinity_bandits.planning.plan import Plan


def ways_by_rule(given: Assumptions) -> list[tuple[str, ...]]:
    """Return the ways to judge that keep their promise under the answers, better ones first.

    Ways in the same tuple are as good as each other. Outsiders come first, if there are any. If all
    judges are said to be alike, whatever keeps its promise is as good. Otherwise neutral blocks
    come next, which need three groups, then what rests on answers about judges. The answer
    `given.judges` does not matter.
    """
    keep = [way for way in JUDGES if keeps_promise(given, way)]
    outsiders = tuple(way for way in keep if way == "outsiders")
    rest = tuple(way for way in keep if way != "outsiders")
    if given.alike:
        return [some for some in (outsiders, rest) if some]
    blocks = tuple(way for way in rest if way == "neutral")
    others = tuple(way for way in rest if way != "neutral")
    return [some for some in (outsiders, blocks, others) if some]


def best_first(ways: Sequence[Assumptions]) -> list[Assumptions]:
    """Return assumptions that differ in who judges, in the order of `ways_by_rule`.

    Those that keep no promise come last.
    """
    order = [way for some in ways_by_rule(ways[0]) for way in some]
    last = len(order)
    places = {way: place for place, way in enumerate(order)}
    return sorted(ways, key=lambda one: places.get(one.judges, last))


def keeps_promise(given: Assumptions, way: str) -> bool:
    """Return whether a way to judge is possible, and keeps its promise under the answers."""
    if way == "outsiders":
        return bool(given.outsiders)
    if way == "neutral":
        return given.groups >= FEWEST_FOR_BLOCKS and given.bounded
    if way == "recused" and given.bonus is None:
        return False
    return replace(given, judges=way).identified


def recommended(plans: Sequence[Plan]) -> Plan | None:
    """Return the plan that the rule recommends: of the best ways, the cheapest that is enough.

    If no number of choices that is enough is known for a better way, the next one follows. None if
    no plan is enough.
    """
    for ways in ways_by_rule(plans[0].assumptions):
        enough = [plan for plan in plans if plan.enough and plan.assumptions.judges in ways]
        if enough:
            return min(enough, key=lambda plan: plan.enough_choices or math.inf)
    return None
