"""Units of work: cells, identified by their content, and sets of cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.base import checks
from affinity_bandits.base.digests import own_code
from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import AffinityError, InvalidInput, NotSupported
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.model.bandit import AffinityBandit

SEED_SCHEME = 1  # version of the rule that derives a cell's random streams from its content


def canonical(data: Any) -> str:
    """Return data as JSON in the one spelling that identities are computed from."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def identity_of(text: str) -> str:
    """Return 32 hexadecimal digits that identify a text."""
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"affinity-cell").hexdigest()


def stream_seed_of(text: str) -> int:
    """Return the seed of a cell's random streams, the same for all versions of the package."""
    content = json.loads(text)
    content.pop("version", None)
    return int.from_bytes(bytes.fromhex(identity_of(canonical(content))), "little")


@dataclass(frozen=True)
class Cell:
    """One policy on one bandit up to one horizon.

    Its identity is a hash of its content (with the code of a user's own models), the seed scheme
    and the package version. Its random streams follow from the content, so results are the same
    however work is split.

    Args:
        bandit: the instance.
        policy: the policy.
        horizon: pulls of every replicate.
        checkpoints: when to count pulls; the horizon is always the last.
        seed: of the experiment it belongs to.
        engine: "auto" or "steps", as in `simulate`.
    """

    bandit: AffinityBandit
    policy: AnyPolicy
    horizon: int
    checkpoints: tuple[int, ...] = ()
    seed: int = 0
    engine: str = "auto"

    __repr__ = one_line

    def __post_init__(self) -> None:
        horizon = checks.integer("horizon", self.horizon, low=1)
        times = checks.integers_list("checkpoints", self.checkpoints, low=1, high=horizon)
        object.__setattr__(self, "horizon", horizon)
        object.__setattr__(self, "checkpoints", tuple(sorted({*times, horizon})))
        checks.integer("seed", self.seed, low=0, high=2**128 - 1)
        checks.choice("engine", self.engine, ("auto", "steps"))

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON-ready data; `from_json` reads it back."""
        data = {
            "bandit": self.bandit.to_json(),
            "policy": self.policy.to_json(),
            "horizon": self.horizon,
            "checkpoints": list(self.checkpoints),
            "seed": self.seed,
            "engine": self.engine,
        }
        return data | {"code": self.code} if self.code else data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        """Rebuild a cell from `to_json`, with the code digests saved there."""
        given = {k: v for k, v in data.items() if k not in ("simulation", "version", "code")}
        given["bandit"] = AffinityBandit.from_json(given["bandit"])
        given["policy"] = policy_from_json(given["policy"])
        return cls(**given).with_code(data.get("code", {}))

    def with_code(self, code: Mapping[str, str]) -> Cell:
        """Set the code digests instead of computing them; return the cell."""
        self.__dict__["code"] = dict(code)
        return self

    @cached_property
    def code(self) -> dict[str, str]:
        """Digests of the user's own code, by the part of the cell that it is in."""
        rest = (type(self.bandit), self.bandit.noise)
        return code_of({"policy": self.policy, "bias": self.bandit.bias, "bandit": rest})

    def check_code(self) -> None:
        """Raise NotSupported if the code has been edited since the cell was made."""
        found = replace(self).code
        for part in sorted({*found, *self.code}):
            if found.get(part) != self.code.get(part):
                models = {"policy": self.policy, "bias": self.bandit.bias}
                raise NotSupported(
                    f"the code of {part} {str(models.get(part, self.bandit.noise))!r} is not the "
                    f"one that this run was started with, or reads something that is different in "
                    f"every process: start it again"
                )

    @cached_property
    def text(self) -> str:
        """The content, seed scheme and package version, as canonical JSON."""
        about = {"simulation": SEED_SCHEME, "version": __version__}
        return canonical(self.to_json() | about)

    @cached_property
    def identity(self) -> str:
        """Thirty-two hexadecimal digits that stand for `text`."""
        return identity_of(self.text)

    @property
    def stream_seed(self) -> int:
        return stream_seed_of(self.text)

    def cell(self) -> Cell:
        """Return the cell itself, as `PlannedCell.cell` does."""
        return self


def code_of(parts: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of those parts of a cell that are the user's own code."""
    found = {name: own_code(part) for name, part in parts.items()}
    return {name: digest for name, digest in found.items() if digest is not None}


@dataclass(frozen=True)
class PlannedCell:
    """A combination of values of a sweep, and its cell or the error of building it.

    Attributes:
        place: index of its value on each axis of the sweep.
        values: its value for each key of the sweep.
        built: the cell, or the error that building it raised.
    """

    place: tuple[int, ...]
    values: Mapping[str, Any]
    built: Cell | AffinityError

    __repr__ = one_line

    @property
    def text(self) -> str:
        """The cell's text; if building it failed, the values."""
        if isinstance(self.built, Cell):
            return self.built.text
        return canonical({key: str(value) for key, value in self.values.items()})

    @property
    def identity(self) -> str:
        return identity_of(self.text)

    def cell(self) -> Cell:
        """Return the cell, or raise the error of building it."""
        if isinstance(self.built, Cell):
            return self.built
        raise self.built


@dataclass(frozen=True)
class Shard:
    """Some of a cell's replicates: the unit of work."""

    planned: Cell | PlannedCell
    first: int
    count: int

    __repr__ = one_line

    @property
    def identity(self) -> str:
        return self.planned.identity

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.identity}/{self.first:09d}-{self.count:07d}"


@dataclass(frozen=True)
class Experiment:
    """A list of cells, each to be run for the same number of replicates.

    Args:
        cells: the cells; duplicates are run once.
        replicates: of every cell.
        shard_size: see `Sweep`.
    """

    cells: Sequence[Cell]
    replicates: int
    shard_size: int | None = None

    def __post_init__(self) -> None:
        cells = checks.sequence("cells", self.cells, "a list of cells")
        for i, cell in enumerate(cells):
            if not isinstance(cell, Cell):
                raise InvalidInput(f"cells[{i}]", "a Cell", cell)
        unique = {cell.identity: cell for cell in cells}
        if not unique:
            raise InvalidInput("cells", "at least one cell", self.cells)
        object.__setattr__(self, "cells", tuple(unique.values()))
        check_amounts(self.replicates, self.shard_size)

    def __repr__(self) -> str:
        return f"<Experiment: cells: {len(self.cells):,}, replicates of each: {self.replicates:,}>"

    def planned(self) -> Iterator[Cell]:
        yield from self.cells


def check_amounts(replicates: object, shard_size: object) -> None:
    """Check the number of replicates and the shard size."""
    checks.integer("replicates", replicates, low=1, high=10**9)
    if shard_size is not None:
        checks.integer("shard_size", shard_size, low=1, high=10**9)
