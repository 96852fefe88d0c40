"""A file of outcomes holds those of many shards, to the number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as arrow
import pytest
from pyarrow import parquet

from affinity_bandits import AffinityBandit
from affinity_bandits.experiments import Cell, Shard, outcomes, run_shard
from affinity_bandits.policies import UCB1, Elimination, Uniform
from affinity_bandits.simulation import Result

TWO, THREE = AffinityBandit([0.4, 0.6]), AffinityBandit([0.1, 0.2, 0.9])
FIRST = Cell(TWO, Elimination(), 3000, (10, 50))
SHARDS = [
    Shard(FIRST, 0, 3),
    Shard(Cell(THREE, UCB1(), 200), 5, 2),
    Shard(FIRST, 3, 2),  # goes on after the first, with another cell between them
    Shard(FIRST, 5, 1),  # goes on at once: one span
    Shard(FIRST, 9, 1),
    Shard(FIRST, 9, 1),  # again, as of a sweep with a cell twice
    Shard(Cell(TWO, Uniform(), 1), 0, 1),
]
SPANS = [(0, 3), (5, 7), (3, 6), (9, 10), (9, 10), (0, 1)]


@pytest.fixture(scope="module")
def finished() -> list[tuple[Shard, Result]]:
    return [(shard, run_shard(shard)) for shard in SHARDS]


def test_outcomes_are_what_was_run(finished: list[tuple[Shard, Result]]) -> None:
    content = outcomes.to_bytes(finished)
    file = outcomes.OutcomesFile(content)
    spans = file.spans
    assert list(zip(spans.firsts.tolist(), spans.stops.tolist(), strict=True)) == SPANS
    lone = [place for place in range(len(SHARDS)) if place not in (2, 3)]
    for place, span in zip(lone, (0, 1, 3, 4, 5), strict=True):
        shard, result = finished[place]
        found = file.outcomes(span)
        assert spans.identities[span].decode() == shard.identity
        assert found.text == shard.planned.text
        assert found.run == vars(result.runs[0])
        np.testing.assert_array_equal(found.replicates, result.replicates)
        np.testing.assert_array_equal(found.times, result.checkpoints)
        np.testing.assert_array_equal(found.pulls, result.pulls[0])
        np.testing.assert_array_equal(found.candidates, result.candidates[0])
        np.testing.assert_array_equal(found.decided_at, result.decided_at[0])
    both = file.outcomes(2)
    np.testing.assert_array_equal(
        both.pulls, np.concatenate([finished[place][1].pulls[0] for place in (2, 3)])
    )
    again = outcomes.spans_in(arrow.BufferReader(content))
    for one, other in zip(again, spans, strict=True):
        np.testing.assert_array_equal(one, other)


def test_parts_of_a_cell_are_joined_and_each_replicate_is_there_once(
    finished: list[tuple[Shard, Result]],
) -> None:
    file = outcomes.OutcomesFile(outcomes.to_bytes(finished))
    joined = outcomes.joined_outcomes([file.outcomes(span) for span in (3, 2, 4, 0)])
    assert joined.replicates.tolist() == [0, 1, 2, 3, 4, 5, 9]
    whole = run_shard(Shard(FIRST, 0, 10))
    np.testing.assert_array_equal(joined.pulls, whole.pulls[0][joined.replicates])
    np.testing.assert_array_equal(joined.decided_at, whole.decided_at[0][joined.replicates])
    result = outcomes.result_of(FIRST, joined, 4)
    np.testing.assert_array_equal(result.pulls, whole.pulls[:, :4])


def test_a_result_is_made_without_the_cell_s_policy(finished: list[tuple[Shard, Result]]) -> None:
    file = outcomes.OutcomesFile(outcomes.to_bytes(finished))
    kept = outcomes.Kept(FIRST.identity, FIRST.text)
    result = outcomes.result_of(kept, file.outcomes(0), 3)
    assert result.bandit == FIRST.bandit
    assert result.summary()[0].regret == finished[0][1].summary()[0].regret
    assert kept.content["horizon"] == 3000


def test_settings_of_another_cell_are_refused(finished: list[tuple[Shard, Result]]) -> None:
    """As in a file that no store has written; as it was written, it is accepted."""
    content = outcomes.to_bytes(finished[:2])
    assert len(outcomes.spans_in(arrow.BufferReader(content)).firsts) == 2
    table = parquet.read_table(arrow.BufferReader(content))
    column = table.schema.get_field_index("settings")
    other = table.set_column(
        column, "settings", arrow.array([replace(FIRST, seed=1).text] * len(table))
    )
    sink = arrow.BufferOutputStream()
    parquet.write_table(other, sink)
    with pytest.raises(ValueError, match="cells are not what their settings say"):
        outcomes.spans_in(arrow.BufferReader(sink.getvalue()))


def test_settings_are_stored_once_for_each_cell() -> None:
    """The settings of 4,000 cells are more than a dictionary of pyarrow's default size."""
    some = [Shard(replace(FIRST, seed=seed), 0, 3) for seed in range(4000)]
    result = run_shard(some[0])
    assert sum(len(shard.planned.text) for shard in some) > 2**20
    content = outcomes.to_bytes([(shard, result) for shard in some])
    metadata = parquet.read_metadata(arrow.BufferReader(content)).row_group(0)
    columns = {metadata.column(i).path_in_schema: metadata.column(i) for i in range(8)}
    settings = columns["settings"]
    # 3 replicates at 3 times: nine times as many bytes if they were repeated in each row.
    assert settings.total_uncompressed_size < 1.3 * sum(len(one.planned.text) for one in some)
    assert len(content) < 300_000
