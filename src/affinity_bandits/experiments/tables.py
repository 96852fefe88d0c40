"""A shard's outcome as the bytes of a parquet file, and back."""

from __future__ import annotations

import json
import platform
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.errors import MissingExtra
from affinity_bandits.experiments.spec import Shard
from affinity_bandits.kernels import IntArray
from affinity_bandits.simulation import Result


class Outcomes(NamedTuple):
    """What a shard's file holds."""

    replicates: IntArray  # [replicate]
    times: IntArray  # [time]
    pulls: IntArray  # [replicate, time, arm]
    candidates: IntArray  # [replicate, arm]
    run: dict[str, Any]


def to_bytes(shard: Shard, result: Result) -> bytes:
    """Return a shard's outcome as a parquet file: a row for each replicate and time."""
    arrow, parquet = pyarrow_modules()
    replicates, times, arms = result.pulls.shape[1:]
    rows = replicates * times
    last = np.zeros((replicates, times, arms), dtype=bool)
    last[:, -1] = result.candidates[0].astype(bool)
    table = arrow.table(
        {
            "cell": arrow.DictionaryArray.from_arrays(
                np.zeros(rows, dtype=np.int8), [shard.identity]
            ),
            "replicate": np.repeat(result.replicates, times),
            "time": np.tile(result.checkpoints, replicates),
            "pulls": _lists(arrow, result.pulls[0].reshape(rows, arms)),
            "candidates": _lists(arrow, last.reshape(rows, arms)),
        }
    )
    about = {
        "cell": shard.planned.text,
        "run": json.dumps(vars(result.runs[0])),
        "version": __version__,
        "platform": platform.platform(),
    }
    buffer = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(about), buffer, compression="zstd")
    return bytes(buffer.getvalue())


def from_bytes(content: bytes) -> Outcomes:
    """Return what a file holds."""
    arrow, parquet = pyarrow_modules()
    table = parquet.read_table(arrow.BufferReader(content))
    replicate = table["replicate"].to_numpy()
    replicates = np.unique(replicate)
    times = table["time"].to_numpy()[: len(replicate) // max(1, len(replicates))]
    shape = (len(replicates), len(times), -1)
    return Outcomes(
        replicates=replicates,
        times=times,
        pulls=_flat(table["pulls"]).reshape(shape),
        candidates=_flat(table["candidates"]).reshape(shape)[:, -1].astype(np.int64),
        run=json.loads(table.schema.metadata[b"run"]),
    )


class Label(NamedTuple):
    """What a file says it holds, whatever its name is."""

    text: str  # the cell's content
    first: int
    replicates: int


def label_in(content: bytes) -> Label | None:
    """Return which replicates of which cell a file says it holds, or None if it is no shard."""
    arrow, parquet = pyarrow_modules()
    try:
        about = parquet.read_metadata(arrow.BufferReader(content))
        column = about.schema.names.index("replicate")
        groups = [
            about.row_group(at).column(column).statistics for at in range(about.num_row_groups)
        ]
        first = min(group.min for group in groups)
        count = max(group.max for group in groups) - first + 1
        text = about.metadata[b"cell"].decode()
    except (arrow.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Label(text, int(first), int(count))


def pyarrow_modules() -> tuple[Any, Any]:
    """Return pyarrow and its parquet module, or say how to install them."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "experiments") from error
    return arrow, parquet


def _lists(arrow: Any, rows: Any) -> Any:
    """Return rows as lists of no fixed size: cells of any number of arms are one table."""
    starts = np.arange(rows.shape[0] + 1, dtype=np.int32) * rows.shape[1]
    return arrow.ListArray.from_arrays(starts.astype(np.int32), arrow.array(rows.ravel()))


def _flat(column: Any) -> Any:
    return np.concatenate(
        [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    )
