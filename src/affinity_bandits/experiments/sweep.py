"""Sweeps: a grid of cells from axes, written in TOML or Python.

A sweep never holds its cells. Every value of an axis is turned once into the piece of text that it
contributes to a cell's canonical content; a cell is then a few pieces put together and hashed, and
is built only where it is run.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import bias_from_json
from affinity_bandits.catalogue import own_classes, policy_class, policy_from_json
from affinity_bandits.committee import Joining, Judges
from affinity_bandits.digests import own_code
from affinity_bandits.displays import some
from affinity_bandits.errors import AffinityError, InvalidInput
from affinity_bandits.experiments.spec import (
    SIMULATION_VERSION,
    Planned,
    canonical,
    check_amounts,
    identity_of,
    rest_of,
)
from affinity_bandits.noise import MECHANISMS, NOISES, noise_from_json
from affinity_bandits.simulation.simulator import checkpoints_at

BANDIT = tuple(f"bandit.{item.name}" for item in fields(AffinityBandit))
RUN = ("policy", "horizon", "checkpoints", "engine")
KEYS = (*BANDIT, *RUN)
"""What can be fixed or be an axis."""
DEFAULTS: dict[str, Any] = {
    "bandit.bias": "constant",
    "bandit.initial_pulls": None,
    "bandit.noise": "bernoulli",
    "bandit.mechanism": None,
    "bandit.memory": None,
    "bandit.joining": 1.0,
    "bandit.judges": "committee",
    "checkpoints": 1,
    "engine": "auto",
}


@dataclass(frozen=True)
class Sweep:
    """A grid: every combination of the axes' values, for the same number of replicates.

    Args:
        axes: from a key such as "bandit.bias", "policy" or "horizon" to its values.
        fixed: from such a key to the value that all cells share.
        replicates: of every cell.
        seed: of all of them.
        shard_size: replicates in one piece of work; left out, so many as take about a second.
            Changes nothing but how work is cut.

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
        # A mistake in a value is said now; combinations are checked where they are built.
        for key in KEYS:
            for value in self._values(key):
                _pieces(key, value)

    def __repr__(self) -> str:
        axes = some([f"{key} of {len(values):,}" for key, values in self.axes.items()])
        return (
            f"<Sweep: cells: {len(self):,} ({axes}), replicates of each: {self.replicates:,}, "
            f"seed {self.seed}>"
        )

    def __len__(self) -> int:
        length = 1
        for values in self.axes.values():
            length *= len(values)
        return length

    def planned(self) -> Iterator[Planned]:
        """Yield every cell without building it; a cell that comes twice is yielded twice."""
        pieces = {key: [_pieces(key, value) for value in self._values(key)] for key in KEYS}
        ordered = [key for key in KEYS if key not in self.axes]
        shared = {key: pieces[key][0] for key in ordered}
        axes = list(self.axes)
        seed = int(self.seed)
        for place in itertools.product(*(range(len(self.axes[key])) for key in axes)):
            chosen = dict(shared)
            for key, index in zip(axes, place, strict=True):
                chosen[key] = pieces[key][index]
            yield _planned(chosen, seed, place)

    def values(self, planned: Planned) -> dict[str, Any]:
        """Return a cell's value on every axis."""
        return {
            key: self.axes[key][index] for key, index in zip(self.axes, planned.place, strict=True)
        }

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
    def from_json(cls, data: Mapping[str, Any]) -> Sweep:
        """Rebuild a sweep from `to_json`."""
        if not isinstance(data, Mapping):
            raise InvalidInput("sweep", "a table", data)
        checks.settings("key of the sweep", cls, data)
        return cls(**data)

    @classmethod
    def from_toml(cls, path: str | Path) -> Sweep:
        """Read a sweep from a TOML file.

        Keys with dots may be written as tables: `[fixed.bandit]` with `noise = "gaussian"` is
        `"bandit.noise"` of `[fixed]`.
        """
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(str(path), "a TOML file", str(error)) from None
        for table in ("axes", "fixed"):
            if isinstance(data.get(table), dict):
                data[table] = _flattened(data[table])
        return cls.from_json(data)

    def _values(self, key: str) -> Sequence[Any]:
        if key in self.axes:
            return self.axes[key]
        return (self.fixed.get(key, DEFAULTS.get(key)),)


