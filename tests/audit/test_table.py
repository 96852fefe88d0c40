"""The table of a log is what a slow count finds."""

from __future__ import annotations

from collections import Counter

import numpy as np

from affinity_bandits.audit import decision_log
from affinity_bandits.audit.table import (
    BINS,
    bin_of,
    bin_shares,
    block_end,
    nodes_of,
    table_of,
)


def test_counts_are_those_of_a_slow_count() -> None:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 3, 700)
    score = rng.integers(0, 5, 700) / 4
    log = decision_log(group, score, initial={0: 30, 1: 3, 2: 1})
    table = table_of(log)
    blocks = np.searchsorted(table.edges, np.arange(700), side="right") - 1
    wanted: Counter[tuple[int, int, int, float]] = Counter()
    times: Counter[tuple[int, int, int]] = Counter()
    for row in range(700):
        cell = (int(group[row]), int(blocks[row]), bin_of(log.share[row]))
        wanted[(*cell, score[row])] += 1
        times[cell] += row
    cells = list(zip(table.group.tolist(), table.block.tolist(), table.bin.tolist(), strict=True))
    assert len(set(cells)) == len(cells)
    assert sorted(table.block.tolist()) == table.block.tolist()
    for cell, counts, time in zip(cells, table.counts, table.times, strict=True):
        assert [wanted[(*cell, node)] for node in table.nodes] == counts.tolist()
        assert times[cell] == time
    assert table.counts.sum() == 700


def test_scores_between_nodes_keep_count_and_sum() -> None:
    rng = np.random.default_rng(3)
    log = decision_log(rng.integers(0, 2, 300), rng.random(300), initial={0: 5, 1: 5})
    table = table_of(log)
    assert len(table.nodes) == 17
    np.testing.assert_allclose(table.counts.sum(), 300)
    np.testing.assert_allclose((table.counts @ table.nodes).sum(), log.score.sum())


def test_every_share_is_near_what_stands_for_its_bin() -> None:
    shares = np.linspace(0, 1, 5_001)
    bins = [bin_of(share) for share in shares]
    assert bins[0] == 0
    assert bins[-1] == BINS - 1
    assert np.abs(bin_shares()[bins] - shares).max() < 0.5 / 120


def block_edges(rows: int) -> np.ndarray:
    """Return the first row of each block, and the number of rows."""
    edges = [0]
    while edges[-1] < rows:
        edges.append(block_end(edges[-1]))
    return np.array([*edges[:-1], rows])


def test_blocks_of_a_beginning_are_those_of_the_whole() -> None:
    whole = block_edges(10**7)
    assert len(whole) < 250
    for rows in (1, 4, 5, 999, 12_345):
        part = block_edges(rows)
        assert part[-1] == rows
        assert part[:-1].tolist() == whole[: len(part) - 1].tolist()


def test_nodes_are_the_scores_and_the_ends() -> None:
    assert nodes_of(np.array([0.25, 0.5, 0.25])).tolist() == [0.0, 0.25, 0.5, 1.0]
