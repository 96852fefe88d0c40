"""Sweeps: grids of cells, from axes written in TOML or Python."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from affinity_bandits.base import checks, registry
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported
from affinity_bandits.base.registry import NotImported
from affinity_bandits.base.words import some
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.experiments.cells import Cell, PlannedCell, check_amounts, code_of
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, bias_from_json
from affinity_bandits.model.committee import Joining, Judges
from affinity_bandits.model.noise import MECHANISMS, noise_from_json
from affinity_bandits.policies import Policy
from affinity_bandits.simulation.simulator import checkpoints_at

BANDIT = tuple(f"bandit.{item.name}" for item in fields(AffinityBandit))
RUN = ("policy", "horizon", "checkpoints", "engine")
KEYS = (*BANDIT, *RUN)  # what can be fixed or be an axis
WAY_OUT = "to import code that a file names, add --own-code (in Python: own_code=True)"


@dataclass(frozen=True)
class Sweep:
    """A grid: every combination of the axes' values, for the same number of replicates.

    Args:
        axes: from a key such as "bandit.bias", "policy" or "horizon" to its values.
        fixed: from such a key to the value that all cells share.
        replicates: of every cell.
        seed: of all cells.
        shard_size: replicates per shard, which leaves results unchanged; by default as many as take
            about a second.

    Attributes:
        unimported: the "module:Class" names that were not imported, as the sweep was read from a
            file. Its cells can be looked at, but not run.

    >>> sweep = Sweep(
    ...     axes={"policy": ["ucb1", "elimination"], "horizon": [1000, 10_000]},
    ...     fixed={"bandit.true_means": [0.4, 0.6], "bandit.bias": {"name": "power"}},
    ...     replicates=10,
    ... )
    >>> len(sweep), len({cell.identity for cell in sweep.planned()})
    (4, 4)
    """

    axes: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    replicates: int = 100
    seed: int = 0
    shard_size: int | None = None
    unimported: tuple[str, ...] = field(default=(), init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.axes, Mapping) or not isinstance(self.fixed, Mapping):
            raise InvalidInput("axes", "a table from keys to lists", self.axes)
        checks.known_keys("axis of the sweep", self.axes, KEYS)
        checks.known_keys("fixed value of the sweep", self.fixed, KEYS)
        axes = {}
        for key, values in self.axes.items():
            axes[key] = tuple(checks.sequence(f"axes.{key}", values, "a list of values"))
            if not axes[key]:
                raise InvalidInput(f"axes.{key}", "a list of at least one value", values)
            if key in self.fixed:
                raise InvalidInput(key, "either an axis or fixed, not both", self.fixed[key])
        for key in ("bandit.true_means", "policy", "horizon"):
            if key not in axes and key not in self.fixed:
                raise InvalidInput(key, "an axis or fixed", None)
        check_amounts(self.replicates, self.shard_size)
        checks.integer("seed", self.seed, low=0, high=2**128 - 1)
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "fixed", dict(self.fixed))
        # Combinations of values are checked when cells are built.
        found = [_Value(key, value) for key, values in axes.items() for value in values]
        found += [_Value(key, value) for key, value in self.fixed.items()]
        names = [str(one.parsed.value) for one in found if isinstance(one.parsed, NotImported)]
        object.__setattr__(self, "unimported", tuple(dict.fromkeys(names)))

    def __repr__(self) -> str:
        axes = some([f"{key} of {len(values):,}" for key, values in self.axes.items()])
        return (
            f"<Sweep: cells: {len(self):,} ({axes}), replicates of each: {self.replicates:,}, "
            f"seed {self.seed}>"
        )

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values())

    def planned(self) -> Iterator[PlannedCell]:
        """Yield every cell; duplicates are yielded twice."""
        with self._limit_imports():
            axes = [[_Value(key, value) for value in values] for key, values in self.axes.items()]
            fixed = [_Value(key, value) for key, value in self.fixed.items()]
        for place in itertools.product(*(range(len(values)) for values in axes)):
            chosen = [values[index] for values, index in zip(axes, place, strict=True)]
            values = {value.key: value for value in (*fixed, *chosen)}
            given = {key: value.given for key, value in values.items()}
            built: Cell | AffinityError
            try:
                with self._limit_imports():
                    built = _build(values, int(self.seed))
            except AffinityError as error:
                built = error
            yield PlannedCell(place, given, built)

    def require_code(self) -> None:
        """Raise NotSupported if cells cannot be run, as their code was not imported."""
        if self.unimported:
            raise NotSupported(f"the sweep names code ({', '.join(self.unimported)}); {WAY_OUT}")

    def _limit_imports(self) -> AbstractContextManager[None]:
        return registry.importing_only((), WAY_OUT) if self.unimported else nullcontext()

    def to_json(self) -> dict[str, Any]:
        """Return the sweep as JSON-ready data; `from_json` reads it back."""
        data = {
            "axes": {key: list(values) for key, values in self.axes.items()},
            "fixed": dict(self.fixed),
            "replicates": self.replicates,
            "seed": self.seed,
        }
        return data if self.shard_size is None else data | {"shard_size": self.shard_size}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, own_code: bool = False) -> Sweep:
        """Rebuild a sweep from `to_json`.

        Args:
            data: the table from `to_json`.
            own_code: whether code that it names as "module:Class" is imported, which runs it.
        """
        if not isinstance(data, Mapping):
            raise InvalidInput("sweep", "a table", data)
        checks.settings("key of the sweep", cls, data)
        with nullcontext() if own_code else registry.importing_only((), WAY_OUT):
            return cls(**data)

    @classmethod
    def from_toml(cls, path: str | Path, *, own_code: bool = False) -> Sweep:
        """Read a TOML file; the table `[fixed.bandit]` may hold the "bandit." keys of `[fixed]`.

        Args:
            path: of the file.
            own_code: whether code that it names as "module:Class" is imported, which runs it.
        """
        data = checks.toml_file(path)
        for table in ("axes", "fixed"):
            if isinstance(data.get(table), dict):
                data[table] = _flattened(data[table])
        return cls.from_json(data, own_code=own_code)


def _flattened(table: dict[str, Any]) -> dict[str, Any]:
    inner = table.get("bandit")
    flat = {key: value for key, value in table.items() if key != "bandit"}
    if inner is not None:
        if not isinstance(inner, dict):
            raise InvalidInput("bandit", "a table", inner)
        flat |= {f"bandit.{key}": value for key, value in inner.items()}
    return flat


class _Value:
    """A value of a sweep as given and as parsed, with the digest of the user's own code in it."""

    def __init__(self, key: str, given: Any) -> None:
        self.key = key
        self.given = given
        self.parsed = _parse(key, given)
        self.code: dict[str, str] = {}
        if key == "bandit.noise":
            self.code = code_of({"bandit": (AffinityBandit, self.parsed)})
        elif isinstance(self.parsed, Bias | Policy):
            self.code = code_of({key.removeprefix("bandit."): self.parsed})


