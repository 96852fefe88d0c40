"""The decisions of one replicate, in their order, and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.simulation.log_files import arrow_table, write_tables


@dataclass(frozen=True, eq=False)
class RunLog:
    """The decisions of one replicate, a row each. Made by `simulate_log`.

    Attributes:
        bandit: the instance.
        policy: the description of the policy.
        seed: of the run.
        replicate: its number.
        arm: who was chosen.
        score: the feedback, as the policy saw it: 0 is the lowest score that there is and 1 the
            highest, unless the noise has no ends or the mechanism leaves them.
        share: of the chosen arm among those who judged, before the decision.
        joined: whether whoever was chosen joined the committee.
        round: the number of the row's round, from 0; of a policy without rounds every pull is one.
        panels: how many of each arm judged each round, [round, arm], where panels or strangers do.
        scores: of everybody, [row, arm], where the arms that were not chosen are scored, too.
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
        """How many of each arm judged each row, [row, arm], where panels or strangers do."""
        return None if self.panels is None else np.asarray(self.panels[self.round])

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the log as a table: a name and an array for each column.

        They are replicate, time, group (the number of the arm), score, share and joined; with
        panels, the seats of each group in panel_0, panel_1, ...; and where everybody is scored,
        score_0, score_1, ...
        """
        found: dict[str, npt.NDArray[Any]] = {
            "replicate": np.full(len(self), self.replicate, dtype=np.int64),
            "time": self.time,
            "group": self.arm,
            "score": self.score,
            "share": self.share,
            "joined": self.joined,
        }
        panel = self.panel
        for arm in range(self.bandit.arms if panel is not None else 0):
            found[f"panel_{arm}"] = panel[:, arm]  # type: ignore[index]
        for arm in range(self.bandit.arms if self.scores is not None else 0):
            found[f"score_{arm}"] = self.scores[:, arm]  # type: ignore[index]
        return found

    def to_arrow(self) -> Any:
        """Return the log as a table of pyarrow, with the columns of `columns`."""
        return arrow_table(self.columns())

    def write(self, path: str | PathLike[str]) -> None:
        """Write the log to a file that ends in .csv or .parquet; see `write_logs`."""
        write_logs(path, [self])


def write_logs(path: str | PathLike[str], logs: Iterable[RunLog]) -> int:
    """Write logs into one file, one below the other, and return how many rows there are.

    The columns are those of `RunLog.columns`. Logs are taken one at a time, so that they may be
    made on the way. The file is there once all of it is written, and else as it was.

    Args:
        path: ends in .csv or .parquet.
        logs: of runs with the same columns.

    Raises:
        InvalidInput: the path is none of such a file, or there is no log, or one of other columns.
        MissingExtra: it is a Parquet file, and pyarrow is not installed.
    """
    return write_tables(path, (_columns(log) for log in logs))


def _columns(log: object) -> dict[str, npt.NDArray[Any]]:
    if not isinstance(log, RunLog):
        raise InvalidInput("logs", "logs of `simulate_log`", log)
    return log.columns()
