"""Outcomes of shards as a Parquet file: one row per replicate and time."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import need
from affinity_bandits.experiments.cells import Cell, Shard, identity_of, stream_seed_of
from affinity_bandits.experiments.unloaded import bandit_of
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.simulation import PolicyRun, Result

TEXTS = ("cell", "settings", "run")
"""Columns of texts that many rows share."""
LARGEST_DICTIONARY = 64 * 2**20
"""Bytes of such texts in a file. Beyond pyarrow's default, they would be repeated in each row."""


class Outcomes(NamedTuple):
    """Outcomes of some replicates of a cell."""

    replicates: IntArray  # [replicate]
    times: IntArray  # [time]
    pulls: IntArray  # [replicate, time, arm]
    candidates: IntArray  # [replicate, arm]
    decided_at: IntArray  # [replicate]
    text: str  # the cell's content
    run: dict[str, Any]


class Spans(NamedTuple):
    """Which rows of a file hold which replicates; a span is of consecutive replicates of a cell."""

    identities: Any  # [span], ASCII
    firsts: IntArray  # [span], replicates
    stops: IntArray
    starts: IntArray  # [span], rows
    ends: IntArray


class Kept(NamedTuple):
    """A cell as it was saved with its results."""

    identity: str
    text: str

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def content(self) -> dict[str, Any]:
        """The saved content: `Cell.to_json`, seed scheme and package version."""
        return dict(json.loads(self.text))


def to_bytes(finished: Sequence[tuple[Shard, Result]]) -> bytes:
    """Return the outcomes of shards as a Parquet file."""
    arrow, parquet = pyarrow_modules()
    results = [result for _, result in finished]
    shapes = np.array([result.pulls.shape[1:] for result in results])  # replicates, times, arms
    rows = shapes[:, 0] * shapes[:, 1]
    # Lists without a fixed size, so that cells of any number of arms are one table.
    ends = np.cumsum(np.repeat(shapes[:, 2], rows))
    starts = np.concatenate(([0], ends)).astype(np.int32)
    last = [np.zeros(result.pulls.shape[1:], dtype=bool) for result in results]
    for flags, result in zip(last, results, strict=True):
        flags[:, -1] = result.candidates[0]

    def joined(parts: Iterable[Any]) -> Any:
        return np.concatenate([part.ravel() for part in parts])

    def shared(texts: list[str]) -> Any:
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        codes = np.repeat(np.array([places[text] for text in texts], dtype=np.int32), rows)
        return arrow.DictionaryArray.from_arrays(_numbers(codes), _texts(list(places)))

    def lists(values: Any) -> Any:
        return arrow.ListArray.from_arrays(_numbers(starts), values)

    pairs = list(zip(results, shapes.tolist(), strict=True))
    columns = {
        "cell": shared([shard.identity for shard, _ in finished]),
        "replicate": _numbers(joined(np.repeat(one.replicates, at[1]) for one, at in pairs)),
        "time": _numbers(joined(np.tile(one.checkpoints, at[0]) for one, at in pairs)),
        "pulls": lists(_numbers(joined(one.pulls[0] for one in results))),
        "candidates": lists(_flags(joined(last))),
        "decided_at": _numbers(joined(np.repeat(one.decided_at[0], at[1]) for one, at in pairs)),
        "settings": shared([shard.planned.text for shard, _ in finished]),
        "run": shared([json.dumps(vars(one.runs[0])) for one in results]),
    }
    table = arrow.Table.from_arrays(list(columns.values()), list(columns))
    buffer = arrow.BufferOutputStream()
    parquet.write_table(
        table.replace_schema_metadata({"version": __version__, "platform": platform.platform()}),
        buffer,
        compression="zstd",
        dictionary_pagesize_limit=LARGEST_DICTIONARY,
    )
    return bytes(buffer.getvalue())


def spans_in(file: Any) -> Spans:
    """Return which replicates an open file or a buffer of pyarrow has.

    Raises:
        ValueError: it was not written by `to_bytes`; pyarrow's errors, KeyError and TypeError, too.
    """
    _, parquet = pyarrow_modules()
    columns = ["cell", "replicate", "time", "settings"]
    return _spans(_read(parquet.ParquetFile(file, read_dictionary=TEXTS), columns))


