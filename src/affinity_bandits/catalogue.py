"""Turn names, settings and saved JSON into policies, and list what there is by name.

It stands above policies and bias models, because a policy that is told the bias is described
together with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from affinity_bandits import checks, names
from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import BIASES, Bias, bias_from_json
from affinity_bandits.bias import register as register_bias
from affinity_bandits.errors import AffinityError, InvalidInput, UnknownName
from affinity_bandits.feedback import ANYTHING
from affinity_bandits.noise import NOISES, Noise
from affinity_bandits.noise import register as register_noise
from affinity_bandits.policies import POLICIES, InPython, Policy, RoundPolicy, StepPolicy, register
from affinity_bandits.policies.in_python import AGENTS, add_agent, makes_agents

AnyPolicy = StepPolicy | RoundPolicy


def policy_from_json(
    data: Mapping[str, Any] | str,
    bandit: AffinityBandit | None = None,
    functions: Mapping[str, Callable[[float], float]] | None = None,
    *,
    imports: bool = False,
) -> AnyPolicy:
    """Rebuild a policy from its name or from `Policy.to_json`.

    Args:
        data: the name, or a table with a "name" and settings.
        bandit: where given, a policy that is told more than feedback (the bias and the initial
            pulls, or the best arm) is told that of this bandit, unless its settings say else.
        functions: a user's own bias functions by label; see `bias_from_json`.
        imports: whether a name may be "module:Class", which is then imported: a policy, or a class
            that `InPython` can run. Not for what others wrote.

    >>> str(policy_from_json("ucb1"))
    'ucb1'
    """
    if isinstance(data, Mapping) and "name" not in data:
        raise UnknownName("policy", None, POLICIES)
    given = checks.table("policy", {"name": data} if isinstance(data, str) else data)
    if bandit is not None and not isinstance(bandit, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit", bandit)
    cls = policy_class(given["name"], imports=imports)
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        return InPython(cls, {key: value for key, value in given.items() if key != "name"})
    for setting, fact in cls.told.items():
        if fact == "bias" and isinstance(given.get(setting), Mapping | str):
            given[setting] = bias_from_json(given[setting], functions, imports=imports)
        if bandit is not None:
            given.setdefault(setting, _fact(bandit, fact))
        if setting not in given and setting in _without_default(cls):
            raise InvalidInput(setting, f"given: this policy is told the {fact}", None)
    policy = names.own("policy", "constructor", partial(cls.from_json, given))
    assert isinstance(policy, StepPolicy | RoundPolicy)
    return policy


def policy_class(name: str, *, imports: bool = False) -> Any:
    """Return what a name stands for: a class of policies, or one that `InPython` can run."""
    return names.named("policy", name, {**POLICIES, **AGENTS}, _add, imports)


def _add(found: Any) -> Any:
    """Let a policy, or a class that `InPython` can run, be known by its name."""
    if isinstance(found, type) and not issubclass(found, Policy) and makes_agents(found):
        add_agent(found)
        return found
    return register(found)


def own_classes(*parts: object) -> tuple[Any, ...]:
    """Return the classes of policies, biases and noises, inner ones too, that are not of ours."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, InPython):
            found.append(part.make)
        elif isinstance(part, Policy | Bias | Noise):
            found.append(type(part))
            found += own_classes(*(getattr(part, item.name) for item in fields(part)))
    return tuple(cls for cls in found if not cls.__module__.startswith("affinity_bandits."))


def add_own(classes: Iterable[Any]) -> None:
    """Let classes be known by name in this process, as they are in the one that sent them."""
    for cls in classes:
        if not isinstance(cls, type):
            add_agent(cls)
        elif issubclass(cls, Bias):
            register_bias(cls)
        elif issubclass(cls, Noise):
            register_noise(cls)
        else:
            _add(cls)


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

    broken = _add_installed("policy", POLICIES, _add)
    return [
        (
            name,
            "rounds" if issubclass(cls, RoundPolicy) else "steps",
            assumed(name),
            _first_line(cls)
            + ("" if cls.information == "feedback" else f" Sees {cls.information}."),
        )
        for name, cls in POLICIES.items()
    ] + [(name, "-", "-", why) for name, why in broken.items()]


def bias_lines() -> list[tuple[str, str, str]]:
    """Return (name, settings, first line of its documentation) for every bias model."""
    broken = _add_installed("bias", BIASES, register_bias)
    return [
        (name, ", ".join(item.name for item in fields(cls)) or "-", _first_line(cls))
        for name, cls in BIASES.items()
    ] + [(name, "-", why) for name, why in broken.items()]


def noise_lines() -> list[tuple[str, str, str, str]]:
    """Return (name, settings, mechanisms, first line of its documentation) for every noise."""
    broken = _add_installed("noise", NOISES, register_noise)
    return [
        (
            name,
            ", ".join(item.name for item in fields(cls)) or "-",
            ", ".join(cls.mechanisms),
            _first_line(cls),
        )
        for name, cls in NOISES.items()
    ] + [(name, "-", "-", why) for name, why in broken.items()]


def _add_installed(
    kind: str, known: Mapping[str, Any], add: Callable[[Any], Any]
) -> dict[str, str]:
    """Add what installed packages bring; return why some of it cannot be had, by name."""
    broken = {}
    for name in names.installed(kind):
        try:
            names.named(kind, name, known, add, imports=False)
        except AffinityError as error:
            broken[name] = f"cannot be loaded: {error}"
    return broken


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "-").strip().splitlines()[0]
