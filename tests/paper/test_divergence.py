"""Both sides of the divergence decomposition agree; wrong formulas do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.paper.divergence import ITEM, NAMES, claims, run

QUICK = ITEM.settings["quick"]
LAB = None
"""No cell is run."""


@pytest.mark.slow
def test_claims_hold() -> None:
    assert all(claim.holds for claim in claims(run(QUICK, LAB)))


@pytest.mark.slow
def test_with_weights_that_are_not_squared_the_sides_differ() -> None:
    """The planted wrong world: W in place of W squared."""
    *equalities, _ = claims(run(replace(QUICK, power=1.0, replicates=500), LAB))
    assert len(equalities) == 2 * len(NAMES)
    assert not any(claim.holds for claim in equalities)


@pytest.mark.slow
def test_with_weights_of_the_next_pull_the_sides_differ() -> None:
    """The planted wrong world: a share that counts the pull itself."""
    *equalities, _ = claims(run(replace(QUICK, lag=1), LAB))
    assert not any(claim.holds for claim in equalities)
