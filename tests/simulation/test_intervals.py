"""The intervals of the result tables keep their word, for every law and number of samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.paper.item import student_interval
from affinity_bandits.simulation import intervals
from affinity_bandits.simulation.intervals import mean_interval, middle_runs, proportion_interval

levels = st.floats(0.01, 0.999)
samples_in_range = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)

LAWS = [
    (0.0, 1.0, 0.005),
    (0.0, 1.0, 0.05),
    (0.0, 1.0, 0.5),
    (0.1, 1.0, 0.005),  # rare disasters
    (0.1, 1.0, 0.02),
    (0.1, 1.0, 0.2),
    (0.0, 1.0, 0.96),  # most runs are deceived
    (1e-5, 1.0, 0.04),
    (0.2, 0.3, 0.5),
]
"""Two-point laws: lower value, upper value, probability of the upper one."""


def coverage(interval: object, low: float, high: float, part: float, count: int) -> float:
    """The exact probability to cover: a sum over how many samples take the upper value."""
    hits = np.arange(count + 1)
    table = np.where(np.arange(count)[:, None] < hits, high, low)
    _, lower, upper = interval(table)  # type: ignore[operator]
    mean = low + part * (high - low)
    covered = (lower <= mean) & (mean <= upper)
    return float(stats.binom.pmf(hits, count, part)[covered].sum())


def ours(table: object) -> tuple[object, object, object]:
    return mean_interval(table, 0.0, 1.0)


def students(table: np.ndarray) -> object:
    return np.array([student_interval(column, 0.95) for column in table.T]).T


@pytest.mark.parametrize("count", [1, 5, 50])
@pytest.mark.parametrize("law", LAWS)
def test_two_point_laws_are_covered(law: tuple[float, float, float], count: int) -> None:
    """Nothing is sampled here: the coverage is a sum, and must be at least the level."""
    assert coverage(ours, *law, count) >= 0.95


def test_students_interval_does_not_cover_them() -> None:
    """The planted error. Without a disaster among the samples it has no width at all."""
    found = {law: coverage(students, *law, 50) for law in LAWS}
    assert sum(part < 0.95 for part in found.values()) >= 7
    assert found[0.0, 1.0, 0.005] < 0.3
    assert found[0.1, 1.0, 0.02] < 0.7


@pytest.mark.slow
@given(samples_in_range, levels)
def test_it_holds_the_mean_and_stays_in_the_range(samples: list[float], level: float) -> None:
    mean, low, high = mean_interval(samples, 0.0, 1.0, level)
    assert mean == pytest.approx(np.mean(samples), rel=1e-12)
    assert 0.0 <= low <= mean <= high <= 1.0


@pytest.mark.slow
@given(samples_in_range, st.randoms(use_true_random=False))
def test_order_does_not_matter(samples: list[float], random) -> None:  # type: ignore[no-untyped-def]
    mixed = samples.copy()
    random.shuffle(mixed)
    found = np.array(mean_interval(samples, 0.0, 1.0))
    assert np.array(mean_interval(mixed, 0.0, 1.0)) == pytest.approx(found, rel=1e-9, abs=1e-10)


@pytest.mark.slow
@given(samples_in_range, st.floats(-1e6, 1e6), st.floats(1e-3, 1e12))
def test_it_moves_with_the_range(samples: list[float], start: float, width: float) -> None:
    moved = start + width * np.array(samples)
    found = mean_interval(moved.clip(start, start + width), start, start + width)
    expected = start + width * np.array(mean_interval(samples, 0.0, 1.0))
    assert np.array(found) == pytest.approx(expected, rel=1e-6, abs=1e-6 * (abs(start) + width))


def test_the_ends_are_where_the_bets_reach_the_threshold() -> None:
    """The definition, written out for one column, without bisection."""
    samples = np.array([0.0, 0.1, 0.1, 0.4, 1.0, 0.2, 0.3])
    _, low, _ = mean_interval(samples, 0.0, 1.0, 0.9)
    z = np.sqrt(2.0 * np.log(2.0 / 0.1))
    bets = [("share", z / np.sqrt(7.0) * 2.0**k) for k in range(4)]  # 7 / z is between 2 and 4
    bets += [("fixed", min(1.0, z / np.sqrt(7.0) * 2.0**k)) for k in range(1 + int(z**2 < 7.0))]
    weights = [1.0 / ((k + 1) * (k + 2)) for k in range(4)]
    weights += [0.2 / (len(bets) - 4)] * (len(bets) - 4)
    assert sum(weights) == pytest.approx(1.0)

    def money(m: float) -> float:
        total = 0.0
        for weight, (kind, size) in zip(weights, bets, strict=True):
            c = min(1.0, size * np.sqrt(m / (1.0 - m))) if kind == "share" else size
            total += weight * np.prod(1.0 - c + c * samples / m)
        return float(total)

    assert money(float(low)) == pytest.approx(2.0 / 0.1, rel=1e-6)
    candidates = np.linspace(0.001, 0.999, 999)
    amounts = np.array([money(m) for m in candidates])
    assert (np.diff(amounts) <= 0.0).all()  # so that what is excluded is one piece
    assert ((amounts >= 20.0) == (candidates < low)).all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_along_any_axis_and_with_a_range_for_each_column(axis: int) -> None:
    samples = np.random.default_rng(1).random((4, 5, 6))
    moved = np.moveaxis(samples, axis, 0)
    high = 1.0 + np.arange(moved[0].size).reshape(moved.shape[1:])
    mean, low, up = mean_interval(samples, -1.0, high, 0.9, axis)
    assert mean.shape == low.shape == up.shape == moved.shape[1:]
    for place in np.ndindex(mean.shape):
        single = mean_interval(moved[:, *place], -1.0, high[place], 0.9)
        assert [mean[place], low[place], up[place]] == pytest.approx([*map(float, single)])


def test_it_shrinks_to_the_mean_as_samples_grow() -> None:
    """The widest law has 1.6 times the width of a Gaussian mean's interval, 3.92 s / sqrt(n)."""
    for count in (100, 1000, 10_000, 100_000):
        half = np.arange(count) % 2 == 0
        _, low, high = mean_interval(half.astype(float), 0.0, 1.0)
        assert high - low < 1.6 * 3.92 * 0.5 / np.sqrt(count)
        # Where all agree, 1 / n remains, which rare disasters might hide behind.
        _, low, high = mean_interval(np.full(count, 0.2), 0.0, 1.0)
        assert high - low < 16.0 / count


