"""Scores of a stated spread are the worst for whoever bets, among all of that mean and spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits.planning import Assumptions, hard_worlds
from affinity_bandits.planning.worlds import two_scores

ROUNDING = 1e-9


@given(
    mean=st.floats(0.0, 1.0),
    spread=st.floats(1e-3, 0.5),
    best=st.booleans(),
)
def test_two_scores_have_the_mean_and_the_spread_as_far_as_it_can_be_had(
    mean: float, spread: float, best: bool
) -> None:
    world = hard_worlds(Assumptions(2, 1000, 0.2, spread=spread))[0].world
    low, high, chance = two_scores(world, mean, best)
    assert 0.0 <= low <= high <= 1.0 + ROUNDING
    assert 0.0 <= chance <= 1.0
    assert low + chance * (high - low) == pytest.approx(mean)
    variance = chance * (1.0 - chance) * (high - low) ** 2
    assert variance == pytest.approx(min(spread**2, mean * (1.0 - mean)), abs=1e-12)
    assert (low == 0.0) if best else (high == 1.0)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    others=st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=2, max_size=6),
    centre=st.floats(0.05, 0.95),
    part=st.floats(0.05, 1.0),
    best=st.booleans(),
)
def test_no_scores_of_that_mean_and_spread_win_less_for_a_bet(
    others: list[tuple[float, float]], centre: float, part: float, best: bool
) -> None:
    """Bets are on the best group scoring above a centre and on others scoring below it."""
    scores, weights = np.array(others).T
    weights /= weights.sum()
    mean = float(scores @ weights)
    spread = float(np.sqrt(weights @ (scores - mean) ** 2))
    if spread < 1e-3:
        return
    stake = part * 0.9 / max(centre, 1.0 - centre) * (1.0 if best else -1.0)
    world = hard_worlds(Assumptions(2, 1000, 0.2))[0].world._replace(spread=spread)
    low, high, chance = two_scores(world, mean, best)
    worst = (1.0 - chance) * np.log1p(stake * (low - centre))
    worst += chance * np.log1p(stake * (high - centre))
    assert worst <= weights @ np.log1p(stake * (scores - centre)) + ROUNDING
