"""What is to be run: cells, which are their content, and experiments, which are sets of cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.errors import InvalidInput

SIMULATION_VERSION = 1
"""Raised whenever the same cell and seed would give other numbers; part of every identity."""


@dataclass(frozen=True)
class Cell:
    """One policy on one bandit to one horizon: the unit that has a distribution of outcomes.

    Its identity is a hash of its content, the seed and the simulation's version, never its
    position. Its streams follow from that identity, so cells are independent of each other, and
    its replicates are numbered, so any split of them gives the same bits.

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

    def __post_init__(self) -> None:
        horizon = checks.integer("horizon", self.horizon, low=1)
        times = checks.integers_list("checkpoints", self.checkpoints, low=1, high=horizon)
        object.__setattr__(self, "horizon", horizon)
        object.__setattr__(self, "checkpoints", tuple(sorted({*times, horizon})))
        checks.integer("seed", self.seed, low=0, high=2**128 - 1)
        checks.choice("engine", self.engine, ("auto", "steps"))

    def to_json(self) -> dict[str, Any]:
        """Return the content as JSON-ready data; `from_json` takes it back."""
        return {
            "bandit": self.bandit.to_json(),
            "policy": self.policy.to_json(),
            "horizon": self.horizon,
            "checkpoints": list(self.checkpoints),
            "seed": self.seed,
            "engine": self.engine,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        """Rebuild a cell from `to_json`."""
        given = dict(data)
        given["bandit"] = AffinityBandit.from_json(given["bandit"])
        given["policy"] = policy_from_json(given["policy"])
        return cls(**given)

    @cached_property
    def digest(self) -> bytes:
        """Sixteen bytes that stand for the content, the seed and the simulation's version."""
        content = {**self.to_json(), "simulation": SIMULATION_VERSION}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=16, person=b"affinity-cell").digest()

    @property
    def identity(self) -> str:
        """The digest as a file name."""
        return self.digest.hex()

    @property
    def stream_seed(self) -> int:
        """The seed of this cell's own streams."""
        return int.from_bytes(self.digest, "little")


@dataclass(frozen=True)
class Shard:
    """Some of a cell's replicates: the unit of work, and of what is saved."""

    cell: Cell
    first: int
    count: int

    @property
    def name(self) -> str:
        """The file that holds it."""
        return f"{self.cell.identity}/{self.first:09d}-{self.count:07d}.parquet"


@dataclass(frozen=True)
class Experiment:
    """A set of cells, each to be run for the same number of replicates.

    Args:
        cells: what to run; the same cell twice is run once.
        replicates: of every cell.
        shard_size: replicates in one piece of work; changes nothing but how work is cut.
    """

    cells: Sequence[Cell]
    replicates: int
    shard_size: int = 1000

    def __post_init__(self) -> None:
        unique = {cell.identity: cell for cell in self.cells}
        if not unique:
            raise InvalidInput("cells", "at least one cell", self.cells)
        object.__setattr__(self, "cells", tuple(unique.values()))
        checks.integer("replicates", self.replicates, low=1, high=10**9)
        checks.integer("shard_size", self.shard_size, low=1, high=10**9)

    def shards(self) -> Iterator[Shard]:
        """Yield every piece of work, cell by cell."""
        for cell in self.cells:
            for first in range(0, self.replicates, self.shard_size):
                yield Shard(cell, first, min(self.shard_size, self.replicates - first))