def test_all_at_an_end_of_the_range() -> None:
    """With nothing but zeros the upper end m is near (1 - m)**n = 1 / 40 for all bets together."""
    _, low, high = mean_interval(np.zeros(100), 0.0, 1.0)
    assert low == 0.0
    assert 1.0 - (1.0 / 40.0) ** 0.01 < high < 1.5 * (1.0 - (1.0 / 40.0) ** 0.01)
    _, low, up = mean_interval(np.ones(100), 0.0, 1.0)
    assert (1.0 - float(low), float(up)) == pytest.approx((float(high), 1.0))


@pytest.mark.parametrize("seed", range(2))
def test_gathering_many_samples_widens_and_by_little(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splitting between nodes is valid for the very samples, so no end may move inwards."""
    random = np.random.default_rng(seed)
    count = 3000
    table = np.stack(
        [
            random.random(count),
            random.beta(0.02, 0.2, count),
            np.where(random.random(count) < 0.01, random.random(count), 0.1),
            0.2 + 1e-4 * random.standard_normal(count),
            1e-7 * random.exponential(size=count),
            random.integers(0, 3, count) / 2.0,
        ],
        axis=1,
    ).clip(0.0, 1.0)
    _, low, high = mean_interval(table, 0.0, 1.0)
    monkeypatch.setattr(intervals, "MOST_EXACT", count)
    _, exact_low, exact_high = mean_interval(table, 0.0, 1.0)
    tolerance = 2.0**-31  # of two bisections
    assert (low <= exact_low + tolerance).all()
    assert (high >= exact_high - tolerance).all()
    assert high - low == pytest.approx(exact_high - exact_low, rel=5e-3)


def test_nodes_that_split_in_the_wrong_place_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: samples moved to the nearest node, which does move ends inwards."""

    def nearest(samples: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        at = np.abs(samples[:, None] - nodes).argmin(axis=1)
        return np.bincount(at, minlength=len(nodes)).astype(float)

    table = 1.0 - np.random.default_rng(0).random((3000, 8)) ** 4
    monkeypatch.setattr(intervals, "NODES", 8)
    _, split_low, _ = mean_interval(table, 0.0, 1.0)
    monkeypatch.setattr(intervals, "_split", nearest)
    _, moved_low, _ = mean_interval(table, 0.0, 1.0)
    monkeypatch.setattr(intervals, "MOST_EXACT", 3000)
    _, exact_low, _ = mean_interval(table, 0.0, 1.0)
    assert (split_low <= exact_low).all()
    assert (moved_low > exact_low).any()


def test_what_is_impossible_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"samples must be between low and high.*1\.5"):
        mean_interval([0.2, 1.5], 0.0, 1.0)
    with pytest.raises(InvalidInput, match="samples must be at least one"):
        mean_interval([], 0.0, 1.0)


@given(samples_in_range)
def test_at_least_nine_runs_in_ten_lie_in_the_middle(samples: list[float]) -> None:
    median, low, high = middle_runs(samples)
    assert {float(median), float(low), float(high)} <= set(samples)
    inside = [low <= sample <= high for sample in samples]
    assert np.mean(inside) >= 0.9
    assert np.mean([sample <= median for sample in samples]) >= 0.5


@pytest.mark.slow
@given(st.data(), levels)
def test_proportion_interval_is_the_exact_one(data: st.DataObject, level: float) -> None:
    trials = data.draw(st.integers(1, 2000))
    hits = data.draw(st.integers(0, trials) | st.sampled_from([0, 1, trials]))
    proportion, low, high = proportion_interval(hits, trials, level)
    exact = stats.binomtest(hits, trials).proportion_ci(level, method="exact")
    assert proportion == hits / trials
    assert (low, high) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-12)
    assert 0.0 <= low <= proportion <= high <= 1.0


def test_students_interval_of_numbers_worked_out_by_hand() -> None:
    # Mean 2, standard deviation 1, and 4.302653 is the 97.5% quantile with two degrees of freedom.
    half = 4.302652729911275 / np.sqrt(3.0)
    assert student_interval([1.0, 2.0, 3.0], 0.95) == pytest.approx((2.0, 2.0 - half, 2.0 + half))
