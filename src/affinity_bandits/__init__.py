"""Study, plan, run and audit sequential choices whose feedback favours what was chosen before.

The model, the policies and the names below load at once; the simulator and everything heavy
behind it load at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affinity_bandits._version import __version__
from affinity_bandits.bandit import AffinityBandit, Bernoulli, Gaussian
from affinity_bandits.bias import (
    Clipped,
    Constant,
    Custom,
    PiecewisePower,
    Plateau,
    Power,
    Sigmoid,
)
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.errors import AffinityError
from affinity_bandits.policies import Live

if TYPE_CHECKING:
    from affinity_bandits.simulation import Environment, Result, StepRun, simulate

_LAZY = ("Environment", "Result", "StepRun", "simulate")

__all__ = [
    "AffinityBandit",
    "AffinityError",
    "Bernoulli",
    "Clipped",
    "Constant",
    "Custom",
    "Environment",
    "Gaussian",
    "Live",
    "PiecewisePower",
    "Plateau",
    "Power",
    "Result",
    "Sigmoid",
    "StepRun",
    "__version__",
    "policy_from_json",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Load the simulator when one of its names is first used."""
    if name in _LAZY:
        from affinity_bandits import simulation

        return getattr(simulation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
