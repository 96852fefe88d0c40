"""Logs of runs: every decision, in memory and as CSV or Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, NotSupported, need
from affinity_bandits.base.tables import TableFile
from affinity_bandits.catalogue import AnyPolicy
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.simulation.environment import require_bandit
from affinity_bandits.simulation.run import StepRun
from affinity_bandits.simulation.simulator import MOST_BYTES, require_policy
from affinity_bandits.simulation.steps import LogRows, bound_log, bound_noise, other_noise


@dataclass(frozen=True, eq=False)
class RunLog:
    """The decisions of one replicate, one row each. Made by `simulate_log`.

    Attributes:
        bandit: the instance.
        policy: the description of the policy.
        seed: of the run.
        replicate: its number.
        arm: who was chosen.
        score: the feedback, as the policy saw it: from 0, the lowest score, to 1, the highest,
            unless the noise or the mechanism is unbounded.
        share: of the chosen arm among the judges, before the decision.
        joined: whether the chosen one joined the committee.
        round: the number of the row's round, from 0; for a step policy every pull is one.
        panels: judges of each round, [round, arm], if panels or people from other groups judge.
        scores: of everybody, [row, arm], if unchosen arms are scored, too.
    """

    bandit: AffinityBandit
    policy: Mapping[str, Any]
    seed: int
    replicate: int
    arm: IntArray
    score: FloatArray
    share: FloatArray
    joined: npt.NDArray[np.bool_]
    round: IntArray
    panels: IntArray | None = None
    scores: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.arm)

    def __repr__(self) -> str:
        name = self.policy.get("name", "a policy")
        return f"RunLog({len(self):,} decisions of {name}, replicate {self.replicate})"

    @property
    def time(self) -> IntArray:
        """The number of each row, from 1: after it, so many pulls were made."""
        return np.arange(1, len(self) + 1)

    @property
    def pulls(self) -> IntArray:
        """How often each arm was chosen in all."""
        return np.bincount(self.arm, minlength=self.bandit.arms).astype(np.int64)

    @property
    def panel(self) -> IntArray | None:
        """How many of each arm judged each row, [row, arm], where panels or others do."""
        return None if self.panels is None else np.asarray(self.panels[self.round])

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of the log by name.

        They are replicate, time, group (the number of the arm), score, share and joined; with
        panels, panel_0, panel_1, ... (seats per group); if everybody is scored, score_0, score_1,
        ...
        """
        found: dict[str, npt.NDArray[Any]] = {
            "replicate": np.full(len(self), self.replicate, dtype=np.int64),
            "time": self.time,
            "group": self.arm,
            "score": self.score,
            "share": self.share,
            "joined": self.joined,
        }
        for name, table in (("panel", self.panel), ("score", self.scores)):
            if table is not None:
                found |= {f"{name}_{arm}": column for arm, column in enumerate(table.T)}
        return found

    def to_arrow(self) -> Any:
        """Return the log as a table of pyarrow, with the columns of `columns`."""
        need("experiments", "pyarrow")
        import pyarrow

        return pyarrow.table(self.columns())

    def write(self, path: str | PathLike[str]) -> None:
        """Write the log to a file that ends in .csv or .parquet; see `write_logs`."""
        write_logs(path, [self])


def write_logs(path: str | PathLike[str], logs: Iterable[RunLog]) -> int:
    """Write logs into one file, one below the other, and return the number of rows.

    Logs are taken one at a time, so an iterator may produce them. The file is replaced once all
    rows are written.

    Args:
        path: ends in .csv or .parquet.
        logs: of runs with the same columns (`RunLog.columns`).

    Raises:
        InvalidInput: the path has another ending, the logs are empty, or their columns differ.
        MissingExtra: a Parquet file needs pyarrow.
    """
    target = TableFile("path", path)
    tables = map(_columns, logs)
    first = next(tables, None)
    if first is None:
        raise InvalidInput("logs", "at least one log", [])
    types = {"i": int, "f": float, "b": bool}
    columns = {name: types[values.dtype.kind] for name, values in first.items()}
    with target.open(columns) as file:
        for table in chain([first], tables):
            if list(table) != list(first):
                rule = f"of the same columns ({', '.join(first)})"
                raise InvalidInput("logs", rule, list(table))
            file.add_columns(list(table.values()))
    return file.rows


