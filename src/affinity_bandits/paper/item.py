"""The contract of an item, its claims, and the items of the paper in its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from affinity_bandits.base.errors import UnknownName
from affinity_bandits.experiments import Cell
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.plots.style import draw_estimates
from affinity_bandits.simulation import Result
from affinity_bandits.simulation.intervals import mean_interval, proportion_interval

SCALES = ("quick", "full", "as-published")
"""Few repeats; enough repeats for tight intervals; as many as the paper used."""

Data = Mapping[str, Any]
"""A flat table: columns of equal length by name."""


class Claim(NamedTuple):
    """One tested sentence of the paper or of a study's page.

    Attributes:
        sentence: the claim.
        label: where it is stated.
        test: the test and its level.
        evidence: the numbers found.
        holds: the verdict.
        erratum: for a claim of the paper that is known to fail, its name on the errata page.
    """

    sentence: str
    label: str
    test: str
    evidence: str
    holds: bool
    erratum: str = ""

    @property
    def as_known(self) -> bool:
        """Whether the verdict is the expected one: holds, or fails with an erratum."""
        return self.holds != bool(self.erratum)


class CellRunner(Protocol):
    """Runs the cells of an item."""

    def results(self, cells: Sequence[Cell], replicates: int) -> list[Result]:
        """Return the result of every cell, in order."""


class PlantedWorld(NamedTuple):
    """A world in which some claims of an item are false: their tests must notice.

    Attributes:
        changes: the differences from the settings `quick`.
        expected: the verdicts of all claims in order: T, F, or - where either is possible.
    """

    changes: Mapping[str, Any]
    expected: str


@dataclass(frozen=True)
class Item:
    """A figure or theorem of the paper, or a study.

    Args:
        identity: its name on the command line.
        title: one line.
        labels: the paper's labels it covers; for a study, its page.
        notes: the settings in words, with the reasons for those that the paper leaves open.
        settings: one value per scale; "as-published" is for the paper only.
        run: returns the data, given settings and runner.
        claims: returns the verdicts, given the data.
        draw: returns a matplotlib figure, given the data.
        planted: worlds in which some of the claims are false, by name.
    """

    identity: str
    title: str
    labels: tuple[str, ...]
    notes: str
    settings: Mapping[str, Any]
    run: Callable[[Any, CellRunner], Data]
    claims: Callable[[Data], list[Claim]]
    draw: Callable[[Data], Any]
    planted: Mapping[str, PlantedWorld] = field(default_factory=dict)


def column(data: Data, name: str) -> FloatArray:
    """Return a column as an array."""
    return np.asarray(data[name])


def to_columns(rows: Sequence[Mapping[str, Any]], words: Sequence[str] = ()) -> Data:
    """Return rows as columns; all but `words` hold numbers. Missing cells are empty or NaN."""
    numbers = dict.fromkeys(key for row in rows for key in row if key not in words)
    return {
        **{key: [row.get(key, "") for row in rows] for key in words},
        **{key: [float(row.get(key, np.nan)) for row in rows] for key in numbers},
    }


def per_run(points: Mapping[str, Any], runs: int) -> dict[str, Any]:
    """Return the columns of a grid of points, each point repeated for every run, and the runs."""
    count = len(next(iter(points.values())))
    columns = {name: np.repeat(values, runs).tolist() for name, values in points.items()}
    return {**columns, "run": np.tile(np.arange(runs), count)}


def join(tables: Sequence[Data]) -> Data:
    """Return tables with the same columns, one below the other."""
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}


LEVEL = 0.995
TWO_SIDED = 2.0 * LEVEL - 1.0
"""The two-sided level whose ends are one-sided bounds at LEVEL."""


def proportion_above(sentence: str, label: str, hits: int, trials: int, threshold: float) -> Claim:
    """Claim that the lower Clopper-Pearson bound of a probability exceeds a threshold."""
    rate, low, _ = proportion_interval(int(hits), int(trials), TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"exact lower bound of the probability above {threshold:g}, level {LEVEL:.1%}",
        f"{hits} of {trials} ({rate:.4g}), lower bound {low:.4g}",
        low > threshold,
    )


def proportion_below(sentence: str, label: str, hits: int, trials: int, threshold: float) -> Claim:
    """Claim that the upper Clopper-Pearson bound of a probability is below a threshold."""
    rate, _, high = proportion_interval(int(hits), int(trials), TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"exact upper bound of the probability below {threshold:g}, level {LEVEL:.1%}",
        f"{hits} of {trials} ({rate:.4g}), upper bound {high:.4g}",
        high < threshold,
    )


def mean_above(
    sentence: str,
    label: str,
    samples: npt.ArrayLike,
    threshold: float,
    possible: tuple[float, float],
    unit: str = "",
) -> Claim:
    """Claim that the lower bound of a mean exceeds a threshold.

    The bound is valid for every distribution on the `possible` range.
    """
    mean, low, _ = mean_interval(samples, *possible, TWO_SIDED)
    return Claim(
        sentence,
        label,
        f"lower bound of the mean above {threshold:g}, valid for every law between "
        f"{possible[0]:g} and {possible[1]:g}, level {LEVEL:.1%}",
        f"mean {float(mean):.4g}{unit} of {np.size(samples)}, lower bound {float(low):.4g}",
        bool(low > threshold),
    )


def student_interval(
    samples: npt.ArrayLike, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, lower and upper end of Student's interval.

    Regret and pulls are bimodal, so their means are not judged by it. It serves unbounded
    quantities (log-likelihood ratios, logarithms of pulls, fitted exponents).
    """
    from scipy.special import stdtrit

    values = np.asarray(samples, dtype=np.float64)
    count = len(values)
    mean = values.mean()
    half = stdtrit(count - 1, 0.5 + level / 2.0) * values.std(ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def number_within(
    sentence: str, label: str, value: float, low: float, high: float, what: str
) -> Claim:
    """Claim that a computed or fitted number lies in an interval."""
    return Claim(
        sentence,
        label,
        f"{what} in [{low:g}, {high:g}]",
        f"{what} is {value:.4g}",
        bool(low <= value <= high),
    )


def in_every_case(sentence: str, label: str, failures: int, cases: int, what: str) -> Claim:
    """Claim that something holds in every case examined."""
    return Claim(
        sentence,
        label,
        f"every one of the {what} looked at",
        f"{cases - failures:,} of {cases:,} {what}",
        failures == 0 and cases > 0,
    )


def draw_groups(
    axes: Any,
    data: Data,
    by: str,
    names: Mapping[str, str],
    x: str,
    interval: Callable[[Any], Any],
) -> None:
    """Draw one line with intervals per group: column `by` against column `x`."""
    for i, (name, shown) in enumerate(names.items()):
        mine = column(data, by) == name
        values = np.unique(column(data, x)[mine])
        bands = [interval(mine & (column(data, x) == value)) for value in values]
        draw_estimates(axes, values, np.array(bands), i, shown)


@dataclass(frozen=True)
class Collection:
    """The paper, or the studies.

    Attributes:
        kind: the name of one item in messages.
        package: the package of the modules.
        modules: modules that define items, in order.
        title: the title of the report's page.
        heading: the heading of the report.
    """

    kind: str
    package: str
    modules: tuple[str, ...]
    title: str
    heading: str

    def items(self) -> dict[str, Item]:
        """Return every item by its identity."""
        modules = [import_module(f"{self.package}.{name}") for name in self.modules]
        values = [value for module in modules for value in vars(module).values()]
        return {value.identity: value for value in values if isinstance(value, Item)}

    def choose(self, identities: list[str]) -> list[Item]:
        """Return the items asked for; "all" or an empty list means every item."""
        known = self.items()
        if not identities or identities == ["all"]:
            return list(known.values())
        for identity in identities:
            if identity not in known:
                raise UnknownName(self.kind, identity, [*known, "all"])
        return [known[identity] for identity in identities]


PAPER = Collection(
    kind="item",
    package="affinity_bandits.paper",
    modules=("standard_algorithms", "algorithm_1", "scaling", "paths", "adversaries"),
    title="The paper, checked",
    heading="On Mitigating Affinity Bias through Bandits with Evolving Biased Feedback, "
    "reproduced and checked",
)
