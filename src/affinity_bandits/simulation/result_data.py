"""The data of a result, and what follows from it by counting."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from affinity_bandits._version import __version__
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.displays import one_line
from affinity_bandits.errors import UnknownName
from affinity_bandits.kernels import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PolicyRun:
    """How one policy was run.

    Attributes:
        label: its name in the result.
        description: its `to_json`.
        eliminates: whether it narrows its candidates down.
        engine: "rounds" (whole rounds drawn at once), "steps" (pull by pull) or "python" (the same
            in plain Python).
        note: why a round policy was run by steps, else empty.
        caveat: what the policy assumes of feedback that is not so here, else empty. It is about
            feedback alone: that there is none does not say that a theorem holds.
    """

    label: str
    description: dict[str, object]
    eliminates: bool
    engine: str
    note: str = ""
    caveat: str = ""

    __repr__ = one_line


@dataclass(frozen=True, eq=False, repr=False)
class ResultData:
    """What a `Result` holds; its attributes are described there."""

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
    parts: tuple[tuple[int, int], ...] = ()

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that the replicates are of, ascending."""
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

        That of `eq:regretDef`, with the pulls of each replicate in place of their expectation.
        """
        return self.bandit.regret(self.pulls)

    @property
    def most_regret(self) -> FloatArray:
        """The most regret that is possible at each checkpoint, [checkpoint]."""
        return np.asarray(self.checkpoints * float(self.bandit.gaps.max()), dtype=np.float64)

    @property
    def eliminates(self) -> BoolArray:
        """Whether the policy narrows its candidates down, [policy]."""
        return np.array([run.eliminates for run in self.runs])

    @property
    def wrong_arm(self) -> BoolArray:
        """Whether the verdict of a run was wrong, [policy, replicate].

        Of a policy that decides: no best arm was among its candidates at the end. Of any other:
        some arm that is not best got more pulls than all best arms together; for two arms this is
        the event T_1(n) > n/2 of Figure 3. A tie is no verdict, and not wrong.
        """
        others = np.delete(self.pulls[:, :, -1], self.bandit.best_arms, axis=-1)
        best = self.pulls[:, :, -1, list(self.bandit.best_arms)].sum(axis=-1)
        more = others.max(axis=-1, initial=0) > best
        return np.where(self.eliminates[:, None], self.deceived, more)

    @property
    def undecided(self) -> BoolArray:
        """Whether a run ended without a verdict, [policy, replicate].

        A best arm was among the candidates together with one that is not best. A policy that never
        decides has no verdict to wait for: False here, nan in `to_xarray` and `to_pandas`, None in
        `summary`.
        """
        others = np.delete(self.candidates, self.bandit.best_arms, axis=-1).any(axis=-1)
        return np.asarray(self.eliminates[:, None] & others & ~self.deceived)

    @property
    def deceived(self) -> BoolArray:
        """Whether no best arm was among the candidates at the end, [policy, replicate]."""
        kept = self.candidates[:, :, list(self.bandit.best_arms)].sum(axis=-1)
        return np.asarray(kept == 0)