def _columns(log: object) -> dict[str, npt.NDArray[Any]]:
    if not isinstance(log, RunLog):
        raise InvalidInput("logs", "logs of `simulate_log`", log)
    return log.columns()


SLICE_NUMBERS = 4_000_000
"""Numbers written by one compiled call: a tenth of a second, so that an interrupt is heard."""


class LoggedRun(StepRun):
    """A `StepRun` that records its decisions.

    Args:
        bandit: the instance.
        policy: a step policy, or a round policy, which is played one pull at a time.
        horizon: pulls of every replicate, all recorded.
        seed: of all randomness.
        unchosen: whether unchosen arms are scored, too.

    Raises:
        NotSupported: the log of a replicate is too large for memory.
    """

    def __init__(
        self,
        bandit: AffinityBandit,
        policy: StepPolicy | RoundPolicy,
        horizon: int,
        seed: int = 0,
        unchosen: bool = False,
    ) -> None:
        self._has_panels = require_bandit(bandit).judges.who != "committee"
        self._unchosen = checks.flag("unchosen", unchosen)
        self._width = 5 + bandit.arms * (self._has_panels + self._unchosen)
        rows = checks.integer("horizon", horizon, low=1)
        if 8 * self._width * rows > MOST_BYTES:
            raise NotSupported(
                f"a log of {rows:,} pulls does not fit in {MOST_BYTES // 2**30} GiB: ask for "
                f"at most {MOST_BYTES // (8 * self._width):,}"
            )
        super().__init__(bandit, policy, rows, seed)
        self._others = other_noise(self.seed, bandit.arms if self._unchosen else 0)

    def log(self, replicate: int) -> RunLog:
        """Play one replicate from its first pull to its last, and return its log."""
        self.restart(replicate)
        rows, arms = self.horizon, self.bandit.arms
        columns: dict[str, Any] = {
            "arm": np.empty(rows, dtype=np.int64),
            "score": np.empty(rows),
            "share": np.empty(rows),
            "joined": np.empty(rows, dtype=np.bool_),
            "round": np.empty(rows, dtype=np.int64),
        }
        scores = np.empty((rows if self._unchosen else 0, arms))
        # A round has at least one pull; room that no round needs is never touched.
        panels = np.empty((rows if self._has_panels else 0, arms), dtype=np.int64)
        written = np.zeros(2, dtype=np.int64)
        slice_rows = max(1, SLICE_NUMBERS // self._width)
        for start in range(0, rows, slice_rows):
            stop = min(rows, start + slice_rows)
            written[0] = 0
            notes = LogRows(
                written=written,
                **{name: column[start:stop] for name, column in columns.items()},
                panels=panels,
                scores=scores[start:stop],
                others=self._others,
            )
            if start == 0:
                others = (bound_noise(self._arena.law, False),)
                loop = self._prepared(bound_log(self.policy.kernels()), others, (0, notes))
            self._play(loop, replicate, stop, notes)
        rounds = int(written[1])
        if rounds < len(panels):
            panels = panels[:rounds].copy()
        return RunLog(
            bandit=self.bandit,
            policy=self.policy.to_json(),
            seed=self.seed,
            replicate=self.replicate,
            **columns,
            panels=panels if self._has_panels else None,
            scores=scores if self._unchosen else None,
        )


def simulate_log(
    bandit: AffinityBandit,
    policy: AnyPolicy | str | Mapping[str, Any],
    horizon: int,
    seed: int = 0,
    *,
    replicate: int = 0,
    unchosen: bool = False,
) -> RunLog:
    """Run a policy on one replicate of a bandit and return all of its decisions, in order.

    They are those of `simulate` with `engine="steps"`.

    Args:
        bandit: the instance.
        policy: a policy, or its name. A round policy is played one pull at a time.
        horizon: pulls, one row each.
        seed: of all randomness.
        replicate: which of the independent runs of that seed.
        unchosen: whether unchosen arms are scored, too. Their scores have streams of their own, so
            all else stays the same.

    Raises:
        NotSupported: the log is too large for memory.

    >>> from affinity_bandits import AffinityBandit, Power
    >>> bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    >>> log = simulate_log(bandit, "ucb1", 1_000, seed=1)
    >>> log.arm[:2].tolist(), log.share[:1].round(3).tolist()
    ([0, 1], [0.909])
    """
    chosen = require_policy("policy", policy, require_bandit(bandit))
    return LoggedRun(bandit, chosen, horizon, seed, unchosen).log(replicate)
