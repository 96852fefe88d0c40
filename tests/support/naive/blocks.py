"""The twin of neutral and crossed blocks: it keeps every block and recomputes all from them.

Written from `docs/plan/neutral-blocks.md`, "The rule, in full", and `docs/plan/crossed-blocks.md`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

SIZES = [2.0 * 2.0 ** (-place / 2) for place in range(48)]
TARGET = "target"


class Answered(NamedTuple):
    """A block: the kind of its rater, its scores, and the number of its round."""

    kind: int
    scores: dict[int, float]
    number: int


class NaiveBlocks:
    """Neutral blocks, slow and literal; with a gap between favors, crossed ones."""

    def __init__(
        self,
        groups: int,
        failure: float = 0.05,
        *,
        outsiders: bool = False,
        target: int = 0,
        favor_gap: float | None = None,
    ) -> None:
        self.groups, self.failure, self.outsiders = groups, failure, outsiders
        self.target = target
        self.crossed = favor_gap is not None
        self.hidden_lead = (favor_gap or 0.0) / groups
        self.largest = 0.9 / (1.0 + self.hidden_lead)
        self.left = list(range(groups))
        self.leader: int | None = None
        self.blocks: list[Answered] = []
        self.lengths = [4]
        self.doubled = 1
        density = [
            0.03 * 2.0 ** (-place / 4) + math.exp(-0.5 * (math.log(size / 0.3) / 0.7) ** 2)
            for place, size in enumerate(SIZES)
        ]
        self.prior: dict[float | str, float] = {0.0: 0.02}
        for size, one in zip(SIZES, density, strict=True):
            self.prior[size] = 0.98 * one / sum(density)
        if target:
            self.prior = {stake: 0.6 * part for stake, part in self.prior.items()} | {TARGET: 0.4}
        self.wealth = {group: dict(self.prior) for group in self.left}
        self.waiting = self.open()

    def open(self) -> list[int]:
        """Return the kinds of the raters of a round, in their order; fix its stakes."""
        one_pass = [kind for kind in range(self.groups + 1) if self.sits(kind)]
        each = sum(len(self.block(kind)) for kind in one_pass)
        passes, length = sum(self.lengths[:-1]), self.lengths[-1]
        self.stakes: dict[int, dict[float | str, float]] = {}
        for group in self.left:
            if self.leader is None or group == self.leader:
                continue
            neutral = sum(group in self.block(k) and self.leader in self.block(k) for k in one_pass)
            variance = neutral * self.variance(self.leader, group)
            fixed: dict[float | str, float] = {}
            for size in SIZES:
                if size * size * variance * (passes + length) < 0.06:
                    break
                fixed[size] = min(size, self.largest)
            if self.target:
                fixed[TARGET] = min(self.aimed(group, variance, each), self.largest)
            self.stakes[group] = fixed
        return one_pass * length

    def aimed(self, group: int, variance: float, each: int) -> float:
        scores = sum(len(block.scores) for block in self.blocks)
        passes, length = sum(self.lengths[:-1]), self.lengths[-1]
        ahead = (self.target - scores) / each
        if ahead < length:
            ahead = 0.5 * passes
        if ahead < length:
            return 0.0
        own = self.wealth[group][TARGET] * self.failure
        others = sum(self.wealth[group].values()) * self.failure - own
        chance = own / max(own, 1.0 - others)
        if not 1e-9 <= chance < 1.0:
            return 0.0
        root = math.sqrt(-2.0 * math.log(min(chance, 1.0 - chance)))
        z = root - (2.30753 + 0.27061 * root) / (1.0 + 0.99229 * root + 0.04481 * root * root)
        density = math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)
        return min(density / (chance * math.sqrt(ahead * variance)), 2.0)

    def sits(self, kind: int) -> bool:
        if self.crossed:
            return kind < self.groups
        if self.outsiders:
            return kind == self.groups
        return kind < self.groups and kind != self.leader and len(self.block(kind)) >= 2

    def block(self, kind: int) -> list[int]:
        return [group for group in self.left if self.crossed or group != kind]

    def asked(self) -> tuple[int, list[int]] | None:
        """Return the kind of the next rater, and the groups of the block."""
        if len(self.left) == 1:
            return None
        return self.waiting[0], self.block(self.waiting[0])

    def told(self, scores: dict[int, float]) -> None:
        kind = self.waiting.pop(0)
        self.blocks.append(Answered(kind, dict(scores), len(self.lengths)))
        if not self.waiting:
            self.settle()
            self.close()

    def settle(self) -> None:
        for block in self.blocks:
            if block.number != len(self.lengths) or self.leader not in block.scores:
                continue
            for group, fixed in self.stakes.items():
                if group in block.scores:
                    lead = block.scores[self.leader] - block.scores[group] - self.hidden_lead
                    for stake, size in fixed.items():
                        self.wealth[group][stake] *= 1.0 + size * lead

    def close(self) -> None:
        number, passes = len(self.lengths), sum(self.lengths)
        if self.leader is not None:
            returns = passes >= 2 * self.doubled
            if returns:
                self.doubled = passes
            for group in [one for one in self.left if one != self.leader]:
                if sum(self.wealth[group].values()) >= 1.0 / self.failure:
                    self.left.remove(group)
                elif returns:
                    self.give_back(group, 0.02)
        if len(self.left) > 1 and (self.leader is None or number % 2 == 0):
            self.choose()
        if len(self.left) > 1:
            self.lengths.append(max(1, passes // 40))
            self.waiting = self.open()

    def give_back(self, group: int, part: float) -> None:
        total = sum(self.wealth[group].values())
        for stake, share in self.prior.items():
            kept = (1.0 - part) * self.wealth[group][stake]
            self.wealth[group][stake] = kept + part * total * share

    def choose(self) -> None:
        found = None
        if self.leader is None:
            sums = {one: sum(self.pair(one, b)[1] for b in self.left if b != one)
                    for one in self.left}  # fmt: skip
            found = max(self.left, key=lambda one: sums[one])
        else:
            means = {}
            for one in self.left:
                count, total, _ = self.pair(one, self.leader)
                if one != self.leader and count > 0.0:
                    means[one] = total / count
            best = max(means, key=lambda one: means[one])
            noise = self.variance(best, self.leader) / self.pair(best, self.leader)[0]
            clearly = 0.25 * (1.0 + math.sqrt(2.0 * math.log(len(self.left))))
            if means[best] > clearly * math.sqrt(noise):
                found = best
        if found is not None:
            self.leader = found
            for group in self.left:
                self.give_back(group, 1.0)

    def pair(self, a: int, b: int) -> tuple[float, float, float]:
        """Return blocks with both groups, their differences and squares, discounted by age."""
        count = total = squares = 0.0
        for block in self.blocks:
            if a in block.scores and b in block.scores:
                weight = 1.0
                for later in range(block.number, len(self.lengths)):
                    before = sum(self.lengths[:later])
                    weight *= before / (before + self.lengths[later])
                difference = block.scores[a] - block.scores[b]
                count += weight
                total += weight * difference
                squares += weight * difference * difference
        return count, total, squares

    def variance(self, a: int, b: int) -> float:
        count, total, squares = self.pair(a, b)
        seen = max(0.0, squares - total * total / count) if count else 0.0
        return (seen + 0.4) / (count + 2.0)
