"""Build policies from names, settings and saved JSON, and list all policies, biases and noises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from affinity_bandits.base import checks, registry
from affinity_bandits.base.errors import InvalidInput, NotSupported, UnknownName
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import BIASES, bias_from_json
from affinity_bandits.model.feedback import ANYTHING
from affinity_bandits.model.noise import NOISES
from affinity_bandits.policies import (
    BLOCK_POLICIES,
    POLICIES,
    InPython,
    Policy,
    RoundPolicy,
    StepPolicy,
)

AnyPolicy = StepPolicy | RoundPolicy


def policy_from_json(
    data: Mapping[str, Any] | str,
    bandit: AffinityBandit | None = None,
    functions: Mapping[str, Callable[[float], float]] | None = None,
    *,
    imports: bool = False,
) -> AnyPolicy:
    """Build a policy from its name or from `Policy.to_json`.

    Args:
        data: the name, or a table with a "name" and settings. The setting `initial_pulls` may be
            "bandit", for those of the bandit.
        bandit: fills in the settings that are facts about a bandit (`Policy.told`), unless
            `data` has them.
        functions: the user's bias functions by label; see `bias_from_json`.
        imports: whether a name may be "module:Class", a policy or a class that `InPython` can
            run, which is then imported. Only for trusted input.

    >>> str(policy_from_json("ucb1"))
    'ucb1'
    """
    if isinstance(data, Mapping) and "name" not in data:
        raise UnknownName("policy", None, POLICIES)
    given = checks.table("policy", {"name": data} if isinstance(data, str) else data)
    refuse_blocks([given])
    if bandit is not None and not isinstance(bandit, AffinityBandit):
        raise InvalidInput("bandit", "an AffinityBandit", bandit)
    cls = POLICIES.find(given["name"], imports=imports)
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        return InPython(cls, {key: value for key, value in given.items() if key != "name"})
    if given.get("initial_pulls") == "bandit" and bandit is not None:
        given["initial_pulls"] = bandit.initial_pulls
    defaults = {item.name: (item.default, item.default_factory) for item in fields(cls)}
    for setting, fact in cls.told.items():
        if fact == "bias" and isinstance(given.get(setting), Mapping | str):
            given[setting] = bias_from_json(given[setting], functions, imports=imports)
        if bandit is not None and (known := _fact(bandit, fact)) is not None:
            given.setdefault(setting, known)
        if setting not in given and defaults.get(setting) == (MISSING, MISSING):
            raise InvalidInput(setting, f"given: this policy is told the {fact}", None)
    policy = registry.own("policy", "constructor", partial(cls.from_json, given))
    assert isinstance(policy, StepPolicy | RoundPolicy)
    return policy


def refuse_blocks(policies: object) -> None:
    """Refuse a policy of blocks among the policies of a simulation, with what runs it.

    Args:
        policies: names or tables, in a list or by label; everything else is left for later checks.

    Raises:
        NotSupported: one of them is such a policy, or its name.
    """
    listed = policies.values() if isinstance(policies, Mapping) else policies
    for one in listed if isinstance(listed, Iterable) else ():
        named = one.get("name") if isinstance(one, Mapping) else getattr(one, "name", one)
        if isinstance(named, str) and named in BLOCK_POLICIES:
            raise NotSupported(
                f"{named} is run in blocks, which bandits do not have: in Python by simulate_blocks"
                f" in a JudgeWorld, or by hand by Blocks. See {BLOCK_POLICIES[named].page}"
            )


def _fact(bandit: AffinityBandit, fact: str) -> Any:
    match fact:
        case "bias":
            return bandit.bias
        case "initial pulls":
            return bandit.initial_pulls
        case "best arm":
            return bandit.best_arms[0]
        case "memory":
            return bandit.memory
    raise InvalidInput("told", "'bias', 'initial pulls', 'best arm' or 'memory'", fact)


def policy_lines() -> list[tuple[str, str, str, str]]:
    """Return name, kind, assumed feedback and first docstring line of every policy."""
    lines = []
    for name, cls in POLICIES.items():
        # Some policies are told facts about a bandit, so they need one to be built.
        assumed = policy_from_json(name, AffinityBandit([0.5], memory=1)).assumes
        sees = "" if cls.information == "feedback" else f" Sees {cls.information}."
        kind = "rounds" if issubclass(cls, RoundPolicy) else "steps"
        shown = "-" if assumed == ANYTHING else str(assumed)
        lines.append((name, kind, shown, _first_line(cls) + sees))
    return lines


def bias_lines() -> list[tuple[str, str, str]]:
    """Return name, settings and first docstring line of every bias model."""
    return [(name, _settings(cls), _first_line(cls)) for name, cls in BIASES.items()]


def noise_lines() -> list[tuple[str, str, str, str]]:
    """Return name, settings, mechanisms and first docstring line of every noise."""
    return [
        (name, _settings(cls), ", ".join(cls.mechanisms), _first_line(cls))
        for name, cls in NOISES.items()
    ]


def _settings(cls: type[Any]) -> str:
    return ", ".join(item.name for item in fields(cls)) or "-"


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "-").strip().splitlines()[0]
