"""Every way in which a short log can go, with its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from affinity_bandits.audit import DecisionLog, decision_log

Rule = Callable[[Sequence[int], Sequence[float]], int]
Level = Callable[[int, int], float]


def switching(groups: Sequence[int], scores: Sequence[float]) -> int:
    """Whoever scored high is left."""
    if not groups:
        return 0
    return 1 - groups[-1] if scores[-1] == 1.0 else groups[-1]


def staying(groups: Sequence[int], scores: Sequence[float]) -> int:
    """The first group until it scores high, and then the other one for ever."""
    return int(1.0 in scores)


def turns(groups: Sequence[int], scores: Sequence[float]) -> int:
    """One after the other."""
    return len(groups) % 2


RULES: dict[str, Rule] = {"switching": switching, "staying": staying, "turns": turns}


def every_path(
    rule: Rule, level: Level, rows: int, initial: dict[int, int]
) -> Iterator[tuple[float, DecisionLog]]:
    """Yield the probability of each log of scores 0 and 1, and the log."""
    for scores in product((0.0, 1.0), repeat=rows):
        groups: list[int] = []
        chance = 1.0
        for row, score in enumerate(scores):
            group = rule(groups, scores[:row])
            groups.append(group)
            high = level(group, row)
            chance *= high if score else 1.0 - high
        yield chance, decision_log(groups, scores, initial=initial)