def _build(values: Mapping[str, _Value], seed: int) -> Cell:
    """Build a cell from one value per key; absent keys have the bandit's defaults."""
    parsed = {key: value.parsed for key, value in values.items()}
    for value in parsed.values():
        if isinstance(value, NotImported):
            raise value
    bandit = AffinityBandit(
        **{
            key.removeprefix("bandit."): value
            for key, value in parsed.items()
            if key in BANDIT and value is not None
        }
    )
    code = {name: digest for value in values.values() for name, digest in value.code.items()}
    policy = parsed["policy"]
    if isinstance(policy, Mapping):
        policy = policy_from_json(policy, bandit, imports=True)
        code |= code_of({"policy": policy})
    horizon = parsed["horizon"]
    times = parsed.get("checkpoints", ())
    if isinstance(times, int):
        times = () if times == 1 else checkpoints_at(times, horizon).tolist()
    cell = Cell(
        bandit,
        policy,
        horizon,
        tuple(time for time in times if time <= horizon),
        seed,
        parsed.get("engine", "auto"),
    )
    return cell.with_code(code)


def _parse(key: str, value: Any) -> Any:
    """Return a value as `_build` takes it, or why its code is not imported.

    Errors name the key.
    """
    try:
        return None if value is None and key in _OPTIONAL else _PARSERS[key](value)
    except NotImported as error:
        return error
    except InvalidInput as error:
        if error.parameter == key:
            raise
        named = InvalidInput(f"{key}: {error.parameter}", error.rule, error.value)
        named.args = (f"{key}: {error}",)  # with its hint at a name that is close
        raise named from None


def _parse_policy(value: Any) -> Any:
    """Return a policy, or its description if it is told facts about each cell's bandit."""
    policy = policy_from_json(value, AffinityBandit([0.5, 0.5], memory=1), imports=True)
    if not policy.told:
        return policy
    return {"name": value} if isinstance(value, str) else value


def _parse_checkpoints(value: Any) -> int | tuple[int, ...]:
    if isinstance(value, list | tuple):
        return checks.integers_list("checkpoints", value, low=1)
    return checks.integer("checkpoints", value, low=1, high=10**6)


_OPTIONAL = ("bandit.initial_pulls", "bandit.mechanism", "bandit.memory")
_PARSERS: dict[str, Callable[[Any], Any]] = {
    "bandit.true_means": partial(checks.numbers_list, "true_means", low=-1e9, high=1e9),
    "bandit.bias": partial(bias_from_json, imports=True),
    "bandit.initial_pulls": partial(checks.integers_list, "initial_pulls", low=1),
    "bandit.noise": partial(noise_from_json, imports=True),
    "bandit.mechanism": partial(checks.choice, "mechanism", allowed=MECHANISMS),
    "bandit.memory": partial(checks.integer, "memory", low=1, high=10**8),
    "bandit.joining": Joining.from_json,
    "bandit.judges": Judges.from_json,
    "policy": _parse_policy,
    "horizon": partial(checks.integer, "horizon", low=1),
    "checkpoints": _parse_checkpoints,
    "engine": partial(checks.choice, "engine", allowed=("auto", "steps")),
}


