"""Differences of two policies on the same replicates: their mean, and whether intervals cover."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    InvalidInput,
    PairedDifference,
    PolicyRun,
    Power,
    Result,
    UnknownName,
    simulate,
)

PAIR = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
HORIZON = 1_000
LOSS = 0.2 * HORIZON
"""What a run loses that pulls the worse arm only; all that differ by more than rounding."""
RESULTS, RUNS = 400, 30
MOST_MISSES = 46
"""Of 400 intervals at 95%: at most 20 expected, with a standard deviation of 4.4, and 6 of them.

An interval that covers in 85% or fewer of cases misses 60 times on average, 7.1 the standard
deviation, and is found out with a probability of 97%; Student's on the rare law below misses more
than half of the time.
"""


def of_deceived(first: np.ndarray, second: np.ndarray) -> Result:
    """A result of two policies whose runs are deceived from the first pull on, or never."""
    wrong = HORIZON * np.array([first, second], dtype=np.int64)
    pulls = np.stack([wrong, HORIZON - wrong], axis=-1)[:, :, None, :]
    return Result(
        bandit=PAIR,
        runs=tuple(PolicyRun(label, {"name": label}, False, "steps") for label in ("a", "b")),
        horizon=HORIZON,
        seed=0,
        replicates=np.arange(len(first)),
        checkpoints=np.array([HORIZON]),
        pulls=pulls,
        candidates=np.ones((2, len(first), 2), dtype=np.int64),
        decided_at=np.zeros((2, len(first)), dtype=np.int64),
    )


def covers(found: PairedDifference, truth: float) -> bool:
    return found.low <= truth <= found.high


def test_it_is_the_mean_over_replicates() -> None:
    found = of_deceived(np.array([1, 1, 0, 1]), np.array([0, 1, 0, 0])).paired_difference("a", "b")
    assert found.mean == pytest.approx(0.5 * LOSS)
    assert -LOSS <= found.low <= found.mean <= found.high <= LOSS
    assert (found.first, found.second, found.replicates, found.level) == ("a", "b", 4, 0.95)
    assert str(found) == "regret of a minus b: 100 (too few runs)"
    many = of_deceived(np.tile([1, 1, 0, 1, 0], 4), np.tile([0, 1, 0, 0, 0], 4))
    twenty = many.paired_difference("a", "b")
    assert str(twenty) == f"regret of a minus b: 80 ({twenty.low:.3g} to {twenty.high:.3g})"


def test_policies_that_do_the_same_differ_by_nothing_worth_more_than_what_is_unseen() -> None:
    """Two labels of one policy meet the same noise, so every difference is 0."""
    result = simulate(PAIR, {"x": "ucb1", "y": "ucb1"}, HORIZON, 100, progress=False)
    found = result.paired_difference("x", "y")
    assert found.mean == 0.0
    assert found.high - found.low < 0.25 * LOSS
    alone = result.summary()[0].regret
    assert found.high - found.low < 2.0 * (alone[2] - alone[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (0.02, 0.0, 0.0),  # rare: most results see no deceived run at all
        (0.5, 0.5, 0.0),  # three places, 0 on average
        (0.3, 0.9, 0.3),  # whoever deceives the first deceives the second
        (0.98, 0.02, 0.0),
    ],
)
def test_intervals_of_bimodal_differences_cover(
    first: float, second: float, together: float
) -> None:
    """`together` is how often both are deceived by the same noise."""
    rng = np.random.default_rng(11)
    truth, missed = LOSS * (first - second), 0
    for _ in range(RESULTS):
        both = rng.random(RUNS) < together
        left = (first - together) / (1.0 - together), (second - together) / (1.0 - together)
        one, other = (both | (rng.random(RUNS) < chance) for chance in left)
        missed += not covers(of_deceived(one, other).paired_difference("a", "b"), truth)
    assert missed <= MOST_MISSES


def test_a_policy_is_not_compared_with_itself() -> None:
    result = of_deceived(np.array([1]), np.array([0]))
    with pytest.raises(InvalidInput, match="second must be another policy than 'a'"):
        result.paired_difference("a", "a")
    with pytest.raises(UnknownName, match="one of a, b"):
        result.paired_difference("a", "c")
    with pytest.raises(InvalidInput, match="level"):
        result.paired_difference("a", "b", level=1.0)
