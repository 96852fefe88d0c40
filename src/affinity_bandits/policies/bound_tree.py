"""A tree of upper bounds: the arm of the largest index, without looking at every arm.

The index of an arm is mean + width / sqrt(pulls), and the width grows with the clock. So an index
at a width somewhat larger than today's is a bound, and stays one for a while. The tree has the
bounds of all arms as leaves and is searched from the top, where the largest bound is. The choice is
the same as by looking at every arm, to the bit: products and sums round monotonically, so no bound
is below the index that it bounds, and the indices compared are those of today's width.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel
from affinity_bandits.policies.state import counts, reals

LOWEST = float(np.finfo(np.float64).min)


class BoundTree(NamedTuple):
    """Node n stands above the nodes 2n and 2n + 1; the leaf of arm i is node K + i.

    Many arms may have the same mean and pulls, for example all that were pulled once and failed. A
    node takes them together: it has the first of the arms that lead below it, and the largest bound
    of all others.
    """

    width: FloatArray  # [0]: that of the bounds, or -1 as long as there are none
    leaders: IntArray
    bounds: FloatArray  # the leader's
    others: FloatArray
    waiting: IntArray  # nodes that a search must still look at


def empty_tree(arms: int) -> BoundTree:
    """Return a tree without bounds, as part of a state."""
    size = 2 * arms
    depth = arms.bit_length() + 1
    return BoundTree(reals(1, -1.0), counts(size), reals(size), reals(size, LOWEST), counts(depth))


@kernel
def find_largest(
    tree: BoundTree, means: FloatArray, inverse_roots: FloatArray, width: float
) -> int:
    """Return the first arm of the largest mean + width / sqrt(pulls)."""
    arms = len(means)
    waiting = tree.waiting
    best = int(tree.leaders[1])
    highest = means[best] + width * inverse_roots[best]
    waiting[0] = 1
    left = 1
    while left > 0:
        left -= 1
        node = waiting[left]
        # The leader of this node has been compared; below it, others may have a larger index.
        while node < arms and tree.others[node] >= highest:
            near, far = 2 * node, 2 * node + 1
            if tree.leaders[near] != tree.leaders[node]:
                near, far = far, near
            if tree.bounds[far] >= highest:
                arm = tree.leaders[far]
                index = means[arm] + width * inverse_roots[arm]
                if index > highest or (index == highest and arm < best):
                    highest = index
                    best = int(arm)
                waiting[left] = far
                left += 1
            node = near
    return best


@kernel
def bound_all(tree: BoundTree, means: FloatArray, inverse_roots: FloatArray, width: float) -> None:
    """Bound all indices up to a width."""
    arms = len(means)
    tree.width[0] = width
    for arm in range(arms):
        tree.leaders[arms + arm] = arm
        tree.bounds[arms + arm] = means[arm] + width * inverse_roots[arm]
    for above in range(1, arms):
        join_below(tree, means, inverse_roots, arms - above)


@kernel
def bound_again(tree: BoundTree, means: FloatArray, inverse_roots: FloatArray, arm: int) -> None:
    """Bound the index of an arm that was pulled."""
    node = len(means) + arm
    tree.bounds[node] = means[arm] + tree.width[0] * inverse_roots[arm]
    node //= 2
    while node > 0:
        join_below(tree, means, inverse_roots, node)
        node //= 2


@kernel
def join_below(tree: BoundTree, means: FloatArray, inverse_roots: FloatArray, node: int) -> None:
    """Set a node by the two below it."""
    high, low = 2 * node, 2 * node + 1
    if tree.bounds[low] > tree.bounds[high]:
        high, low = low, high
    one, two = tree.leaders[high], tree.leaders[low]
    tree.bounds[node] = tree.bounds[high]
    if means[one] == means[two] and inverse_roots[one] == inverse_roots[two]:
        tree.leaders[node] = min(one, two)
        tree.others[node] = max(tree.others[high], tree.others[low])
    else:
        tree.leaders[node] = one
        tree.others[node] = max(tree.others[high], tree.bounds[low])


@kernel
def pulls_ahead(arms: int, clock: float) -> float:
    """Return for how many pulls bounds shall hold.

    In so many pulls, K leaves are bounded anew; a search looks at about 1 + ahead / (2 log clock)
    leaves. This number makes both equally many.
    """
    return math.ceil(math.sqrt(2.0 * arms * math.log(clock)))
