"""What `check_policy` finds, by name: each is written wrong here, and found uncompiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from affinity_bandits import InPython
from affinity_bandits.policies import FOREVER, Round, RoundPolicy, StepPolicy
from affinity_bandits.policies.state import counts
from affinity_bandits.testing import check_policy
from affinity_bandits.testing.contracts import check_kernels


class State(NamedTuple):
    made: int
    pulls: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sound(StepPolicy):
    """In turn; what follows is this with a mistake each."""

    name: ClassVar[str] = "sound"

    def start(self, arms: int, horizon: int) -> Any:
        return State(0, counts(arms))

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        return int(state.pulls[:].argmin())

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state.pulls[arm] += 1


def draws(state: Any, rng: np.random.Generator) -> int:
    return int(rng.random() * len(state.pulls))


def select_outside(state: Any, rng: np.random.Generator) -> int:
    return len(state.pulls)


def set_number(state: Any, arm: int, feedback: float) -> None:
    state.made += 1


def replace(state: Any, arm: int, feedback: float) -> None:
    state = state._replace(made=state.made + 1)


def update_self(self: Any, state: Any, arm: int, feedback: float) -> None:
    state.pulls[arm] += 1


def plan_self(self: Any, state: Any) -> Round:
    return Round(state.pulls, FOREVER)


def closing_kernels(self: Any) -> Any:
    step = 1

    def update(state: Any, arm: int, feedback: float) -> None:
        state.pulls[arm] += step

    return StepPolicy.kernels(self)._replace(update=update)


def keep_list(self: Any, arms: int, horizon: int) -> Any:
    return State([], counts(arms))  # type: ignore[arg-type]


def keep_table(self: Any, arms: int, horizon: int) -> Any:
    return State(0, np.zeros((arms, 2)))


def keep_dict(self: Any, arms: int, horizon: int) -> Any:
    return {"pulls": counts(arms)}


def changed(base: type = Sound, **members: Any) -> Any:
    """Return a sound policy with some members replaced."""
    return type("Changed", (base,), {"name": "changed", "start": Sound.start, **members})()


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (changed(select=staticmethod(draws)), "select draws from its stream: say randomized"),
        (changed(update=staticmethod(set_number)), "update sets a field of the state"),
        (changed(update=staticmethod(replace)), "update makes another state with _replace"),
        (changed(update=update_self), "update is not static: write @staticmethod"),
        (changed(kernels=closing_kernels), "update reads step of an enclosing function"),
        (changed(start=keep_list), "made of its state is a list"),
        (changed(start=keep_table), "pulls of its state is an array of float64 with 2 axes"),
        (changed(start=keep_dict), "its state is no named tuple, but dict"),
        (changed(select=staticmethod(select_outside)), "select returns 3, which is no arm"),
        (changed(RoundPolicy, plan=plan_self), "plan is not static"),
    ],
)
def test_a_mistake_is_found_by_name(policy: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_policy(policy)


def test_what_is_sound_passes() -> None:
    for policy in (Sound(), changed(select=staticmethod(draws), randomized=True)):
        check_kernels(policy, 3, 300)


class Remade:
    def __init__(self, arms: int, rng: np.random.Generator) -> None:
        self.arms, self.rng = arms, rng

    def select(self) -> int:
        return int(self.rng.integers(self.arms))

    def update(self, arm: int, feedback: float) -> None:
        pass


class Elsewhere(Remade):
    def select(self) -> int:
        return int(np.random.default_rng().integers(self.arms))


class Shared(Remade):
    kept: ClassVar[list[int]] = []

    def select(self) -> int:
        return len(self.kept) // 7 % self.arms

    def update(self, arm: int, feedback: float) -> None:
        self.kept.append(arm)


def test_policies_in_python_are_checked_for_repeatability() -> None:
    check_policy(InPython(Remade))
    with pytest.raises(AssertionError, match="a run cannot be repeated"):
        check_policy(InPython(Elsewhere))
    with pytest.raises(AssertionError, match=r"a run cannot be repeated|depends on the one before"):
        check_policy(InPython(Shared))
