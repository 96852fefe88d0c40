"""Where finished work is kept: a directory with one parquet file a shard, whole or absent."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.errors import InvalidInput, MissingExtra
from affinity_bandits.experiments.spec import Cell, Shard
from affinity_bandits.simulation import Result


class Store:
    """Finished shards in a directory.

    A file appears under its name only when it is complete and on disk (temporary name, fsync,
    rename), so what is there can be trusted, two writers of one shard do no harm, and a run that
    was cut off anywhere goes on with what is missing.

    Args:
        root: the directory; it is made if need be.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)

    def __contains__(self, shard: Shard) -> bool:
        return (self.root / shard.name).exists()

    def write(self, shard: Shard, result: Result) -> None:
        """Write a shard's outcome, whole or not at all."""
        arrow, parquet = _pyarrow()
        target = self.root / shard.name
        target.parent.mkdir(exist_ok=True)
        replicates, times, arms = result.pulls.shape[1:]
        rows = replicates * times
        last = np.zeros((replicates, times, arms), dtype=bool)
        last[:, -1] = result.candidates[0].astype(bool)
        table = arrow.table(
            {
                "replicate": np.repeat(result.replicates, times),
                "time": np.tile(result.checkpoints, replicates),
                "pulls": _lists(arrow, result.pulls[0].reshape(rows, arms)),
                "candidates": _lists(arrow, last.reshape(rows, arms)),
            }
        )
        about = {
            "cell": json.dumps(shard.cell.to_json(), sort_keys=True),
            "run": json.dumps(vars(result.runs[0])),
            "version": __version__,
        }
        table = table.replace_schema_metadata(about)
        temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with temporary.open("wb") as file:
                parquet.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()

    def read(self, cell: Cell, replicates: int) -> Result:
        """Return the first so many replicates of a cell.

        Raises:
            InvalidInput: some of them are not in the store.
        """
        from affinity_bandits.simulation.result import PolicyRun

        _, parquet = _pyarrow()
        pulls, candidates, found = [], [], []
        run: dict[str, Any] = {}
        for path in sorted((self.root / cell.identity).glob("[0-9]*.parquet")):
            table = parquet.read_table(path)
            run = json.loads(table.schema.metadata[b"run"])
            times = len(cell.checkpoints)
            shape = (-1, times, cell.bandit.arms)
            pulls.append(_flat(table["pulls"]).reshape(shape))
            candidates.append(_flat(table["candidates"]).reshape(shape)[:, -1])
            found.append(table["replicate"].to_numpy()[::times])
        numbers = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        unique, order = np.unique(numbers, return_index=True)
        if not np.array_equal(unique[:replicates], np.arange(replicates)):
            raise InvalidInput(
                "replicates", f"finished for cell {cell.identity}", f"{len(unique)} are"
            )
        keep = order[:replicates]
        return Result(
            bandit=cell.bandit,
            runs=(PolicyRun(**run),),
            horizon=cell.horizon,
            seed=cell.stream_seed,
            replicates=unique[:replicates],
            checkpoints=np.array(cell.checkpoints, dtype=np.int64),
            pulls=np.concatenate(pulls)[keep][None],
            candidates=np.concatenate(candidates)[keep].astype(np.int64)[None],
        )


def _lists(arrow: Any, rows: Any) -> Any:
    return arrow.FixedSizeListArray.from_arrays(arrow.array(rows.ravel()), rows.shape[1])


def _flat(column: Any) -> Any:
    return np.concatenate(
        [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    )


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "experiments") from error
    return arrow, parquet
