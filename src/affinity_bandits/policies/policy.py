"""The base class of step and round policies: a frozen, named, validated, JSON-ready description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput, StateMismatch, shown
from affinity_bandits.feedback import ANYTHING, Feedback
from affinity_bandits.kernels import IntArray
from affinity_bandits.policies.state import state_from_json, state_to_json


@dataclass(frozen=True)
class Policy:
    """An immutable description of a policy; its run-time data is a separate state.

    Subclasses are frozen dataclasses whose fields are numbers, flags, words or descriptions of
    their own. They validate in `__post_init__`. A policy of one's own is a `StepPolicy` or a
    `RoundPolicy`, each of which shows one in full.

    >>> from affinity_bandits import UCB1
    >>> UCB1(exploration=0.5).to_json()
    {'name': 'ucb1', 'exploration': 0.5}
    >>> UCB1.from_json({"name": "ucb1"}) == UCB1()
    True

    Attributes:
        name: how catalogues, files and the command line call it.
        version: raised whenever the meaning of a saved state changes.
        revision: raised whenever the same settings choose otherwise, so that results from before
            are not taken for the policy's.
        randomised: whether `select` draws from its random stream.
        eliminates: whether the policy drops arms from its candidates, so that "undecided" and
            "deceived" mean something.
        information: "feedback", or what else it is told that a real policy would not be.
        in_python: whether it runs in plain Python only, because no compiler can translate it: its
            kernels and its state may then be anything.
        told: settings that are facts about the bandit, by what they are: "bias", "initial pulls"
            or "best arm". Where a policy is made from a name for a bandit, they are filled in.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    revision: ClassVar[int] = 0
    randomised: ClassVar[bool] = False
    eliminates: ClassVar[bool] = False
    information: ClassVar[str] = "feedback"
    in_python: ClassVar[bool] = False
    told: ClassVar[Mapping[str, str]] = {}

    @property
    def assumes(self) -> Feedback:
        """What the theorem that the policy is known for takes feedback to be, with these settings.

        Where a proof needs less than its authors state, it is what the proof needs. Unless a
        policy says otherwise, nothing: there is no theorem, or nobody wrote down what it asks.
        """
        return ANYTHING

    def start(self, arms: int, horizon: int) -> Any:
        """Return a fresh state for `arms` arms and a declared horizon."""
        raise NotImplementedError

    @staticmethod
    def candidate(state: Any, arm: int) -> bool:
        """Return whether the policy still holds that this arm may be the best (a kernel)."""
        return True

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data; `from_json` reads it back."""
        data: dict[str, Any] = {"name": self.name}
        for item in fields(self):
            value = getattr(self, item.name)
            data[item.name] = value.to_json() if hasattr(value, "to_json") else value
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a description of this class from `to_json`."""
        given = {key: value for key, value in data.items() if key != "name"}
        checks.settings(f"parameter of policy {cls.name}", cls, given)
        return cls(**given)

    @classmethod
    def examples(cls) -> list[Self]:
        """Return descriptions that the contract suite of `affinity_bandits.testing` runs."""
        return [cls()]

    def save(self, state: Any, arms: int, horizon: int) -> dict[str, Any]:
        """Return a state with all that is needed to resume from it, as JSON-ready data."""
        return {
            "policy": self.to_json(),
            "version": self.version,
            "arms": arms,
            "horizon": horizon,
            "state": state_to_json(state),
        }

    def load(self, saved: Mapping[str, Any]) -> Any:
        """Return the state that `save` wrote.

        Raises:
            StateMismatch: it was written by another policy, other settings or another version.
        """
        if saved["policy"] != self.to_json() or saved["version"] != self.version:
            raise StateMismatch(
                f"the state was saved by {shown(saved['policy'])} version {saved['version']}, "
                f"this is {shown(self.to_json())} version {self.version}"
            )
        template = self.start(saved["arms"], saved["horizon"])
        return state_from_json(template, saved["state"])

    def __str__(self) -> str:
        """Return the name with every setting that differs from its default."""
        changed = [
            f"{item.name}={_short(getattr(self, item.name))}"
            for item in fields(self)
            if getattr(self, item.name) != item.default
        ]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    def _set(self, **values: Any) -> None:
        """Store validated values; only for `__post_init__`."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def check_size(arms: int, horizon: int) -> None:
    """Check the number of arms and the horizon that `start` is given.

    Raises:
        InvalidInput: fewer than one arm, or a horizon that is not a whole number in range.
    """
    checks.integer("arms", arms, low=1, high=10**6)
    checks.integer("horizon", horizon, low=1)


def require(condition: bool, parameter: str, rule: str, value: object) -> None:
    """Raise InvalidInput unless the condition holds."""
    if not condition:
        raise InvalidInput(parameter, rule, value)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def meet_nobody(state: Any, judges: IntArray) -> None:
    """Take in nothing of who judges: it does not matter to the policy (a kernel)."""


def anybody(state: Any) -> int:
    """Return that no arm should have fewer judges than others (a kernel)."""
    return -1
