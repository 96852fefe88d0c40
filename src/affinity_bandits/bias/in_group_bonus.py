"""A bonus for one's own group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from affinity_bandits import checks
from affinity_bandits.bias.base import Bias
from affinity_bandits.bias.weights import IN_GROUP_BONUS


@dataclass(frozen=True)
class InGroupBonus(Bias):
    """f(x) = (1 + bonus x) / (1 + bonus): who meets their own group scores higher by the bonus.

    Of the committee, a part x is of the candidate's group and multiplies its score by 1 + bonus;
    the others leave it as it is. Their mean is 1 + bonus x, here divided by what a committee of
    one group would give, so that the weight of a share of 1 is 1.

    It satisfies `assump:multBias` with L = bonus / (1 + bonus), which is its steepness, too.

    >>> InGroupBonus(0.25).weight(0.0), InGroupBonus(0.25).weight(1.0)
    (0.8, 1.0)
    """

    name: ClassVar[str] = "in-group-bonus"
    bonus: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bonus", checks.number("bonus", self.bonus, low=0.0, high=1e9))

    @property
    def code(self) -> int:
        return IN_GROUP_BONUS

    @property
    def own_parameters(self) -> tuple[float, ...]:
        return (self.bonus,)

    @property
    def lipschitz(self) -> float:
        return self.bonus / (1.0 + self.bonus)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "bonus": self.bonus}

    def __str__(self) -> str:
        return f"(1+{self.bonus:g}x)/{1.0 + self.bonus:g}"
