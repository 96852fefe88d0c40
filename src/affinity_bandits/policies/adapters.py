"""Policies of other packages as policies of this one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from affinity_bandits.base import registry
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies import InPython

__all__ = ["from_pymab", "from_river"]


@dataclass(frozen=True)
class Peer:
    """Makes objects of another package's policy, one for each replicate.

    Args:
        make: the adapter's function of policy, settings, arms and stream.
        policy: the other package's policy, or its class.
        settings: the arguments of its class besides the number of arms.
    """

    make: Callable[..., Any]
    policy: Any
    settings: tuple[tuple[str, Any], ...] = ()

    def __call__(self, arms: int, rng: np.random.Generator) -> Any:
        return self.make(self.policy, dict(self.settings), arms, rng)

    def to_json(self) -> dict[str, Any]:
        """Return the description, which also determines the stream."""
        shown = self.policy if isinstance(self.policy, type) else type(self.policy)
        data: dict[str, Any] = {"policy": registry.place_of(shown)}
        if self.policy is not shown:  # an object, told apart from others by what it was made with
            variables = sorted(getattr(self.policy, "__dict__", {}).items())
            public = {name: one for name, one in variables if name[0] != "_"}
            data["as"] = repr(public or self.policy)
        for name, value in self.settings:
            data[name] = value if _is_plain(value) else repr(value)
        return data


def adapt(
    make: Callable[..., Any],
    policy: Any,
    settings: Mapping[str, Any],
    label: str,
    assumes: Feedback,
) -> InPython:
    """Return another package's policy as one of this package."""
    shown = policy if isinstance(policy, type) else type(policy)
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    name = label or shown.__name__ + (f"({listed})" if listed else "")
    return InPython(Peer(make, policy, tuple(settings.items())), label=name, assumes=assumes)


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def from_pymab(
    policy: type, *, label: str = "", assumes: Feedback = ANYTHING, **settings: Any
) -> InPython:
    """Return a policy of pymab as one of this package.

    Args:
        policy: its class, a context-free one such as `pymab.policies.UCBPolicy`.
        label: its name in results; by default that of the class.
        assumes: the feedback that it assumes, which `simulate` and `Live` compare with what it
            gets; by default nothing is known.
        settings: its arguments besides the number of arms.
    """
    methods = ("select_action", "update")
    if not isinstance(policy, type) or not all(hasattr(policy, name) for name in methods):
        raise InvalidInput("policy", "a class of pymab, with select_action and update", policy)
    return adapt(make_pymab_agent, policy, settings, label, assumes)


def make_pymab_agent(
    policy: type, settings: Mapping[str, Any], arms: int, rng: np.random.Generator
) -> SimpleNamespace:
    """Return a policy for one replicate."""
    made: Any = policy(n_arms=arms, **settings)

    def update(arm: int, feedback: float) -> None:
        made.update(action=arm, reward=feedback)

    return SimpleNamespace(select=lambda: made.select_action(rng=rng), update=update)


def from_river(policy: Any, *, label: str = "", assumes: Feedback = ANYTHING) -> InPython:
    """Return a bandit policy of river as one of this package.

    Args:
        policy: such as `river.bandit.UCB(delta=1)`. Every replicate begins with a clone of it,
            whose seed, if it has one, comes from the policy's own stream.
        label: its name in results; by default that of the class.
        assumes: the feedback that it assumes, which `simulate` and `Live` compare with what it
            gets; by default nothing is known.
    """
    methods = ("pull", "update", "clone")
    if isinstance(policy, type) or not all(hasattr(policy, name) for name in methods):
        raise InvalidInput("policy", "a bandit policy of river, such as bandit.UCB(1)", policy)
    # Without a seed, its description would contain random numbers and differ every time.
    return adapt(make_river_agent, _seeded(policy, 0), {}, label, assumes)


def make_river_agent(
    policy: Any, settings: Mapping[str, Any], arms: int, rng: np.random.Generator
) -> SimpleNamespace:
    """Return a policy for one replicate."""
    made = _seeded(policy, int(rng.integers(2**31)))
    return SimpleNamespace(select=partial(made.pull, list(range(arms))), update=made.update)


def _seeded(policy: Any, seed: int) -> Any:
    return policy.clone({"seed": seed} if hasattr(policy, "seed") else {})
