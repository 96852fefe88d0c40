"""Results of several seeds, and policies in an order that says what it does not know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, InvalidInput, PolicyRun, Result, simulate
from affinity_bandits.kernels.kernel import FloatArray

BANDIT = AffinityBandit([0.4, 0.6])
HORIZON = 1000


def made(wrong: FloatArray, seed: int = 0) -> Result:
    """A result whose policies pull the worse arm in these parts of the pulls."""
    pulls = np.round(HORIZON * wrong).astype(np.int64)
    both = np.stack([pulls, HORIZON - pulls], axis=-1)[:, :, None, :]
    policies, replicates = wrong.shape
    return Result(
        bandit=BANDIT,
        runs=tuple(PolicyRun(f"p{i}", {"name": f"p{i}"}, False, "steps") for i in range(policies)),
        horizon=HORIZON,
        seed=seed,
        replicates=np.arange(replicates),
        checkpoints=np.array([HORIZON]),
        pulls=both,
        candidates=np.ones((policies, replicates, 2), dtype=np.int64),
        decided_at=np.zeros((policies, replicates), dtype=np.int64),
    )


def test_those_that_differ_are_ranked_and_the_rest_share_their_ranks() -> None:
    rng = np.random.default_rng(1)
    common = 0.4 * rng.random(200)
    noise = 0.02 * rng.random((4, 200))
    result = made(np.stack([common + 0.3, common, common, common + 0.1]) + noise)
    found = result.ranking()
    assert [one.rank for one in found.policies] == ["1-2", "1-2", "3", "4"]
    assert [one.label for one in found.policies[2:]] == ["p3", "p0"]
    assert {one.label for one in found.policies[:2]} == {"p1", "p2"}
    assert found.policies[0].not_told_from == (found.policies[1].label,)
    assert "not told from" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.difference("p1", "p3").low > 0.0
    with pytest.raises(InvalidInput, match="another policy of the ranking"):
        found.difference("p1", "p1")


@pytest.mark.slow
def test_equal_policies_are_hardly_ever_told_apart() -> None:
    """Five of one bimodal law, 20 runs each: at most 5% of rankings may say that two differ.

    Of 60 rankings, a method that errs in 5% says so in more than 9 with a probability of 0.001, and
    one that errs in 30% in at most 9 with a probability of 0.007.
    """
    rng = np.random.default_rng(2)
    mistakes = 0
    for _ in range(60):
        found = made(np.where(rng.random((5, 20)) < 0.3, 0.9, 0.05)).ranking()
        mistakes += any(one.rank != "1-5" for one in found.policies)
    assert mistakes <= 9


def test_one_policy_is_first() -> None:
    assert made(np.full((1, 3), 0.5)).ranking().policies[0].rank == "1"


def test_results_of_different_seeds_are_merged(tmp_path: Path) -> None:
    def run(seed: int, first: int = 0, count: int = 3) -> Result:
        return simulate(BANDIT, "uniform", 20, count, seed, first_replicate=first, engine="python")

    large = 2**100
    merged = run(large).merge(run(5)).merge(run(5, 3, 2))
    assert merged.seeds == (5, large)
    assert merged.parts == ((5, 5), (large, 3))
    assert merged.replicates.tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
    np.testing.assert_array_equal(merged.pulls, run(5, 0, 5).merge(run(large)).pulls)
    assert "seeds 5, " in repr(merged)
    merged.save(tmp_path / "r.npz")
    again = Result.load(tmp_path / "r.npz")
    assert (again.parts, again.seed) == (merged.parts, 5)
    table = again.to_pandas()
    assert table.groupby("seed").replicate.nunique().to_dict() == {"5": 5, str(large): 3}
    assert again.to_xarray().seed.values.tolist() == ["5"] * 5 + [str(large)] * 3
    with pytest.raises(InvalidInput, match="1 that are in both, first 2 of 5"):
        merged.merge(run(5, 2, 1))
    assert run(5, 0, 2).merge(run(5, 2, 1)).parts == ()


def test_the_repr_of_a_result_is_short() -> None:
    assert len(repr(made(np.full((9, 5), 0.5)))) < 200