WORDS = {
    "bandit.true_means": "true means",
    "bandit.bias": "bias",
    "bandit.initial_pulls": "initial pulls",
    "bandit.noise": "noise",
    "bandit.mechanism": "feedback mechanism",
    "bandit.memory": "members that are remembered",
    "bandit.joining": "who joins",
    "bandit.judges": "who judges",
    "policy": "policy",
    "horizon": "pulls of a run (horizon)",
    "checkpoints": "checkpoints",
    "engine": "engine",
}
_INSIDE = {"bandit.bias": "the {} bias", "bandit.noise": "{} noise", "policy": "{}"}
_ELEMENTS = {"bandit.true_means": "true mean", "bandit.initial_pulls": "initial pulls"}
MAX_OTHERS = 4  # elements of a list that are named beside the one that varies
MAX_FIXED = 160  # characters of the line about the values that all cells share


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep.

    Attributes:
        key: e.g. "bandit.bias".
        words: the quantity it measures, for a reader.
        labels: its values, for a reader.
        numbers: its values as numbers, if a single number varies: the values themselves, one
            setting of a model, one element of a list, or the gap of the true means.
        column: the numbers' column in a table.
    """

    key: str
    words: str
    labels: tuple[str, ...]
    numbers: tuple[float, ...] | None
    column: str

    __repr__ = one_line

    @property
    def short(self) -> str:
        """The key after its table: "bias"."""
        return short_key(self.key)


def axes_of(sweep: Sweep) -> tuple[Axis, ...]:
    """Return a sweep's axes in the order of its file."""
    return tuple(axis_of(key, values) for key, values in sweep.axes.items())


def axis_of(key: str, values: Sequence[Any]) -> Axis:
    """Return an axis with labels and, if a single number varies along it, with that number.

    >>> axis_of("bandit.bias", [{"name": "power", "alpha": 1}, {"name": "power", "alpha": 2}]).words
    'alpha of the power bias'
    """
    labels = tuple(label(value) for value in values)
    for numbers, words, column in _readings(key, values):
        if len(set(numbers)) == len(values):
            return Axis(key, words, labels, tuple(float(number) for number in numbers), column)
    return Axis(key, WORDS.get(key, key), labels, None, key)


def short_key(key: str) -> str:
    """Return the last part of a key, in words."""
    return key.removeprefix("bandit.").replace("_", " ")


def label(value: Any) -> str:
    """Return a value of an axis for a reader.

    >>> label({"name": "power", "alpha": 2}), label([100, 10]), label(None)
    ('power(alpha=2)', '100, 10', 'default')
    """
    if value is None:
        return "default"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key}={label(item)}" for key, item in value.items() if key != "name")
        name = str(value.get("name", ""))
        return f"{name}({inner})" if inner else name
    if isinstance(value, list | tuple):
        return ", ".join(label(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def fixed_words(sweep: Sweep) -> str:
    """Return the values that all cells share, on one line."""
    text = "; ".join(f"{short_key(key)} {label(value)}" for key, value in sweep.fixed.items())
    return text if len(text) <= MAX_FIXED else f"{text[: MAX_FIXED - 3]}..."


def is_number(value: Any) -> bool:
    """Return whether a value of an axis is a plain number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _readings(key: str, values: Sequence[Any]) -> Iterator[tuple[list[float], str, str]]:
    """Yield ways to read values as numbers: the numbers, their words and their column."""
    if all(map(is_number, values)):
        yield list(values), WORDS.get(key, key), key
    one_model = all(isinstance(value, Mapping) for value in values) and (
        len({(value.get("name"), *sorted(value)) for value in values}) == 1
    )
    if key in _INSIDE and one_model:
        item = _difference(values, values[0])
        if item is not None and all(is_number(value[item]) for value in values):
            model = _INSIDE[key].format(values[0].get("name"))
            yield [value[item] for value in values], f"{item} of {model}", f"{key}.{item}"
    lists = (isinstance(value, list | tuple) and all(map(is_number, value)) for value in values)
    if key not in _ELEMENTS or not all(lists):
        return
    if len({len(value) for value in values}) == 1:
        i = _difference(values, range(len(values[0])))
        if i is not None:
            others = [*values[0][:i], *values[0][i + 1 :]]
            words = f"{_ELEMENTS[key]} of arm {i}"
            if 0 < len(others) <= MAX_OTHERS:
                words += f" (others: {label(sorted(set(others)))})"
            yield [value[i] for value in values], words, f"{key}[{i}]"
    if key == "bandit.true_means" and all(len(value) > 1 for value in values):
        tops = [sorted(value)[-2:] for value in values]
        # Twelve digits: 0.6 - 0.4 and 0.5 - 0.3 are the same gap.
        gaps = [round(best - second, 12) for second, best in tops]
        yield gaps, "gap between the best true mean and the next", f"{key} gap"


def _difference(values: Sequence[Any], keys: Iterable[Any]) -> Any:
    """Return the only key or index at which values differ, or None."""
    found = [key for key in keys if any(value[key] != values[0][key] for value in values)]
    return found[0] if len(found) == 1 else None
