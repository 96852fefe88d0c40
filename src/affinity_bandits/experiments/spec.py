"""What to run: cells, identified by their content, and sets of cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.catalogue import AnyPolicy, add_own, policy_from_json
from affinity_bandits.digests import own_code
from affinity_bandits.displays import one_line
from affinity_bandits.errors import InvalidInput, NotSupported, UnknownName
from affinity_bandits.noise import Noise

SIMULATION_VERSION = 1
"""Raised whenever the same cells and seed would give other numbers; part of every identity, with
the revision of the policy, where only its cells would."""


def canonical(data: Any) -> str:
    """Return data as JSON in the one spelling that identities are computed from."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def identity_of(text: str) -> str:
    """Return the identity of a cell whose canonical content is given."""
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"affinity-cell").hexdigest()


def stream_seed_of(identity: str) -> int:
    """Return the seed of a cell's own streams."""
    return int.from_bytes(bytes.fromhex(identity), "little")


def code_of(**parts: Any) -> dict[str, str]:
    """Return the digests of those parts of a cell that are the user's own code."""
    found = {name: own_code(part) for name, part in parts.items()}
    return {name: digest for name, digest in found.items() if digest is not None}


@dataclass(frozen=True)
class Cell:
    """One policy on one bandit to one horizon: the unit that has a distribution of outcomes.

    Its identity is a hash of its content, the seed and the simulation's version, never its
    position. A policy or a function of the user's own is its code: edited, it is another cell. Its
    streams follow from the identity, so cells are independent of each other, and its replicates
    are numbered, so any split of them gives the same bits.

    Args:
        bandit: the instance.
        policy: the policy.
        horizon: pulls of every replicate.
        checkpoints: when to count pulls, ascending; the horizon is always the last.
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
        """Rebuild a cell from `to_json`, with the code digests saved there.

        Raises:
            NotSupported: it is of code of the user's own that is not loaded here.
        """
        given = {key: value for key, value in data.items() if key not in ("simulation", "code")}
        code = data.get("code", {})
        try:
            given["bandit"] = AffinityBandit.from_json(given["bandit"])
            given["policy"] = policy_from_json(given["policy"])
        except UnknownName as error:
            if not code:
                raise
            raise NotSupported(
                f"{error.parameter} {error.value!r} is code of your own, which is not kept with "
                f"results: they can be read without it, but to run it, import its module first"
            ) from None
        cell = cls(**given)
        if code:
            cell.__dict__["code"] = dict(code)
        return cell

    @cached_property
    def code(self) -> dict[str, str]:
        """Digests of the user's own code in the cell, by where it is; empty if there is none."""
        return code_of(policy=self.policy, bias=self.bandit.bias, bandit=self._rest)

    @property
    def _rest(self) -> tuple[Any, ...]:
        return rest_of(type(self.bandit), self.bandit.noise)

    def check_code(self) -> None:
        """Check that the code that would be run is the code in the identity.

        Raises:
            NotSupported: it has been edited since the cell was made, here or in another process.
        """
        found = code_of(policy=self.policy, bias=self.bandit.bias, bandit=self._rest)
        for part in sorted({*found, *self.code}):
            if found.get(part) != self.code.get(part):
                named = {"policy": self.policy, "bias": self.bandit.bias}
                what = named.get(part, self.bandit.noise)
                raise NotSupported(
                    f"the code of {part} {str(what)!r} is not the one that this run was started "
                    f"with, or reads something that is different in every process: start it again"
                )

    @cached_property
    def text(self) -> str:
        """The content that the identity stands for, with the simulation's version."""
        simulation = SIMULATION_VERSION + self.policy.revision
        return canonical({**self.to_json(), "simulation": simulation})

    @cached_property
    def identity(self) -> str:
        """Thirty-two hexadecimal digits that stand for the content."""
        return identity_of(self.text)

    @property
    def stream_seed(self) -> int:
        """The seed of this cell's own streams."""
        return stream_seed_of(self.identity)

    def cell(self) -> Cell:
        """Return the cell itself, as `Planned.cell` does."""
        return self


def rest_of(bandit: type[AffinityBandit], noise: Noise) -> tuple[Any, ...]:
    """Return the other parts of a bandit that may be a user's code: its class, a sampler."""
    return bandit, noise


class Planned(NamedTuple):
    """A cell that is not built yet, only identified, so that a million of them take seconds.

    Attributes:
        identity: of the cell.
        text: its canonical content.
        place: where it lies on each axis of its sweep.
        own: classes of the user's own in it, which a worker must know by name.
    """

    identity: str
    text: str
    place: tuple[int, ...] = ()
    own: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return one_line(self)

    def cell(self) -> Cell:
        """Build the cell, which is when its content is checked.

        Raises:
            InvalidInput: the content breaks a rule, e.g. lists of different lengths.
        """
        add_own(self.own)
        cell = Cell.from_json(json.loads(self.text))
        # Its shards are kept under the identity that was planned, its streams follow its own.
        if cell.identity != self.identity:
            raise AssertionError(f"planned {self.text}, built {cell.text}")
        return cell


class AnyCell(Protocol):
    """What a run needs of a cell before it is built; `Cell` and `Planned` both have it."""

    @property
    def identity(self) -> str:
        """What the cell's shards are kept under."""

    @property
    def text(self) -> str:
        """The canonical content."""

    def cell(self) -> Cell:
        """Build the cell."""


@dataclass(frozen=True)
class Shard:
    """Some of a cell's replicates: the unit of work, and of what is saved."""

    planned: AnyCell
    first: int
    count: int

    __repr__ = one_line

    @property
    def identity(self) -> str:
        """The cell's identity."""
        return self.planned.identity

    @property
    def name(self) -> str:
        """What it is called in messages and, with a checksum, in the store."""
        return f"{self.identity}/{self.first:09d}-{self.count:07d}"


class CellSet(Protocol):
    """A set of cells that can be run: an `Experiment` or a `Sweep`."""

    @property
    def replicates(self) -> int:
        """How many of every cell."""

    @property
    def shard_size(self) -> int | None:
        """Replicates of a shard; None to let a run choose."""

    def planned(self) -> Iterable[AnyCell]:
        """Yield every cell once."""


@dataclass(frozen=True)
class Experiment:
    """A list of cells, each to be run for the same number of replicates.

    Args:
        cells: what to run; the same cell twice is run once.
        replicates: of every cell.
        shard_size: replicates in one piece of work; changes nothing but how work is cut. Left
            out: so many as take about a second.
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
        """Yield every cell."""
        yield from self.cells


def check_amounts(replicates: object, shard_size: object) -> None:
    """Check the number of replicates and the shard size."""
    checks.integer("replicates", replicates, low=1, high=10**9)
    if shard_size is not None:
        checks.integer("shard_size", shard_size, low=1, high=10**9)