class OutcomesFile:
    """The outcomes in a file.

    Args:
        content: of the file, from `to_bytes`.

    Attributes:
        spans: which replicates there are.
        nbytes: how much memory they take.
    """

    def __init__(self, content: bytes) -> None:
        arrow, parquet = pyarrow_modules()
        file = parquet.ParquetFile(arrow.BufferReader(content), read_dictionary=TEXTS)
        table = _read(file)
        self.spans = _spans(table)
        self._times = _integers(table["time"].chunk(0))
        self._decided_at = _integers(table["decided_at"].chunk(0))
        pulls = table["pulls"].chunk(0)
        self._starts = _integers(pulls.offsets)
        self._pulls = _integers(pulls.values)
        self._candidates = _bits(table["candidates"].chunk(0).values).astype(np.int64)
        self._texts = table["settings"].chunk(0)
        self._runs = table["run"].chunk(0)
        self.nbytes = int(table.nbytes + self._candidates.nbytes)

    def outcomes(self, span: int) -> Outcomes:
        """Return the outcomes of a span."""
        _, first, stop, start, end = (column[span] for column in self.spans)
        replicates = stop - first
        times = (end - start) // replicates
        values = slice(self._starts[start], self._starts[end])
        shape = (replicates, times, -1)
        return Outcomes(
            replicates=np.arange(first, stop),
            times=self._times[start : start + times],
            pulls=self._pulls[values].reshape(shape),
            candidates=self._candidates[values].reshape(shape)[:, -1],
            decided_at=self._decided_at[start:end:times],
            text=self._texts[int(start)].as_py(),
            run=json.loads(self._runs[int(start)].as_py()),
        )


def joined_outcomes(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of a cell in several parts, each replicate once."""
    if len(parts) == 1:
        return parts[0]
    numbers = np.concatenate([part.replicates for part in parts])
    unique, order = np.unique(numbers, return_index=True)
    return parts[0]._replace(
        replicates=unique,
        pulls=np.concatenate([part.pulls for part in parts])[order],
        candidates=np.concatenate([part.candidates for part in parts])[order],
        decided_at=np.concatenate([part.decided_at for part in parts])[order],
    )


def result_of(cell: Kept | Cell, found: Outcomes, replicates: int) -> Result:
    """Return at most so many outcomes of a cell as a result; the cell's policy may be missing."""
    content = json.loads(cell.text)
    return Result(
        bandit=cell.bandit if isinstance(cell, Cell) else bandit_of(content),
        runs=(PolicyRun(**found.run),),
        horizon=content["horizon"],
        seed=stream_seed_of(cell.text),
        replicates=found.replicates[:replicates],
        checkpoints=np.array(content["checkpoints"], dtype=np.int64),
        pulls=found.pulls[None, :replicates],
        candidates=found.candidates[None, :replicates],
        decided_at=found.decided_at[None, :replicates],
    )


def pyarrow_modules() -> tuple[Any, Any]:
    """Return pyarrow and its parquet module, or say how to install them."""
    need("experiments", "pyarrow")
    import pyarrow as arrow
    from pyarrow import parquet

    return arrow, parquet


# Arrays of numpy are passed as buffers: pyarrow's own conversions import pandas, which takes half a
# second in each process.


def _numbers(values: Any) -> Any:
    """Return integers as an array of pyarrow."""
    arrow, _ = pyarrow_modules()
    small = values.dtype == np.int32
    buffer = arrow.py_buffer(np.ascontiguousarray(values, np.int32 if small else np.int64))
    kind = arrow.int32() if small else arrow.int64()
    return arrow.Array.from_buffers(kind, len(values), [None, buffer])


def _flags(values: Any) -> Any:
    arrow, _ = pyarrow_modules()
    bits = np.packbits(values, bitorder="little")
    return arrow.Array.from_buffers(arrow.bool_(), len(values), [None, arrow.py_buffer(bits)])


def _texts(values: list[str]) -> Any:
    arrow, _ = pyarrow_modules()
    content = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, content)], dtype=np.int32)
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(content))]
    return arrow.Array.from_buffers(arrow.string(), len(values), buffers)


def _integers(array: Any) -> Any:
    """Return the values of a pyarrow array of integers without gaps."""
    kind = np.dtype(f"<i{array.type.bit_width // 8}")
    return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]


def _bits(array: Any) -> Any:
    bits = np.frombuffer(array.buffers()[1], np.uint8)
    return np.unpackbits(bits, bitorder="little")[array.offset : array.offset + len(array)]


def _read(file: Any, columns: list[str] | None = None) -> Any:
    return file.read(columns, use_threads=False).unify_dictionaries().combine_chunks()


def _spans(table: Any) -> Spans:
    cells, settings = table["cell"].chunk(0), table["settings"].chunk(0)
    identities = cells.dictionary.to_pylist()
    if [identity_of(text) for text in settings.dictionary.to_pylist()] != identities or (
        not settings.indices.equals(cells.indices)
    ):
        raise ValueError("cells are not what their settings say")
    codes = _integers(cells.indices)
    replicates, times = (_integers(table[name].chunk(0)) for name in ("replicate", "time"))
    other = np.diff(codes) != 0
    begins = other | (np.diff(times) <= 0)  # a replicate
    new = begins & (other | (np.diff(replicates) != 1))
    starts = np.concatenate(([0], np.flatnonzero(new) + 1))
    ends = np.append(starts[1:], len(codes))
    return Spans(
        identities=np.array(identities, dtype="S32")[codes[starts]],
        firsts=replicates[starts],
        stops=replicates[ends - 1] + 1,
        starts=starts,
        ends=ends,
    )
