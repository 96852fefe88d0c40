"""Policies of other packages as policies of this one."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from affinity_bandits import registry
from affinity_bandits.errors import InvalidInput
from affinity_bandits.model.feedback import ANYTHING, Feedback
from affinity_bandits.policies import InPython

__all__ = ["from_mabwiser", "from_pymab", "from_river", "from_smpybandits"]


@dataclass(frozen=True)
class Peer:
    """Makes objects of another package's policy, one for each replicate.

    Args:
        make: the adapter's function of policy, settings, arms, horizon and stream.
        policy: the other package's policy, or its class.
        settings: the arguments of its class besides the number of arms.
    """

    make: Callable[..., Any]
    policy: Any
    settings: tuple[tuple[str, Any], ...] = ()

    def __call__(self, arms: int, horizon: int, rng: np.random.Generator) -> Any:
        return self.make(self.policy, dict(self.settings), arms, horizon, rng)

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


def require_class(package: str, policy: object, methods: tuple[str, ...]) -> None:
    """Check that a policy is a class with these methods."""
    has = all(callable(getattr(policy, name, None)) for name in methods)
    if not isinstance(policy, type) or not has:
        listed = " and ".join(methods)
        raise InvalidInput("policy", f"a class of {package}, with {listed}", policy)


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def from_mabwiser(
    learning_policy: Any, *, label: str = "", assumes: Feedback = ANYTHING
) -> InPython:
    """Return a learning policy of MABWiser as a policy of this package.

    MABWiser chooses only after data, so every arm is pulled once first.

    Args:
        learning_policy: a context-free one, such as `LearningPolicy.EpsilonGreedy(0.1)`.
        label: its name in results; by default that of the class.
        assumes: the feedback that it assumes, which `simulate` and `Live` compare with what it
            gets; by default nothing is known.
    """
    if isinstance(learning_policy, type) or not hasattr(learning_policy, "_fields"):
        rule = "a learning policy of MABWiser, such as LearningPolicy.UCB1(1.0)"
        raise InvalidInput("learning_policy", rule, learning_policy)
    return adapt(MABWiserAgent, learning_policy, {}, label, assumes)


class MABWiserAgent:
    """One of MABWiser's policies in a replicate."""

    def __init__(
        self,
        policy: Any,
        settings: Mapping[str, Any],
        arms: int,
        horizon: int,
        rng: np.random.Generator,
    ) -> None:
        from mabwiser.mab import MAB

        self._arms = arms
        self._first: list[float] = []
        self._mab = MAB(list(range(arms)), policy, seed=int(rng.integers(2**31)))

    def select(self) -> int:
        seen = len(self._first)
        return seen if seen < self._arms else int(self._mab.predict())

    def update(self, arm: int, feedback: float) -> None:
        if len(self._first) == self._arms:
            self._mab.partial_fit([arm], [feedback])
            return
        self._first.append(feedback)
        if len(self._first) == self._arms:
            self._mab.fit(list(range(self._arms)), self._first)


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
    require_class("pymab", policy, ("select_action", "update"))
    return adapt(make_pymab_agent, policy, settings, label, assumes)


def make_pymab_agent(
    policy: type, settings: Mapping[str, Any], arms: int, horizon: int, rng: np.random.Generator
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
    policy: Any, settings: Mapping[str, Any], arms: int, horizon: int, rng: np.random.Generator
) -> SimpleNamespace:
    """Return a policy for one replicate."""
    made = _seeded(policy, int(rng.integers(2**31)))
    return SimpleNamespace(select=partial(made.pull, list(range(arms))), update=made.update)


def _seeded(policy: Any, seed: int) -> Any:
    return policy.clone({"seed": seed} if hasattr(policy, "seed") else {})


def from_smpybandits(
    policy: type, *, label: str = "", assumes: Feedback = ANYTHING, **settings: Any
) -> InPython:
    """Return a policy of SMPyBandits as one of this package.

    SMPyBandits draws from the global generators of `random` and numpy. Every replicate seeds them
    from the policy's own stream.

    Args:
        policy: its class, such as `SMPyBandits.Policies.UCB`.
        label: its name in results; by default that of the class.
        assumes: the feedback that it assumes, which `simulate` and `Live` compare with what it
            gets; by default nothing is known.
        settings: its arguments besides the number of arms. A `horizon` is filled in.
    """
    require_class("SMPyBandits", policy, ("startGame", "choice", "getReward"))
    return adapt(make_smpybandits_agent, policy, settings, label, assumes)


def make_smpybandits_agent(
    policy: type, settings: Mapping[str, Any], arms: int, horizon: int, rng: np.random.Generator
) -> SimpleNamespace:
    """Return a policy for one replicate."""
    seed = int(rng.integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the one that SMPyBandits draws from
    given = dict(settings)
    if "horizon" in inspect.signature(policy).parameters:
        given.setdefault("horizon", horizon)
    made = policy(arms, **given)
    made.startGame()
    return SimpleNamespace(select=made.choice, update=made.getReward)
