"""Read results whose policy, bias or noise is a user's code that can no longer be imported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, bias_from_json
from affinity_bandits.errors import AffinityError, NotSupported
from affinity_bandits.experiments.spec import canonical
from affinity_bandits.kernels import FloatArray
from affinity_bandits.noise import MECHANISMS, Noise, noise_from_json


class Described:
    """What is known of code that is not here: what `to_json` gave where it was run, as text."""

    description: str

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.description)
        return data

    def __str__(self) -> str:
        data = self.to_json()
        return str(data.get("label", data.get("name")))


@dataclass(frozen=True)
class Unloaded(Described, Bias):
    """A bias whose function is not loaded: it has a name and no values.

    Args:
        description: what `to_json` gave where it was run, as text.
    """

    name: ClassVar[str] = "unloaded"
    description: str

    @property
    def bounds(self) -> tuple[float, float]:
        return float("nan"), float("nan")  # checked where it was run

    @property
    def lipschitz(self) -> float:
        raise self._missing()

    @property
    def code(self) -> int:
        raise self._missing()

    def _missing(self) -> NotSupported:
        return _gone("bias", self)


@dataclass(frozen=True)
class UnloadedNoise(Described, Noise):
    """A noise whose sampler is not here: it says what it was called, and has no values.

    Args:
        description: what `to_json` gave where it was run, as text.
    """

    name: ClassVar[str] = "unloaded"
    mechanisms: ClassVar[tuple[str, ...]] = MECHANISMS
    description: str

    def check_means(self, means: Sequence[float]) -> None:
        """Check nothing: that was done where it was run."""

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
    """Return the bandit of a cell's content; what cannot be rebuilt is `Unloaded`."""
    given = dict(content["bandit"])
    try:
        given["bias"] = bias_from_json(given["bias"])
    except AffinityError:
        given["bias"] = Unloaded(canonical(given["bias"]))
    try:
        given["noise"] = noise_from_json(given["noise"])
    except AffinityError:
        given["noise"] = UnloadedNoise(canonical(given["noise"]))
    return AffinityBandit(**given)
