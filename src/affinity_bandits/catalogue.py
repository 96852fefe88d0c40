"""Turn names, settings and saved JSON into policies, and list what there is by name.

It stands above policies and bias models, because a policy that is told the bias is described
together with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from affinity_bandits import checks
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import BIASES, bias_from_json
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.feedback import ANYTHING
from affinity_bandits.noise import NOISES
from affinity_bandits.policies import POLICIES, Policy, RoundPolicy, StepPolicy

AnyPolicy = StepPolicy | RoundPolicy


def policy_from_json(
    data: Mapping[str, Any] | str,
    bandit: AffinityBandit | None = None,
    functions: Mapping[str, Callable[[float], float]] | None = None,
) -> AnyPolicy:
    """Rebuild a policy from its name or from `Policy.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        bandit: where given, a policy that is told more than feedback (the bias and the initial
            pulls, or the best arm) is told that of this bandit, unless its settings say else.
        functions: a user's own bias functions by label; see `bias_from_json`.

    >>> str(policy_from_json("ucb1"))
    'ucb1'
    """
    if isinstance(data, Mapping) and "name" not in data:
        raise UnknownName("policy", None, POLICIES)
    given = checks.table("policy", {"name": data} if isinstance(data, str) else data)
    if bandit is not None and not isinstance(bandit, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit", bandit)
    name = given["name"]
    if name not in POLICIES:
        raise UnknownName("policy", name, POLICIES)
    cls: type[Policy] = POLICIES[name]
    for setting, fact in cls.told.items():
        if fact == "bias" and isinstance(given.get(setting), Mapping | str):
            given[setting] = bias_from_json(given[setting], functions)
        if bandit is not None:
            given.setdefault(setting, _fact(bandit, fact))
        if setting not in given and setting in _without_default(cls):
            raise InvalidInput(setting, f"given: this policy is told the {fact}", None)
    policy = cls.from_json(given)
    assert isinstance(policy, StepPolicy | RoundPolicy)
    return policy


def _fact(bandit: AffinityBandit, fact: str) -> Any:
    """Return what a policy is told of a bandit; see `Policy.told`."""
    match fact:
        case "bias":
            return bandit.bias
        case "initial pulls":
            return bandit.initial_pulls
        case "best arm":
            return bandit.best_arms[0]
    raise InvalidInput("told", "'bias', 'initial pulls' or 'best arm'", fact)


def _without_default(cls: type[Policy]) -> set[str]:
    return {
        item.name
        for item in fields(cls)
        if item.default is MISSING and item.default_factory is MISSING
    }


def policy_lines() -> list[tuple[str, str, str, str]]:
    """Return name, kind, the feedback assumed by default, and what it does, for every policy."""

    def assumed(name: str) -> str:
        # On a bandit, as some are told more than feedback.
        found = policy_from_json(name, AffinityBandit([0.5])).assumes
        return "-" if found == ANYTHING else str(found)

    return [
        (
            name,
            "rounds" if issubclass(cls, RoundPolicy) else "steps",
            assumed(name),
            _first_line(cls)
            + ("" if cls.information == "feedback" else f" Sees {cls.information}."),
        )
        for name, cls in POLICIES.items()
    ]


def bias_lines() -> list[tuple[str, str, str]]:
    """Return (name, settings, first line of its documentation) for every bias model."""
    return [
        (name, ", ".join(item.name for item in fields(cls)) or "-", _first_line(cls))
        for name, cls in BIASES.items()
    ]


def noise_lines() -> list[tuple[str, str, str, str]]:
    """Return (name, settings, mechanisms, first line of its documentation) for every noise."""
    return [
        (
            name,
            ", ".join(item.name for item in fields(cls)) or "-",
            ", ".join(cls.mechanisms),
            _first_line(cls),
        )
        for name, cls in NOISES.items()
    ]


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]
