"""The axes of a sweep for tables and pictures: labels and, where possible, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from affinity_bandits.displays import one_line

if TYPE_CHECKING:
    from affinity_bandits.experiments.sweep import Sweep

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
MOST_OTHERS = 4
"""Places of a list that are named beside the one that varies."""
MOST_FIXED = 160
"""Characters of the line that says what all cells share."""


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep.

    Attributes:
        key: e.g. "bandit.bias".
        words: what it measures, for a reader.
        labels: its values, for a reader.
        numbers: its values as numbers, if they differ in a single one: the values themselves,
            one setting of one model ("alpha"), one place of a list, or the gap of the true means.
        column: what the numbers are called in a table.
    """

    key: str
    words: str
    labels: tuple[str, ...]
    numbers: tuple[float, ...] | None
    column: str

    __repr__ = one_line

    @property
    def short(self) -> str:
        """The key without its table: "bias"."""
        return short(self.key)


def axes_of(sweep: Sweep) -> tuple[Axis, ...]:
    """Return a sweep's axes in the order of its file."""
    return tuple(axis_of(key, values) for key, values in sweep.axes.items())


def axis_of(key: str, values: Sequence[Any]) -> Axis:
    """Return an axis with labels and, if a single number varies along it, with that number.

    >>> axis_of("bandit.bias", [{"name": "power", "alpha": 1}, {"name": "power", "alpha": 2}]).words
    'alpha of the power bias'
    """
    labels = tuple(label(value) for value in values)
    for read in (_plain, _setting, _place, _gap):
        found = read(key, values)
        if found is not None and len(set(found[0])) == len(values):
            numbers, words, column = found
            return Axis(key, words, labels, tuple(float(number) for number in numbers), column)
    return Axis(key, WORDS.get(key, key), labels, None, key)


def short(key: str) -> str:
    """Return a key without its table, in words."""
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
    """Return what all cells share, on one line."""
    text = "; ".join(f"{short(key)} {label(value)}" for key, value in sweep.fixed.items())
    return text if len(text) <= MOST_FIXED else f"{text[: MOST_FIXED - 3]}..."


Reading = tuple[Sequence[float], str, str] | None


def is_number(value: Any) -> bool:
    """Return whether a value of an axis is a plain number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(key: str, values: Sequence[Any]) -> Reading:
    if not all(is_number(value) for value in values):
        return None
    return values, WORDS.get(key, key), key


def _setting(key: str, values: Sequence[Any]) -> Reading:
    """Return the one setting in which models of the same name differ, as numbers."""
    if key not in _INSIDE or not all(isinstance(value, Mapping) for value in values):
        return None
    if len({(value.get("name"), *sorted(value)) for value in values}) != 1:
        return None
    differing = [
        item for item in values[0] if any(value[item] != values[0][item] for value in values)
    ]
    if len(differing) != 1 or not all(is_number(value[differing[0]]) for value in values):
        return None
    (item,) = differing
    model = _INSIDE[key].format(values[0].get("name"))
    return [value[item] for value in values], f"{item} of {model}", f"{key}.{item}"


def _place(key: str, values: Sequence[Any]) -> Reading:
    """Return the one position in which lists differ, as numbers."""
    if not _are_lists(key, values) or len({len(value) for value in values}) != 1:
        return None
    differing = [
        i for i in range(len(values[0])) if any(value[i] != values[0][i] for value in values)
    ]
    if len(differing) != 1:
        return None
    (i,) = differing
    others = [*values[0][:i], *values[0][i + 1 :]]
    words = f"{_ELEMENTS[key]} of arm {i}"
    if 0 < len(others) <= MOST_OTHERS:
        words += f" (others: {label(sorted(set(others)))})"
    return [value[i] for value in values], words, f"{key}[{i}]"


def _gap(key: str, values: Sequence[Any]) -> Reading:
    """Return the gap between the best true mean and the next, as numbers."""
    if key != "bandit.true_means" or not _are_lists(key, values):
        return None
    if any(len(value) < 2 for value in values):
        return None
    tops = [sorted(value)[-2:] for value in values]
    # Twelve digits: 0.6 - 0.4 and 0.5 - 0.3 are the same gap.
    gaps = [round(best - second, 12) for second, best in tops]
    return gaps, "gap between the best true mean and the next", f"{key} gap"


def _are_lists(key: str, values: Sequence[Any]) -> bool:
    return key in _ELEMENTS and all(
        isinstance(value, list | tuple) and all(is_number(item) for item in value)
        for value in values
    )
