"""Objects of any kind that select and update, as a policy that is run in plain Python."""

from __future__ import annotations

import inspect
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from affinity_bandits import names
from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.step import StepPolicy

AGENTS: dict[str, Callable[..., Any]] = {}
"""Classes and functions that make agents and were named as "module:Class", by that name."""
HANDED = ("arms", "horizon", "rng")
"""What a maker of agents is handed, if it names it."""
RULE = "a class or function that makes objects with select() and update(arm, feedback)"


class Agent:
    """The state of an `InPython` policy: the object, once it is made."""

    __slots__ = ("arms", "candidates", "choose", "horizon", "policy", "update")

    def __init__(self, policy: InPython, arms: int, horizon: int) -> None:
        self.policy = policy
        self.arms = arms
        self.horizon = horizon
        self.choose: Callable[[], Any] | None = None
        self.update: Callable[[int, float], Any] | None = None
        self.candidates: Callable[[], Any] | None = None

    def begin(self, rng: np.random.Generator) -> Callable[[], Any]:
        """Make the object, which takes its random numbers from `rng`; return how it chooses."""
        made = self.policy.made(self.arms, self.horizon, rng)
        self.choose = _method(made, ("select", "choose"), 0)
        self.update = _method(made, ("update",), 2)
        if hasattr(made, "candidates"):
            self.candidates = made.candidates
        return self.choose


@dataclass(frozen=True)
class InPython(StepPolicy):
    """Any object that selects and updates, run in plain Python and never compiled.

    For policies of numpy, scipy, torch or another package. Such an object has `select()`, or
    `choose()`, which returns an arm, and `update(arm, feedback)`; if it drops arms, its class says
    `eliminates = True`, and `candidates()` returns those that are left. Every replicate begins
    with a new one. It meets the noise that every other policy meets at the same pull.

    Args:
        make: a class or function that makes such an object. It is handed those of `arms`,
            `horizon` and `rng`, a numpy Generator that is the policy's own stream, that it names.
        settings: what else it is handed, by name: numbers, flags and words.
        label: how results call it; the class's name if left out.

    >>> import numpy as np
    >>> class Greedy:
    ...     def __init__(self, arms):
    ...         self.sums, self.pulls = np.zeros(arms), np.zeros(arms)
    ...     def select(self):
    ...         return np.argmin(self.pulls) if self.pulls.min() < 1 else np.argmax(self.sums)
    ...     def update(self, arm, feedback):
    ...         self.pulls[arm] += 1
    ...         self.sums[arm] += feedback
    >>> from affinity_bandits import AffinityBandit, simulate
    >>> simulate(AffinityBandit([0.4, 0.6]), InPython(Greedy), 100, replicates=2).runs[0].engine
    'python'
    """

    name: ClassVar[str] = "in-python"
    randomised: ClassVar[bool] = True
    in_python: ClassVar[bool] = True
    make: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise InvalidInput("make", f"{RULE}, as every replicate begins with one", self.make)
        if isinstance(self.make, type) and not makes_agents(self.make):
            raise InvalidInput("make", RULE, self.make)
        if not isinstance(self.settings, Mapping):
            raise InvalidInput("settings", "a table from names to values", self.settings)
        taken = _parameters(self.make)
        for name in self.settings:
            if name in ("name", *HANDED) or not isinstance(name, str):
                raise InvalidInput("settings", f"of other names than {', '.join(HANDED)}", name)
            if taken is not None and name not in taken:
                known = [word for word in taken if word not in HANDED]
                rule = f"of names that {_name(self.make)} takes ({', '.join(known) or 'none'})"
                raise InvalidInput("settings", rule, name)
        try:
            json.dumps(dict(self.settings), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidInput("settings", f"plain JSON ({error})", self.settings) from None
        if not isinstance(self.label, str):
            raise InvalidInput("label", "a word", self.label)

    def __hash__(self) -> int:
        return hash((json.dumps(self.to_json(), sort_keys=True), self.label))

    @property
    def eliminates(self) -> bool:  # type: ignore[override]
        """Whether the objects say that they drop arms."""
        return bool(getattr(self.make, "eliminates", False))

    def made(self, arms: int, horizon: int, rng: np.random.Generator) -> Any:
        """Return a new object."""
        taken = _parameters(self.make)
        handed = {"arms": arms, "horizon": horizon, "rng": rng}
        named = {name: value for name, value in handed.items() if taken is None or name in taken}
        return self.make(**named, **self.settings)

    def start(self, arms: int, horizon: int) -> Agent:
        check_size(arms, horizon)
        return Agent(self, arms, horizon)

    @staticmethod
    def select(state: Agent, rng: np.random.Generator) -> int:
        choose = state.choose or state.begin(rng)
        return operator.index(choose())

    @staticmethod
    def update(state: Agent, arm: int, feedback: float) -> None:
        assert state.update is not None  # begun by `select`
        state.update(arm, feedback)

    @staticmethod
    def candidate(state: Agent, arm: int) -> bool:
        return state.candidates is None or arm in state.candidates()

    def to_json(self) -> dict[str, Any]:
        of_maker = self.make.to_json() if hasattr(self.make, "to_json") else {}
        return {"name": names.place_of(self.make), **of_maker, **self.settings}

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    def save(self, state: Any, arms: int, horizon: int) -> NoReturn:
        """Refuse: nobody knows what such an object consists of.

        Raises:
            NotSupported: always.
        """
        raise NotSupported(f"policy {self} runs in plain Python: its state cannot be saved")

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return self.label or _name(self.make) + (f"({settings})" if settings else "")


def makes_agents(found: object) -> bool:
    """Return whether a class has the methods of what `InPython` runs."""
    chooses = any(callable(getattr(found, name, None)) for name in ("select", "choose"))
    return isinstance(found, type) and chooses and callable(getattr(found, "update", None))


def add_agent(make: Callable[..., Any]) -> None:
    """Let a class be found by its "module:Class" in this process."""
    AGENTS[names.place_of(make)] = make


def _name(make: Callable[..., Any]) -> str:
    return getattr(make, "__name__", type(make).__name__)


def _parameters(make: Callable[..., Any]) -> tuple[str, ...] | None:
    """Return the names that a maker takes; None if it takes any, or nobody knows."""
    try:
        found = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in found):
        return None
    return tuple(one.name for one in found)


def _method(made: Any, wanted: tuple[str, ...], arguments: int) -> Callable[..., Any]:
    for name in wanted:
        method: Callable[..., Any] | None = getattr(made, name, None)
        if callable(method):
            try:
                inspect.signature(method).bind(*range(arguments))
            except TypeError:
                rule = f"an object whose {name} takes {arguments or 'no'} arguments"
                raise InvalidInput("make", rule, made) from None
            except ValueError:  # of C, which does not say what it takes
                pass
            return method
    raise InvalidInput("make", RULE, made)
