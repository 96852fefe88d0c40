"""The result of a simulation: pulls at checkpoints, verdicts, tables, merging and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from affinity_bandits._version import __version__
from affinity_bandits.base import checks
from affinity_bandits.base.displays import Interval, html_table, one_line
from affinity_bandits.base.errors import AffinityError, InvalidInput, UnknownName, need
from affinity_bandits.base.words import counted, noun_for, some
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.simulation.intervals import (
    middle_runs,
    proportion_interval,
    regret_interval,
)
from affinity_bandits.simulation.rankings import (
    PairedDifference,
    Ranking,
    compare_pairs,
    rank_policies,
)
from affinity_bandits.simulation.summary import SummaryRow, SummaryTable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure


FORMAT = 1
PLOT = "affinity_bandits.plots:draw_regret"
"""The function behind `Result.plot`: a name and no import, because plots import simulation."""
BoolArray = npt.NDArray[np.bool_]
Functions = Mapping[str, Callable[[float], float]] | None
Samplers = Mapping[str, Callable[[float, float], float]] | None


@dataclass(frozen=True)
class PolicyRun:
    """How one policy was run.

    Attributes:
        label: its name in the result.
        description: its `to_json`.
        eliminates: whether it narrows its candidates down.
        engine: "rounds" (whole rounds drawn at once), "steps" (pull by pull) or "python".
        note: why a round policy was run by steps, else empty.
        caveat: which assumption of the policy feedback or judges violate, else empty. An empty
            caveat does not mean that a theorem holds.
    """

    label: str
    description: dict[str, object]
    eliminates: bool
    engine: str
    note: str = ""
    caveat: str = ""

    __repr__ = one_line


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of `simulate`.

    `result["ucb1"]` is the result of one policy, `result[["ucb1", "moss"]]` that of two.

    Attributes:
        bandit: the instance.
        runs: one entry per policy, in the order asked for.
        horizon: pulls of every replicate.
        seed: of all randomness; the lowest one of merged results.
        replicates: the replicates' numbers, seed by seed.
        checkpoints: the pulls after which counts were taken, ascending; the last is the horizon.
        pulls: T_i at each checkpoint, [policy, replicate, checkpoint, arm].
        candidates: 1 if the policy still took the arm for possibly best, [policy, replicate, arm].
        decided_at: pulls until one candidate was left, [policy, replicate]; 0 if several are left.
        complete: False if the run was interrupted and has fewer replicates than asked for.
        version: of the package that made it.
        parts: each seed with the number of its replicates, if there are several.
    """

    bandit: AffinityBandit
    runs: tuple[PolicyRun, ...]
    horizon: int
    seed: int
    replicates: IntArray
    checkpoints: IntArray
    pulls: IntArray
    candidates: IntArray
    decided_at: IntArray
    complete: bool = True
    version: str = __version__
    parts: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        return f"<Result: {self._description}>"

    def _repr_html_(self) -> str:
        return html_table(self._description, SummaryTable.HEAD, self.summary().cells())

    @property
    def _description(self) -> str:
        return (
            f"{counted(len(self.runs), 'policy')} ({some(self.labels)}), "
            f"{len(self.replicates):,} replicates of {self.horizon:,} pulls, "
            f"{self.bandit.arms:,} arms, "
            f"{noun_for(1 + len(self.parts), 'seed')} {some([str(seed) for seed in self.seeds])}"
            f"{'' if self.complete else ', interrupted'}"
        )

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
            decided_at=self.decided_at[at],
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.runs)

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the replicates, ascending."""
        return tuple(seed for seed, _ in self.parts) or (self.seed,)

    @property
    def seed_of_each(self) -> list[int]:
        """The seed of each replicate."""
        parts = self.parts or ((self.seed, len(self.replicates)),)
        return [seed for seed, count in parts for _ in range(count)]

    @property
    def labels(self) -> tuple[str, ...]:
        """The policies' names in this result."""
        return tuple(run.label for run in self.runs)

    def index(self, label: str) -> int:
        """Return the position of a policy by its label, or by its name if only one has it."""
        if label in self.labels:
            return self.labels.index(label)
        named = [i for i, run in enumerate(self.runs) if run.description.get("name") == label]
        if len(named) != 1:
            raise UnknownName("policy", label, self.labels)
        return named[0]

    @property
    def regret(self) -> FloatArray:
        """Regret at each checkpoint, [policy, replicate, checkpoint].

        It is the pseudo-regret (Equation (1)) with the pulls of each replicate in place of their
        expectation.
        """
        return self.bandit.regret(self.pulls)

    @property
    def most_regret(self) -> FloatArray:
        """The largest possible regret at each checkpoint, [checkpoint]."""
        return np.asarray(self.checkpoints * float(self.bandit.gaps.max()), dtype=np.float64)

    @property
    def eliminates(self) -> BoolArray:
        """Whether the policy narrows its candidates down, [policy]."""
        return np.array([run.eliminates for run in self.runs])

    @property
    def wrong_arm(self) -> BoolArray:
        """Whether the verdict of a run was wrong, [policy, replicate].

        A policy that decides is wrong if all best arms were dropped. Any other is wrong if a worse
        arm got more pulls than all best arms together; for two arms this is the event T_1(n) > n/2
        of Figure 3. A tie counts as right.
        """
        others = np.delete(self.pulls[:, :, -1], self.bandit.best_arms, axis=-1)
        best = self.pulls[:, :, -1, list(self.bandit.best_arms)].sum(axis=-1)
        more = others.max(axis=-1, initial=0) > best
        return np.where(self.eliminates[:, None], self.deceived, more)

    @property
    def undecided(self) -> BoolArray:
        """Whether a run ended undecided, [policy, replicate].

        The candidates included a best arm and another one. False for a policy that never decides
        (nan in `to_xarray` and `to_pandas`, None in `summary`).
        """
        others = np.delete(self.candidates, self.bandit.best_arms, axis=-1).any(axis=-1)
        return np.asarray(self.eliminates[:, None] & others & ~self.deceived)

    @property
    def deceived(self) -> BoolArray:
        """Whether all best arms had been dropped at the end, [policy, replicate]."""
        left = self.candidates[:, :, list(self.bandit.best_arms)].sum(axis=-1)
        return np.asarray(left == 0)

    @property
    def simple_regret(self) -> FloatArray:
        """The gap of the recommended arm at the end, [policy, replicate].

        It is the candidate with the most pulls; of several, the first.
        """
        pulls = np.where(self.candidates > 0, self.pulls[:, :, -1], -1)
        return np.asarray(self.bandit.gaps[pulls.argmax(axis=-1)], dtype=np.float64)

    def regret_band(
        self, level: float = 0.95, interval: str = "betting"
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean regret and its interval, each [policy, checkpoint].

        It holds at each checkpoint by itself; see `regret_interval` for its kinds.
        """
        return regret_interval(interval, self.regret, 0.0, self.most_regret, level, axis=1)

    def summary(self, level: float = 0.95, interval: str = "betting") -> SummaryTable:
        """Return one row per policy.

        Args:
            level: of the confidence intervals.
            interval: of the mean regret: "betting", "bootstrap", "t" or "quantiles"; see
                `regret_interval` for their assumptions.
        """
        last = self.regret[:, :, -1]
        means = regret_interval(interval, last, 0.0, self.most_regret[-1], level, axis=1)
        runs = middle_runs(last, axis=1)
        wrong, undecided = self.wrong_arm.sum(axis=1), self.undecided.sum(axis=1)
        simple = self.simple_regret.mean(axis=1)
        count = len(self.replicates)
        found = SummaryTable()
        for i, run in enumerate(self.runs):
            decided = self.decided_at[i][self.decided_at[i] > 0]
            found.append(
                SummaryRow(
                    label=run.label,
                    engine=run.engine,
                    regret=Interval(*(float(ends[i]) for ends in means)),
                    regret_runs=Interval(*(float(ends[i]) for ends in runs)),
                    wrong_arm=proportion_interval(int(wrong[i]), count, level),
                    undecided=(
                        proportion_interval(int(undecided[i]), count, level)
                        if run.eliminates
                        else None
                    ),
                    simple_regret=float(simple[i]),
                    decided_at=(
                        Interval(*map(float, middle_runs(decided))) if len(decided) else None
                    ),
                    runs=count,
                    decided=len(decided),
                )
            )
        return found

    def paired_difference(self, first: str, second: str, level: float = 0.95) -> PairedDifference:
        """Return how much more regret one policy has at the horizon than another, on average.

        Policies share the noise of a replicate's pulls, so the difference usually varies less than
        either regret. The interval assumes only that replicates are independent and that a
        difference is at most `most_regret` in size (`mean_interval`).

        Args:
            first: the label of a policy.
            second: the label of the policy whose regret is subtracted.
            level: coverage probability of the interval, at least.
        """
        one, other = self.index(first), self.index(second)
        if one == other:
            raise InvalidInput("second", f"another policy than {self.labels[one]!r}", second)
        (found,) = compare_pairs(*self._at_horizon, [(one, other)], level, 1.0)
        return found

    def ranking(
        self, level: float = 0.95, test: str = "permutation", interval: str = "betting"
    ) -> Ranking:
        """Return the policies in the order of their mean regret at the horizon.

        All pairs are compared replicate by replicate, with a Bonferroni correction. Policies whose
        differences are within chance share a range of ranks.

        Args:
            level: probability, at least, that every difference found is real.
            test: "permutation" flips the signs of differences. It shows that two regrets have
                different laws. "betting" shows that their means differ, for every law of bounded
                regret, and needs many more replicates.
            interval: of each policy's mean; see `summary`.
        """
        return rank_policies(*self._at_horizon, level, test, interval)

    @property
    def _at_horizon(self) -> tuple[tuple[str, ...], FloatArray, float]:
        """The labels, each run's regret and the largest possible one."""
        return self.labels, self.regret[:, :, -1], float(self.most_regret[-1])

    def merge(self, other: Result) -> Result:
        """Return the result of the replicates of both.

        Both must have the same bandit, policies, horizon, checkpoints and version, and different
        replicates of a seed (`first_replicate` of `simulate`). Merged replicates of one seed are
        identical to one larger run.

        Raises:
            InvalidInput: they differ in more than their replicates, or have some in common.
        """
        self._check_mergeable(other)
        numbers = np.concatenate([self.replicates, other.replicates])
        seeds = [*self.seed_of_each, *other.seed_of_each]  # of any size: no array holds them
        keys = list(zip(seeds, numbers.tolist(), strict=True))
        both = sorted(set(keys[: len(self.replicates)]) & set(keys[len(self.replicates) :]))
        if both:
            seed, number = both[0]
            rule = f"of other replicates: choose first_replicate above {self.replicates.max()}"
            found = f"{len(both)} that are in both, first {number} of {seed}"
            raise InvalidInput("other", f"{rule}, or another seed", found)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        parts = tuple((seed, len(list(ones))) for seed, ones in groupby(sorted(seeds)))

        def together(name: str) -> IntArray:
            # Contiguous like the arrays of one run, so that sums round alike.
            both = [getattr(self, name), getattr(other, name)]
            return np.ascontiguousarray(np.concatenate(both, axis=1)[:, order])

        return replace(
            self,
            seed=parts[0][0],
            parts=parts if len(parts) > 1 else (),
            replicates=numbers[order],
            pulls=together("pulls"),
            candidates=together("candidates"),
            decided_at=together("decided_at"),
            complete=self.complete and other.complete,
        )

    def _check_mergeable(self, other: Result) -> None:
        if not isinstance(other, Result):
            raise InvalidInput("other", "a Result", other)
        for name in ("bandit", "horizon", "version"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise InvalidInput("other", f"of the same {name} ({mine})", theirs)
        if other.labels != self.labels:
            rule = f"of the same policies in the same order ({some(self.labels)})"
            raise InvalidInput("other", rule, list(other.labels))
        for one, another in zip(self.runs, other.runs, strict=True):
            for name in ("description", "engine"):
                mine, theirs = getattr(one, name), getattr(another, name)
                if mine != theirs:
                    raise InvalidInput(
                        "other", f"of the same {name} of {one.label} ({mine})", theirs
                    )
        if not np.array_equal(self.checkpoints, other.checkpoints):
            rule = f"of the same {len(self.checkpoints)} checkpoints"
            raise InvalidInput("other", rule, other.checkpoints.tolist())

    def plot(self, **settings: Any) -> Figure:
        """Draw regret over time; return the matplotlib figure.

        Args:
            settings: those of `draw_regret`: `band`, `scale`, `ax`, `labels` and `level`.

        Raises:
            MissingExtra: matplotlib is not installed; the extra `plot` has it.
        """
        figure: Figure = resolve_name(PLOT)(self, **settings)
        return figure

    def to_pandas(self, rows: str = "checkpoints") -> pd.DataFrame:
        """Return a table with one row per policy, replicate and checkpoint, or per run.

        Args:
            rows: "checkpoints" has the columns `policy`, `replicate`, `time`, `regret`, and one per
                arm, `pulls_0`, `pulls_1`, ...; "runs" has `policy`, `replicate`, `regret`,
                `simple_regret`, `wrong_arm`, `undecided` and `decided_at`, the last two nan if
                undefined.
        """
        need("study", "pandas")
        import pandas as pd

        checks.choice("rows", rows, ("checkpoints", "runs"))
        policies, replicates, times, arms = self.pulls.shape
        each = times if rows == "checkpoints" else 1
        columns: dict[str, npt.NDArray[Any]] = {
            "policy": np.repeat(np.array(self.labels, dtype=object), replicates * each),
            "replicate": np.tile(np.repeat(self.replicates, each), policies),
        }
        if self.parts:
            seeds = np.array(self._seed_texts, dtype=object)
            columns["seed"] = np.tile(np.repeat(seeds, each), policies)
        if rows == "runs":
            columns["regret"] = self.regret[:, :, -1].ravel()
            columns |= {name: values.ravel() for name, values in self._verdicts.items()}
            return pd.DataFrame(columns)
        columns["time"] = np.tile(self.checkpoints, policies * replicates)
        columns["regret"] = self.regret.ravel()
        for arm in range(arms):
            columns[f"pulls_{arm}"] = self.pulls[..., arm].ravel()
        return pd.DataFrame(columns)

    def to_xarray(self) -> xr.Dataset:
        """Return everything as a labeled xarray dataset.

        `undecided` is 1 or 0, and nan for a policy that never decides (coordinate `eliminates`).
        `decided_at` is nan for an undecided run.
        """
        need("study", "xarray")
        import xarray as xr

        return xr.Dataset(
            {
                "pulls": (("policy", "replicate", "time", "arm"), self.pulls),
                "candidate": (("policy", "replicate", "arm"), self.candidates.astype(bool)),
                "regret": (("policy", "replicate", "time"), self.regret),
                **{name: (("policy", "replicate"), v) for name, v in self._verdicts.items()},
            },
            coords={
                "policy": list(self.labels),
                "replicate": self.replicates,
                **({"seed": ("replicate", self._seed_texts)} if self.parts else {}),
                "time": self.checkpoints,
                "arm": np.arange(self.bandit.arms),
                "engine": ("policy", [run.engine for run in self.runs]),
                "eliminates": ("policy", self.eliminates),
                "true_mean": ("arm", list(self.bandit.true_means)),
            },
            attrs={
                "seed": ", ".join(map(str, self.seeds)),
                "horizon": self.horizon,
                "version": self.version,
            },
        )

    @property
    def _seed_texts(self) -> list[str]:
        return [str(seed) for seed in self.seed_of_each]  # up to 2**128: no integer type has them

    @property
    def _verdicts(self) -> dict[str, npt.NDArray[Any]]:
        """The columns that have one value per run."""
        return {
            "simple_regret": self.simple_regret,
            "wrong_arm": self.wrong_arm,
            "undecided": np.where(self.eliminates[:, None], self.undecided, np.nan),
            "decided_at": np.where(self.decided_at > 0, self.decided_at, np.nan),
        }

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
                decided_at=self.decided_at,
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
                decided_at=data["decided_at"],
                complete=header["complete"],
                version=header["version"],
                parts=tuple((seed, count) for seed, count in header.get("parts", ())),
            )
