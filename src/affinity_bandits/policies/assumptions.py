"""What somebody who plans a comparison takes for granted, written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

NOISES = ("bounded", "gaussian")
MOST_GROUPS = 1000
MOST_HEAD_START = 10**9


@dataclass(frozen=True)
class Assumptions:
    """What a plan takes for granted, and how often it may fail.

    Args:
        groups: how many groups are compared.
        horizon: how many choices will be made in all.
        smallest_difference: the best group's true mean exceeds every other's by at least this.
        head_start: initial numbers of members differ by at most this.
        steepness: the bias is at most as steep as x**steepness: multiplying a share by c > 1
            multiplies the weight by at most c**steepness.
        lipschitz: where given, the bias is also L-Lipschitz with this L (`assump:multBias`).
        noise: "bounded" for feedback in [0, 1], or "gaussian".
        sigma: the standard deviation of Gaussian feedback.
        largest_mean: no true mean is above this.
        failure: the probability that may be risked of settling for a worse group.
    """

    groups: int
    horizon: int
    smallest_difference: float
    head_start: int = 100
    steepness: float = 2.0
    lipschitz: float | None = None
    noise: str = "bounded"
    sigma: float = 1.0
    largest_mean: float = 1.0
    failure: float = 0.05

    def __post_init__(self) -> None:
        checks.choice("noise", self.noise, NOISES)
        bounded = self.noise == "bounded"
        largest = checks.number(
            "largest_mean",
            self.largest_mean,
            low=0.0,
            high=1.0 if bounded else 1e6,
            open_low=True,
        )
        values: dict[str, Any] = {
            "groups": checks.integer("groups", self.groups, low=2, high=MOST_GROUPS),
            "horizon": checks.integer("horizon", self.horizon, low=1),
            "largest_mean": largest,
            "smallest_difference": checks.number(
                "smallest_difference",
                self.smallest_difference,
                low=0.0,
                high=largest,
                open_low=True,
            ),
            "head_start": checks.integer(
                "head_start", self.head_start, low=0, high=MOST_HEAD_START
            ),
            "steepness": checks.number("steepness", self.steepness, low=0.0, high=100.0),
            "sigma": checks.number("sigma", self.sigma, low=0.0, high=1e6, open_low=True),
            "failure": checks.number(
                "failure", self.failure, low=1e-12, high=0.5, open_low=False, open_high=True
            ),
        }
        if self.lipschitz is not None:
            values["lipschitz"] = checks.number("lipschitz", self.lipschitz, low=0.0)
        if values["horizon"] < values["groups"]:
            raise InvalidInput(
                "horizon", f"at least the number of groups ({self.groups})", self.horizon
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def bounded(self) -> bool:
        """Whether feedback lies in [0, 1]."""
        return self.noise == "bounded"

    def to_json(self) -> dict[str, Any]:
        """Return the assumptions as JSON-ready data, without those that are not made."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild assumptions from `to_json`."""
        if not isinstance(data, Mapping):
            raise InvalidInput("assumptions", "a table", data)
        checks.known_keys("assumption", data, (item.name for item in fields(cls)))
        checks.required(cls, data)
        return cls(**data)
