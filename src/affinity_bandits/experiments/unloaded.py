"""Bandits of stored results whose bias or noise is code of the user's own, which may be missing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits.base.errors import AffinityError, NotSupported
from affinity_bandits.experiments.cells import canonical
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import Bias, bias_from_json
from affinity_bandits.model.noise import MECHANISMS, Noise, noise_from_json


class Described:
    """A model known only by its description, the saved `to_json`."""

    description: str

    def to_json(self) -> dict[str, Any]:
        return dict(json.loads(self.description))

    def __str__(self) -> str:
        data = self.to_json()
        return str(data.get("label", data.get("name")))


@dataclass(frozen=True)
class Unloaded(Described, Bias):
    """A bias known only by its description."""

    name: ClassVar[str] = "unloaded"
    description: str

    @property
    def bounds(self) -> tuple[float, float]:
        return float("nan"), float("nan")  # checked where it was run

    @property
    def lipschitz(self) -> float:
        raise _gone("bias", self)

    @property
    def code(self) -> int:
        raise _gone("bias", self)

    def check_own(self) -> None:
        """Accept it: it was checked where the cell was run."""


@dataclass(frozen=True)
class UnloadedNoise(Described, Noise):
    """A noise known only by its description."""

    name: ClassVar[str] = "unloaded"
    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS
    description: str

    def check_means(self, means: Sequence[float]) -> None:
        """Accept any means: they were checked where the cell was run."""

    def law_code(self, mechanism: str) -> int:
        raise _gone("noise", self)

    def ends(self, means: FloatArray) -> FloatArray:
        raise _gone("noise", self)


def _gone(what: str, model: Bias | Noise) -> NotSupported:
    return NotSupported(
        f"{what} {str(model)!r} is code of your own, which is not kept with results: they can be "
        f"read without it, but it cannot be run or evaluated"
    )


def bandit_of(content: Mapping[str, Any]) -> AffinityBandit:
    """Return the bandit of a cell's content, with `Unloaded` for models of missing code."""
    given = dict(content["bandit"])
    kinds = (("bias", bias_from_json, Unloaded), ("noise", noise_from_json, UnloadedNoise))
    for key, read, unloaded in kinds:
        try:
            given[key] = read(given[key])
        except AffinityError:
            given[key] = unloaded(canonical(given[key]))
    return AffinityBandit(**given)
