"""A tree of bounds finds the largest index, whatever its bounds are, as long as they are bounds."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.policies.bound_tree import bound_again, bound_all, empty_tree, find_largest


def searches(ahead: float) -> list[tuple[int, int]]:
    """Pull what the tree finds, with bounds for `ahead`; return what a look at all finds, too."""
    rng = np.random.default_rng(5)
    arms = 203
    pulls = rng.integers(1, 4, arms).astype(float)
    means = rng.integers(0, 4, arms) / 4.0
    roots = 1.0 / np.sqrt(pulls)
    tree = empty_tree(arms)
    both = []
    for step in range(2_000):
        width = 1.0 + step / 1_000.0
        if width > tree.width[0] - min(ahead, 0.0):
            bound_all(tree, means, roots, width + ahead)
        arm = find_largest(tree, means, roots, width)
        both.append((arm, int(np.argmax(means + width * roots))))
        pulls[arm] += 1.0
        means[arm] += (rng.integers(0, 5) / 4.0 - means[arm]) / pulls[arm]
        roots[arm] = 1.0 / np.sqrt(pulls[arm])
        bound_again(tree, means, roots, arm)
    return both


@pytest.mark.parametrize("ahead", [0.0, 0.01, 0.2, 3.0])
def test_a_search_finds_the_largest_index_whatever_its_bounds_are(ahead: float) -> None:
    assert all(found == largest for found, largest in searches(ahead))


def test_a_search_with_bounds_that_are_too_low_does_not() -> None:
    assert any(found != largest for found, largest in searches(-0.2))
