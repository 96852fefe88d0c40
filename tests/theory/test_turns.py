"""What knowing the bias f(x) = x is worth against taking turns (`docs/start/responsible-use.md`).

A score of a group with share x, divided by x, has the true value as its mean and 1/x**2 as its
variance, so x**2 is its information.
"""

from __future__ import annotations

import numpy as np
import pytest

INFORMATION = 1_000
"""That every group is to have."""
INITIAL = 1e-6
"""Members of each group at first: hardly any."""


def one_after_the_other(groups: int) -> int:
    """Return the choices until each group in its turn has the information."""
    committee = groups * INITIAL
    for _ in range(groups):
        chosen = np.arange(groups**2 * INFORMATION)  # as many as in turns
        share = (INITIAL + chosen) / (committee + chosen)
        needed = int(np.searchsorted(np.cumsum(share**2), INFORMATION)) + 1
        committee += needed
    return round(committee)


def in_turns(groups: int) -> int:
    """Return the choices until all have it, if all have the same share throughout."""
    return groups * groups**2 * INFORMATION


@pytest.mark.parametrize(("groups", "times"), [(2, 2.0), (4, 3.3), (8, 4.8)])
def test_one_group_after_the_other_takes_fewer_choices_if_the_bias_is_known(
    groups: int, times: float
) -> None:
    assert round(in_turns(groups) / one_after_the_other(groups), 1) == times


def test_however_many_groups_it_is_at_most_nine_times() -> None:
    """With S members a small group needs (3 I S**2)**(1/3) choices, so S grows as I K**3 / 9."""
    gains = [in_turns(groups) / one_after_the_other(groups) for groups in (16, 32)]
    assert gains == pytest.approx([6.15, 7.19], abs=0.01)
