"""Read results whose policy or bias is a user's own code that can no longer be imported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias
from affinity_bandits.errors import AffinityError, NotSupported
from affinity_bandits.experiments.spec import canonical


@dataclass(frozen=True)
class Unloaded(Bias):
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

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.description)
        return data

    def __str__(self) -> str:
        data = self.to_json()
        return str(data.get("label", data.get("name")))

    def _missing(self) -> NotSupported:
        return NotSupported(
            f"bias {str(self)!r} is code of your own, which is not kept with results: they can be "
            f"read without it, but it cannot be run or evaluated"
        )


def bandit_of(content: Mapping[str, Any]) -> AffinityBandit:
    """Return the bandit of a cell's content; a bias that cannot be rebuilt is `Unloaded`."""
    try:
        return AffinityBandit.from_json(content["bandit"])
    except AffinityError:
        described = Unloaded(canonical(content["bandit"]["bias"]))
        return AffinityBandit(**{**content["bandit"], "bias": described})
