"""What a simulation found: pulls at checkpoints, and everything that follows from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.errors import AffinityError, InvalidInput, UnknownName
from affinity_bandits.kernels import IntArray
from affinity_bandits.simulation.intervals import (
    mean_interval,
    middle_runs,
    proportion_interval,
)

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1
Functions = Mapping[str, Callable[[float], float]] | None


@dataclass(frozen=True)
class PolicyRun:
    """How one policy was run.

    Attributes:
        label: its name in the result.
        description: its `to_json`.
        decides: whether it narrows its candidates down.
        engine: "rounds" (whole rounds drawn at once) or "steps" (pull by pull).
        note: why a round policy was run by steps, else empty.
        caveat: what the policy assumes of feedback that is not so here, else empty. It is about
            feedback alone: that there is none does not say that a theorem holds.
    """

    label: str
    description: dict[str, Any]
    decides: bool
    engine: str
    note: str = ""
    caveat: str = ""


@dataclass(frozen=True)
class SummaryRow:
    """One policy's line of a table.

    Attributes:
        label: the policy's name in the result.
        engine: "rounds" or "steps".
        regret: mean regret at the horizon, with the ends of its interval.
        regret_runs: regret of the median run, and of the two runs between which lie 90% of all.
        wrong_arm: how often the verdict was wrong, with the ends of its interval.
        undecided: how often there was none, likewise; None if the policy never decides.
    """

    label: str
    engine: str
    regret: tuple[float, float, float]
    regret_runs: tuple[float, float, float]
    wrong_arm: tuple[float, float, float]
    undecided: tuple[float, float, float] | None


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `simulate`.

    Attributes:
        bandit: the instance.
        runs: one entry a policy, in the order asked for.
        horizon: pulls of every replicate.
        seed: of all randomness.
        replicates: the replicates' numbers.
        checkpoints: the pulls after which counts were taken, ascending; the last is the horizon.
        pulls: T_i at each checkpoint, [policy, replicate, checkpoint, arm].
        candidates: 1 where the policy held at the end that the arm may be best,
            [policy, replicate, arm].
        complete: False if the run was interrupted, so that there are fewer replicates than
            asked for.
        version: of the package that made it.
    """

    bandit: AffinityBandit
    runs: tuple[PolicyRun, ...]
    horizon: int
    seed: int
    replicates: IntArray
    checkpoints: IntArray
    pulls: IntArray
    candidates: IntArray
    complete: bool = True
    version: str = field(default=__version__)

    @property
    def labels(self) -> tuple[str, ...]:
        """The policies' names in this result."""
        return tuple(run.label for run in self.runs)

    def index(self, label: str) -> int:
        """Return the position of a policy by its label."""
        if label not in self.labels:
            raise UnknownName("policy", label, self.labels)
        return self.labels.index(label)

    @property
    def regret(self) -> Any:
        """Regret at each checkpoint, [policy, replicate, checkpoint].

        That of `eq:regretDef`, with the pulls of each replicate in place of their expectation.
        """
        return self.bandit.regret(self.pulls)

    @property
    def most_regret(self) -> Any:
        """The most regret that is possible at each checkpoint, [checkpoint]."""
        return self.checkpoints * float(self.bandit.gaps.max())

    @property
    def decides(self) -> Any:
        """Whether the policy narrows its candidates down, [policy]."""
        return np.array([run.decides for run in self.runs])

    @property
    def wrong_arm(self) -> Any:
        """Whether the verdict of a run was wrong, [policy, replicate].

        Of a policy that decides: no best arm was among its candidates at the end. Of any other:
        some arm that is not best got more pulls than all best arms together; for two arms this is
        the event T_1(n) > n/2 of Figure 3. A tie is no verdict, and not wrong.
        """
        others = np.delete(self.pulls[:, :, -1], self.bandit.best_arms, axis=-1)
        best = self.pulls[:, :, -1, list(self.bandit.best_arms)].sum(axis=-1)
        more = others.max(axis=-1, initial=0) > best
        return np.where(self.decides[:, None], self.deceived, more)

    @property
    def undecided(self) -> Any:
        """Whether a run ended without a verdict, [policy, replicate].

        A best arm was among the candidates together with one that is not best. A policy that never
        decides has no verdict to wait for: False here, nan in `dataset`, None in `summary`.
        """
        others = np.delete(self.candidates, self.bandit.best_arms, axis=-1).any(axis=-1)
        return self.decides[:, None] & others & ~self.deceived

    @property
    def deceived(self) -> Any:
        """Whether no best arm was among the candidates at the end, [policy, replicate]."""
        return self.candidates[:, :, list(self.bandit.best_arms)].sum(axis=-1) == 0

    def regret_band(self, level: float = 0.95) -> tuple[Any, Any, Any]:
        """Return mean regret and the ends of its interval, each [policy, checkpoint].

        It holds at each checkpoint by itself; see `mean_interval`.
        """
        return mean_interval(self.regret, 0.0, self.most_regret, level, axis=1)

    def summary(self, level: float = 0.95) -> list[SummaryRow]:
        """Return one line a policy, with intervals at the given level."""
        last = self.regret[:, :, -1]
        means = mean_interval(last, 0.0, self.most_regret[-1], level, axis=1)
        runs = middle_runs(last, axis=1)
        wrong, undecided = self.wrong_arm.sum(axis=1), self.undecided.sum(axis=1)
        count = len(self.replicates)
        return [
            SummaryRow(
                label=run.label,
                engine=run.engine,
                regret=_three(means, i),
                regret_runs=_three(runs, i),
                wrong_arm=proportion_interval(int(wrong[i]), count, level),
                undecided=(
                    proportion_interval(int(undecided[i]), count, level) if run.decides else None
                ),
            )
            for i, run in enumerate(self.runs)
        ]

    @property
    def dataset(self) -> xr.Dataset:
        """Everything as a labelled xarray dataset.

        `undecided` is 1 or 0, and nan for a policy that never decides (see the coordinate
        `decides`), so that its mean over replicates is a rate or nan.
        """
        import xarray as xr

        undecided = np.where(self.decides[:, None], self.undecided, np.nan)
        return xr.Dataset(
            {
                "pulls": (("policy", "replicate", "time", "arm"), self.pulls),
                "candidate": (("policy", "replicate", "arm"), self.candidates.astype(bool)),
                "regret": (("policy", "replicate", "time"), self.regret),
                "wrong_arm": (("policy", "replicate"), self.wrong_arm),
                "undecided": (("policy", "replicate"), undecided),
            },
            coords={
                "policy": list(self.labels),
                "replicate": self.replicates,
                "time": self.checkpoints,
                "arm": np.arange(self.bandit.arms),
                "engine": ("policy", [run.engine for run in self.runs]),
                "decides": ("policy", self.decides),
                "true_mean": ("arm", list(self.bandit.true_means)),
            },
            attrs={"seed": str(self.seed), "horizon": self.horizon, "version": self.version},
        )

    def save(self, path: str | Path) -> None:
        """Write the result as one .npz file; `load` reads it back."""
        header = {
            "format": FORMAT,
            "bandit": self.bandit.to_json(),
            "runs": [vars(run) for run in self.runs],
            "horizon": self.horizon,
            "seed": self.seed,
            "complete": self.complete,
            "version": self.version,
        }
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                header=np.array(json.dumps(header)),
                replicates=self.replicates,
                checkpoints=self.checkpoints,
                pulls=self.pulls,
                candidates=self.candidates,
            )

    @classmethod
    def load(cls, path: str | Path, functions: Functions = None) -> Result:
        """Read a result that `save` wrote; see `bias_from_json` for `functions`."""
        if not isinstance(path, str | Path):
            raise InvalidInput("path", "a file's path", path)
        try:
            return cls._read(Path(path), functions)
        except (EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
            if isinstance(error, AffinityError):
                raise
            raise InvalidInput("path", "a result saved by this package", str(path)) from error

    @classmethod
    def _read(cls, path: Path, functions: Functions) -> Result:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            header = json.loads(str(data["header"]))
            if header.get("format") != FORMAT:
                raise InvalidInput("path", f"of format {FORMAT}", header.get("format"))
            return cls(
                bandit=AffinityBandit.from_json(header["bandit"], functions),
                runs=tuple(PolicyRun(**run) for run in header["runs"]),
                horizon=header["horizon"],
                seed=header["seed"],
                replicates=data["replicates"],
                checkpoints=data["checkpoints"],
                pulls=data["pulls"],
                candidates=data["candidates"],
                complete=header["complete"],
                version=header["version"],
            )


def _three(figures: tuple[Any, Any, Any], at: int) -> tuple[float, float, float]:
    first, second, third = (float(figure[at]) for figure in figures)
    return first, second, third
