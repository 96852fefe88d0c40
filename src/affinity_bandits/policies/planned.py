"""What a round policy is told when a plan is made with it, and the rounds it announces then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Assumed(Protocol):
    """Assumptions that a policy can be made for, with scores mapped to [0, 1].

    The assumptions of `affinity_bandits.planning`, which also has what they mean, are of this form.
    """

    @property
    def groups(self) -> int: ...
    @property
    def horizon(self) -> int: ...
    @property
    def smallest_difference(self) -> float: ...
    @property
    def head_start(self) -> int | None: ...
    @property
    def committee(self) -> Sequence[int] | None: ...
    @property
    def joining(self) -> float: ...
    @property
    def judges(self) -> str: ...
    @property
    def steepness(self) -> float | None: ...
    @property
    def lipschitz(self) -> float | None: ...
    @property
    def bounded(self) -> bool: ...
    @property
    def sigma(self) -> float: ...
    @property
    def best_mean(self) -> float: ...
    @property
    def failure(self) -> float: ...
    @property
    def in_flight(self) -> int: ...


class PlannedRound(NamedTuple):
    """A round that comes if no arm has been dropped before.

    Attributes:
        pulls_each: pulls of each arm in all when the round has ended.
        pulls: of all arms together.
        compared: pulls of each arm that count for the means compared.
        drops: an arm is dropped if its mean lags the best by more than this; None where no arm is.
    """

    pulls_each: int
    pulls: int
    compared: int
    drops: float | None
