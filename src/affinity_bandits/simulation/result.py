"""What a simulation found: pulls at checkpoints, and everything that follows from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.displays import Interval, amount, html_table, one_line, rate, some
from affinity_bandits.errors import AffinityError, InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.simulation.comparing import PairedDifference, paired_difference
from affinity_bandits.simulation.intervals import (
    mean_interval,
    middle_runs,
    proportion_interval,
)
from affinity_bandits.simulation.labelled import as_dataset, as_frame
from affinity_bandits.simulation.merging import merged
from affinity_bandits.simulation.ranking import Ranking, ranking
from affinity_bandits.simulation.result_data import PolicyRun, ResultData

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

FORMAT = 1
PLOT = "affinity_bandits.plots:draw_regret"
"""What `Result.plot` calls: a name and not an import, because pictures are above simulation."""
Functions = Mapping[str, Callable[[float], float]] | None
Samplers = Mapping[str, Callable[[float, float], float]] | None


@dataclass(frozen=True)
class SummaryRow:
    """One policy's line of a table.

    Attributes:
        label: the policy's name in the result.
        engine: "rounds", "steps" or "python".
        regret: mean regret at the horizon, with the ends of its interval.
        regret_runs: regret of the median run, and of the two runs between which lie 90% of all.
        wrong_arm: how often the verdict was wrong, with the ends of its interval.
        undecided: how often there was none, likewise; None if the policy never decides.
    """

    label: str
    engine: str
    regret: Interval
    regret_runs: Interval
    wrong_arm: Interval
    undecided: Interval | None

    __repr__ = one_line


@dataclass(frozen=True, eq=False, repr=False)
class Result(ResultData):
    """The outcome of `simulate`.

    `result["ucb1"]` is the result of one policy, `result[["ucb1", "moss"]]` that of some.

    Attributes:
        bandit: the instance.
        runs: one entry a policy, in the order asked for.
        horizon: pulls of every replicate.
        seed: of all randomness; the lowest, where results of several were merged.
        replicates: the replicates' numbers, seed by seed.
        checkpoints: the pulls after which counts were taken, ascending; the last is the horizon.
        pulls: T_i at each checkpoint, [policy, replicate, checkpoint, arm].
        candidates: 1 where the policy held at the end that the arm may be best,
            [policy, replicate, arm].
        complete: False if the run was interrupted, so that there are fewer replicates than
            asked for.
        version: of the package that made it.
        parts: each seed with the number of its replicates, where there are several.
    """

    def __repr__(self) -> str:
        return f"<Result: {self._in_words}>"

    def _repr_html_(self) -> str:
        head = ("policy", "mean regret (95%)", "median run (90% of runs)", "wrong arm (95%)")
        rows = [
            (
                row.label,
                amount(row.regret),
                amount(row.regret_runs),
                rate(row.wrong_arm),
                rate(row.undecided),
                row.engine,
            )
            for row in self.summary()
        ]
        return html_table(self._in_words, (*head, "undecided (95%)", "engine"), rows)

    @property
    def _in_words(self) -> str:
        count = len(self.runs)
        return (
            f"{count} {'policy' if count == 1 else 'policies'} ({some(self.labels)}), "
            f"{len(self.replicates):,} replicates of {self.horizon:,} pulls, "
            f"{self.bandit.arms:,} arms, {self._seeds_in_words}"
            f"{'' if self.complete else ', interrupted'}"
        )

    @property
    def _seeds_in_words(self) -> str:
        many = len(self.seeds) > 1
        return f"seed{'s' if many else ''} {some([str(seed) for seed in self.seeds])}"

    def __getitem__(self, policy: str | list[str]) -> Result:
        wanted = policy if isinstance(policy, list) else [policy]
        at = [self.index(name) for name in wanted]
        if not at or len(set(at)) < len(at):
            raise InvalidInput("policy", "one label, or a list of different ones", policy)
        return replace(
            self,
            runs=tuple(self.runs[i] for i in at),
            pulls=self.pulls[at],
            candidates=self.candidates[at],
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.runs)

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    def regret_band(self, level: float = 0.95) -> tuple[FloatArray, FloatArray, FloatArray]:
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
                    proportion_interval(int(undecided[i]), count, level) if run.eliminates else None
                ),
            )
            for i, run in enumerate(self.runs)
        ]

    def paired_difference(self, first: str, second: str, level: float = 0.95) -> PairedDifference:
        """Return how much more regret one policy has at the horizon than another, on average.

        Policies meet the same noise at the same pull of a replicate, so the two regrets of a
        replicate are alike where the policies are, and their difference varies less than either.
        Replicates are independent and a difference is at most `most_regret` in size, which is all
        that the interval rests on (`mean_interval`).

        Args:
            first: the label of a policy.
            second: of the one whose regret is taken off.
            level: at least this is the probability to cover.
        """
        return paired_difference(self, first, second, level)

    def ranking(self, level: float = 0.95) -> Ranking:
        """Return the policies in the order of their mean regret at the horizon.

        Every two are compared replicate by replicate (`paired_difference`), all of them at once:
        with at least the probability `level` no two are said to differ the wrong way around. Those
        whose interval holds 0 cannot be told apart, and share a range of ranks.

        Args:
            level: at least this is the probability that everything said of the order is right.
        """
        return ranking(self, level)

    def merge(self, other: Result) -> Result:
        """Return the result of the replicates of both.

        Both must be of the same bandit, policies, horizon, checkpoints and version, and have no
        replicate of a seed in common (`first_replicate` of `simulate`). Of one seed it is the same
        as if one call had run them all; replicates of different seeds are as independent as those
        of one. It is complete if both are.

        Raises:
            InvalidInput: they differ in more than their replicates, or have some in common.
        """
        return merged(self, other)

    def plot(self, level: float = 0.95) -> Figure:
        """Draw mean and median regret over time; return the matplotlib figure.

        Raises:
            MissingExtra: matplotlib is not installed; the extra `plot` has it.
        """
        figure: Figure = resolve_name(PLOT)(self, level)
        return figure

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with one line for each policy, replicate and checkpoint.

        Its columns are `policy`, `replicate`, `time`, `regret`, `pulls_0`, `pulls_1`, ..., one for
        each arm, and the verdict of the whole run, `wrong_arm` and `undecided`, the same on all
        lines of a run. `undecided` is nan for a policy that never decides.
        """
        return as_frame(self)

    def to_xarray(self) -> xr.Dataset:
        """Return everything as a labelled xarray dataset.

        `undecided` is 1 or 0, and nan for a policy that never decides (see the coordinate
        `eliminates`), so that its mean over replicates is a rate or nan.
        """
        return as_dataset(self)

    def save(self, path: str | Path) -> None:
        """Write the result as one .npz file; `load` reads it back."""
        header = {
            "format": FORMAT,
            "bandit": self.bandit.to_json(),
            "runs": [vars(run) for run in self.runs],
            "horizon": self.horizon,
            "seed": self.seed,
            **({"parts": self.parts} if self.parts else {}),
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
    def load(
        cls, path: str | Path, functions: Functions = None, samplers: Samplers = None
    ) -> Result:
        """Read a result that `save` wrote.

        Args:
            path: of the file.
            functions: a user's own functions of biases by label; see `bias_from_json`.
            samplers: a user's own samplers of noises by label; see `noise_from_json`.
        """
        if not isinstance(path, str | Path):
            raise InvalidInput("path", "a file's path", path)
        try:
            return cls._read(Path(path), functions, samplers)
        except (EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
            if isinstance(error, AffinityError):
                raise
            raise InvalidInput("path", "a result saved by this package", str(path)) from error

    @classmethod
    def _read(cls, path: Path, functions: Functions, samplers: Samplers) -> Result:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            header = json.loads(str(data["header"]))
            if header.get("format") != FORMAT:
                raise InvalidInput("path", f"of format {FORMAT}", header.get("format"))
            return cls(
                bandit=AffinityBandit.from_json(header["bandit"], functions, samplers),
                runs=tuple(PolicyRun(**run) for run in header["runs"]),
                horizon=header["horizon"],
                seed=header["seed"],
                replicates=data["replicates"],
                checkpoints=data["checkpoints"],
                pulls=data["pulls"],
                candidates=data["candidates"],
                complete=header["complete"],
                version=header["version"],
                parts=tuple((seed, count) for seed, count in header.get("parts", ())),
            )


def _three(figures: tuple[FloatArray, FloatArray, FloatArray], at: int) -> Interval:
    first, second, third = (float(figure[at]) for figure in figures)
    return first, second, third
