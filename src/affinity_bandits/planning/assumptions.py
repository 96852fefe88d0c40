"""The assumptions that a plan is made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

NOISES = ("bounded", "gaussian")
MOST_GROUPS = 1000
MOST_HEAD_START = 10**9
MOST_IN_FLIGHT = 10**9


@dataclass(frozen=True)
class Assumptions:
    """What a plan takes for granted, and how often it may fail.

    Scores are compared as they are when every group has the same share: "a difference of 0.3
    stars" means that a group would score 0.3 stars more than another if both had equal shares.
    What the scores would be without any bias is not asked, since nobody ever sees it; the order of
    the groups is the same. The bias is described relative to its weight at equal shares too.

    Args:
        groups: how many groups are compared.
        horizon: how many choices will be made in all.
        smallest_difference: at equal shares the best group's mean score exceeds every other's by
            at least this.
        head_start: initial numbers of members differ by at most this.
        steepness: the bias is at most as steep as x**steepness: multiplying a share by c > 1
            multiplies the mean score by at most c**steepness, and never lowers it.
        lipschitz: where given, a limit on the slope of the bias as well (`assump:multBias`): the
            mean score changes by at most this times the change of the share, as a multiple of
            what it is at equal shares.
        noise: "bounded" for scores from `lowest` to `highest`, or "gaussian".
        sigma: the standard deviation of Gaussian scores.
        lowest: the smallest score there can be; bounded scores only.
        highest: the largest.
        largest_mean: at equal shares no group's mean score is above this. Left out: `highest`
            for bounded scores, 1 for Gaussian ones.
        failure: the probability that may be risked of settling for a worse group.
        in_flight: choices that may be under way at once, from the oldest without a score to the
            newest; 1 if each is scored before the next is made.
    """

    groups: int
    horizon: int
    smallest_difference: float
    head_start: int = 100
    steepness: float = 2.0
    lipschitz: float | None = None
    noise: str = "bounded"
    sigma: float = 1.0
    lowest: float = 0.0
    highest: float = 1.0
    largest_mean: float | None = None
    failure: float = 0.05
    in_flight: int = 1

    def __post_init__(self) -> None:
        checks.choice("noise", self.noise, NOISES)
        lowest = checks.number("lowest", self.lowest, low=-1e9, high=1e9)
        highest = checks.number("highest", self.highest, low=-1e9, high=1e9)
        if not self.bounded and (lowest, highest) != (0.0, 1.0):
            name = "lowest" if lowest != 0.0 else "highest"
            raise InvalidInput(name, "left out unless noise is bounded", getattr(self, name))
        if highest <= lowest:
            raise InvalidInput("highest", f"above lowest ({lowest:g})", self.highest)
        largest = checks.number(
            "largest_mean",
            highest if self.largest_mean is None else self.largest_mean,
            low=lowest,
            high=highest if self.bounded else 1e6,
            open_low=True,
        )
        values: dict[str, Any] = {
            "groups": checks.integer("groups", self.groups, low=2, high=MOST_GROUPS),
            "horizon": checks.integer("horizon", self.horizon, low=1),
            "lowest": lowest,
            "highest": highest,
            "largest_mean": largest,
            "smallest_difference": checks.number(
                "smallest_difference",
                self.smallest_difference,
                low=0.0,
                high=largest - lowest,
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
            "in_flight": checks.integer("in_flight", self.in_flight, low=1, high=MOST_IN_FLIGHT),
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
        """Whether scores are bounded."""
        return self.noise == "bounded"

    @property
    def span(self) -> float:
        """The width of the range of scores, which policies see as 1; 1 for Gaussian scores."""
        return self.highest - self.lowest

    @property
    def best_mean(self) -> float:
        """The largest mean score that the best group can have at equal shares."""
        assert self.largest_mean is not None  # set in __post_init__
        return self.largest_mean

    def on_unit_scale(self) -> Assumptions:
        """Return the same assumptions with scores mapped to [0, 1], as policies see them."""
        return replace(
            self,
            lowest=0.0,
            highest=1.0,
            largest_mean=(self.best_mean - self.lowest) / self.span,
            # Rounding must not lift the difference above all there is.
            smallest_difference=min(
                self.smallest_difference / self.span, (self.best_mean - self.lowest) / self.span
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the assumptions as JSON-ready data, without those that are not made."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        if not self.bounded:
            values["lowest"] = values["highest"] = None
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild assumptions from `to_json`."""
        if not isinstance(data, Mapping):
            raise InvalidInput("assumptions", "a table", data)
        checks.known_keys("assumption", data, (item.name for item in fields(cls)))
        checks.required(cls, data)
        return cls(**data)
