"""What the adapters share: a policy of another package, and how it is described."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits import names
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import InPython


@dataclass(frozen=True)
class Peer:
    """Makes agents of another package's policy, one for each replicate.

    Args:
        agent: the adapter's class of agents; takes what follows, then arms, horizon and stream.
        policy: the other package's policy, or its class.
        settings: what its class is handed besides the number of arms.
    """

    agent: Callable[..., Any]
    policy: Any
    settings: tuple[tuple[str, Any], ...] = ()

    def __call__(self, arms: int, horizon: int, rng: np.random.Generator) -> Any:
        return self.agent(self.policy, dict(self.settings), arms, horizon, rng)

    def to_json(self) -> dict[str, Any]:
        """Return what the policy's stream and description are made of."""
        shown = self.policy if isinstance(self.policy, type) else type(self.policy)
        data: dict[str, Any] = {"policy": names.place_of(shown)}
        if self.policy is not shown:  # an object, told apart from others by what it was made with
            public = {name: one for name, one in _variables(self.policy) if name[0] != "_"}
            data["as"] = repr(public or self.policy)
        for name, value in self.settings:
            data[name] = value if _is_plain(value) else repr(value)
        return data


def adapted(
    agent: Callable[..., Any], policy: Any, settings: Mapping[str, Any], label: str
) -> InPython:
    """Return another package's policy as one of this package's."""
    shown = policy if isinstance(policy, type) else type(policy)
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    name = label or shown.__name__ + (f"({listed})" if listed else "")
    return InPython(Peer(agent, policy, tuple(settings.items())), label=name)


def require_class(package: str, policy: object, methods: tuple[str, ...]) -> None:
    """Check that what was handed in is a class with these methods."""
    has = all(callable(getattr(policy, name, None)) for name in methods)
    if not isinstance(policy, type) or not has:
        listed = " and ".join(methods)
        raise InvalidInput("policy", f"a class of {package}, with {listed}", policy)


def takes(make: Callable[..., Any], name: str) -> bool:
    """Return whether a class takes an argument of this name."""
    return name in inspect.signature(make).parameters


def _variables(policy: Any) -> list[tuple[str, Any]]:
    return sorted(getattr(policy, "__dict__", {}).items())


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
