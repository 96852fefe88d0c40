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
from affinity_bandits.testing.kernels import check_kernels


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


class Forgets(Sound):
    name = "forgets"

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        return int(rng.random() * len(state.pulls))


class Remembers(Forgets):
    name = "remembers"
    randomised = True


class SetsNumber(Sound):
    name = "sets-number"

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state.made += 1


class Replaces(Sound):
    name = "replaces"

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state = state._replace(made=state.made + 1)


class NotStatic(Sound):
    name = "not-static"

    def update(self, state: Any, arm: int, feedback: float) -> None:  # type: ignore[override]
        state.pulls[arm] += 1


class Closes(Sound):
    name = "closes"

    def kernels(self) -> Any:
        step = 1

        def update(state: Any, arm: int, feedback: float) -> None:
            state.pulls[arm] += step

        return super().kernels()._replace(update=update)


class KeepsList(Sound):
    name = "keeps-list"

    def start(self, arms: int, horizon: int) -> Any:
        return State([], counts(arms))  # type: ignore[arg-type]


class KeepsTable(Sound):
    name = "keeps-table"

    def start(self, arms: int, horizon: int) -> Any:
        return State(0, np.zeros((arms, 2)))


class NoTuple(Sound):
    name = "no-tuple"

    def start(self, arms: int, horizon: int) -> Any:
        return {"pulls": counts(arms)}


class Outside(Sound):
    name = "outside"

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        return len(state.pulls)


class PlansNotStatic(RoundPolicy):
    name = "plans"

    def start(self, arms: int, horizon: int) -> Any:
        return State(0, np.arange(arms))

    def plan(self, state: Any) -> Round:  # type: ignore[override]
        return Round(state.pulls, FOREVER)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Forgets, "select draws from its stream: say randomised"),
        (SetsNumber, "update sets a field of the state"),
        (Replaces, "update makes another state with _replace"),
        (NotStatic, "update is not static: write @staticmethod"),
        (Closes, "update reads step of an enclosing function"),
        (KeepsList, "made of its state is a list"),
        (KeepsTable, "pulls of its state is an array of float64 with 2 axes"),
        (NoTuple, "its state is no named tuple, but dict"),
        (Outside, "select returns 3, which is no arm"),
        (PlansNotStatic, "plan is not static"),
    ],
)
def test_a_mistake_is_found_by_name(policy: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_policy(policy())


def test_what_is_sound_passes() -> None:
    for policy in (Sound(), Remembers()):
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