def _flattened(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with its "bandit" table flattened to dotted keys."""
    inner = table.get("bandit")
    flat = {key: value for key, value in table.items() if key != "bandit"}
    if inner is not None:
        if not isinstance(inner, dict):
            raise InvalidInput("bandit", "a table", inner)
        flat |= {f"bandit.{key}": value for key, value in inner.items()}
    return flat


class _Piece:
    """What a value contributes to a cell's text, and what others need to know of it."""

    __slots__ = ("code", "own", "revision", "text", "value")

    def __init__(self, value: Any, text: str | None = None, of: Any = None) -> None:
        self.value = value
        self.text = canonical(value) if text is None else text
        self.code = own_code(of)
        self.revision = getattr(of, "revision", 0)
        self.own = own_classes(*(of if isinstance(of, tuple) else (of,)))


def _pieces(key: str, value: Any) -> _Piece:
    """Return the piece of a value, in the spelling that the built cell would have."""
    try:
        return _PIECES[key](value)
    except InvalidInput as error:
        if error.parameter == key:
            raise
        named = InvalidInput(f"{key}: {error.parameter}", error.rule, error.value)
        named.args = (f"{key}: {error}",)  # with its hint at a name that is close
        raise named from None


def _noise(value: Any) -> _Piece:
    noise = noise_from_json(value, imports=True)
    return _Piece(noise.to_json(), of=rest_of(AffinityBandit, noise))


def _means(value: Any) -> _Piece:
    return _Piece(list(checks.numbers_list("true_means", value, low=-1e9, high=1e9)))


def _initial(value: Any) -> _Piece:
    if value is None:
        return _Piece(None)
    return _Piece(list(checks.integers_list("initial_pulls", value, low=1)))


def _bias(value: Any) -> _Piece:
    bias = bias_from_json(value, imports=True)
    return _Piece(bias.to_json(), of=bias)


def _policy(value: Any) -> _Piece:
    given = {"name": value} if isinstance(value, str) else value
    name = given.get("name") if isinstance(given, Mapping) else None
    if isinstance(name, str) and _is_told(name):
        return _Piece(given, "")  # spelled out with each cell's own bandit
    policy = policy_from_json(given, imports=True)
    return _Piece(policy.to_json(), of=policy)


def _is_told(name: str) -> bool:
    """Return whether a policy is told more than feedback."""
    cls = policy_class(name, imports=True)
    return getattr(cls, "information", "feedback") != "feedback"


def _horizon(value: Any) -> _Piece:
    return _Piece(checks.integer("horizon", value, low=1))


def _checkpoints(value: Any) -> _Piece:
    if isinstance(value, list | tuple):
        return _Piece(list(checks.integers_list("checkpoints", value, low=1)))
    return _Piece(checks.integer("checkpoints", value, low=1, high=10**6))


def _engine(value: Any) -> _Piece:
    return _Piece(checks.choice("engine", value, ("auto", "steps")))


def _mechanism(value: Any) -> _Piece:
    return _Piece(None if value is None else checks.choice("mechanism", value, MECHANISMS))


def _memory(value: Any) -> _Piece:
    return _Piece(None if value is None else checks.integer("memory", value, low=1, high=10**8))


def _joining(value: Any) -> _Piece:
    joining = Joining.from_json(value)
    return _Piece(joining.to_json(), "" if joining.everyone else None)


def _judges(value: Any) -> _Piece:
    judges = Judges.from_json(value)
    return _Piece(judges.to_json(), "" if judges == Judges() else None)


_PIECES: dict[str, Callable[[Any], _Piece]] = {
    "bandit.true_means": _means,
    "bandit.bias": _bias,
    "bandit.initial_pulls": _initial,
    "bandit.noise": _noise,
    "bandit.mechanism": _mechanism,
    "bandit.memory": _memory,
    "bandit.joining": _joining,
    "bandit.judges": _judges,
    "policy": _policy,
    "horizon": _horizon,
    "checkpoints": _checkpoints,
    "engine": _engine,
}


def _planned(chosen: Mapping[str, _Piece], seed: int, place: tuple[int, ...]) -> Planned:
    """Assemble a cell's text, with its keys in the order in which JSON sorts them."""
    means = chosen["bandit.true_means"]
    initial = chosen["bandit.initial_pulls"]
    noise = chosen["bandit.noise"]
    mechanism = chosen["bandit.mechanism"]
    horizon = chosen["horizon"].value
    initial_text = initial.text
    if initial.value is None:
        initial_text = canonical([1] * len(means.value))
    mechanism_text = mechanism.text
    if mechanism.value is None:
        mechanism_text = canonical(NOISES[noise.value["name"]].mechanisms[0])
    # Like the bandit's own description, without what is as in the paper.
    committee = "".join(
        f'"{name}":{chosen[f"bandit.{name}"].text},'
        for name in ("joining", "judges")
        if chosen[f"bandit.{name}"].text
    )
    bandit = (
        f'{{"bias":{chosen["bandit.bias"].text},"initial_pulls":{initial_text},{committee}'
        f'"mechanism":{mechanism_text},"memory":{chosen["bandit.memory"].text},'
        f'"noise":{noise.text},"true_means":{means.text}}}'
    )
    policy = chosen["policy"] if chosen["policy"].text else _told(chosen["policy"].value, bandit)
    own = {"bandit": noise.code, "bias": chosen["bandit.bias"].code, "policy": policy.code}
    code = canonical({name: digest for name, digest in own.items() if digest is not None})
    code_text = "" if code == "{}" else f'"code":{code},'
    text = (
        f'{{"bandit":{bandit},"checkpoints":{_times(chosen["checkpoints"].value, horizon)},'
        f'{code_text}"engine":{chosen["engine"].text},"horizon":{horizon},'
        f'"policy":{policy.text},"seed":{seed},'
        f'"simulation":{SIMULATION_VERSION + policy.revision}}}'
    )
    own_parts = (noise.own, chosen["bandit.bias"].own, policy.own)
    return Planned(identity_of(text), text, place, sum(own_parts, ()))


def _times(value: Any, horizon: int) -> str:
    if value == 1:
        return f"[{horizon}]"
    times = value if isinstance(value, list) else checkpoints_at(value, horizon).tolist()
    return canonical(sorted({*(time for time in times if time <= horizon), horizon}))


def _told(given: Any, bandit: str) -> _Piece:
    """Return a policy that is told its bandit's bias or best arm; "null" if there is none."""
    try:
        policy = policy_from_json(given, AffinityBandit.from_json(json.loads(bandit)), imports=True)
    except AffinityError:
        return _Piece(given)  # the cell will say what is wrong when it is built
    return _Piece(policy.to_json(), of=policy)
