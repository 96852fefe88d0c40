"""Counts of scores at a few nodes: what a round tells a policy that bets on single scores."""

from __future__ import annotations

from affinity_bandits.kernels import FloatArray


def add_score(nodes: FloatArray, score: float, seen: FloatArray, at: int) -> None:
    """Count a score at its node, or split it between the two that it lies between; a kernel.

    The two parts have the score as their mean. What lies beyond an end counts as that end.

    Args:
        nodes: ascending.
        score: to be counted.
        seen: where counts are kept.
        at: the place of the first node's count there.
    """
    last = len(nodes) - 1
    if score <= nodes[0]:
        seen[at] += 1.0
        return
    if score >= nodes[last]:
        seen[at + last] += 1.0
        return
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if score < nodes[middle]:
            high = middle
        else:
            low = middle
    above = (score - nodes[low]) / (nodes[high] - nodes[low])
    seen[at + low] += 1.0 - above
    seen[at + high] += above


def seen_size(nodes: FloatArray) -> int:
    """Return how many numbers a round tells of each arm: a count a node, or one sum; a kernel."""
    return max(1, len(nodes))
