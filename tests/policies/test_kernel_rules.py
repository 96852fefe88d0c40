"""Mistakes of a user's own policy that compiled code would hide; each is planted here and refused.

Those that a few pulls in plain Python show are refused before numba is reached.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Live, simulate
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.kernels import compile
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.policies import (
    FOREVER,
    POLICIES,
    UCB1,
    AsSteps,
    Elimination,
    PanelElimination,
    Round,
    RoundPolicy,
    StepPolicy,
)
from affinity_bandits.policies.kernel_rules import check_own, is_own_policy
from affinity_bandits.policies.state import counts
from affinity_bandits.simulation import StepRun, simulate_log
from tests.contracts.test_contracts import policy_examples

BANDIT = AffinityBandit([0.2, 0.5, 0.8])


class Pulls(NamedTuple):
    made: IntArray  # [0]
    pulls: IntArray
    last: int


@dataclass(frozen=True)
class InTurn(StepPolicy):
    """The arms in turn; the mistakes are made in classes derived from it."""

    name: ClassVar[str] = "in-turn"
    last: int = 10**9

    def start(self, arms: int, horizon: int) -> Pulls:
        return Pulls(counts(1), counts(arms), self.last)

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        return int(state.made[0] % len(state.pulls))

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state.made[0] += 1
        state.pulls[arm] += 1


@dataclass(frozen=True)
class Draws(InTurn):
    """Draws after some pulls, and does not say so."""

    name: ClassVar[str] = "draws"

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        if state.made[0] < state.last:
            return 0
        return 0 if rng.random() < 0.5 else 1


@dataclass(frozen=True)
class SaysSo(Draws):
    name: ClassVar[str] = "says-so"
    randomized: ClassVar[bool] = True


@dataclass(frozen=True)
class Outside(InTurn):
    """Writes behind its array after some pulls."""

    name: ClassVar[str] = "outside"

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state.made[0] += 1
        state.pulls[arm] += 1
        if state.made[0] > state.last:
            state.pulls[len(state.pulls)] += 1


@dataclass(frozen=True)
class OutsideOnceDropped(RoundPolicy):
    """Drops the worst, then reads the sums of the next round by the number of the arm."""

    name: ClassVar[str] = "outside-once-dropped"
    eliminates: ClassVar[bool] = True
    worse: float = 0.5

    def start(self, arms: int, horizon: int) -> Dropping:
        return Dropping(self.worse, counts(1, arms), np.arange(arms), counts(arms))

    @staticmethod
    def plan(state: Any) -> Round:
        left = state.left[0]
        return Round(state.active[:left], FOREVER if left == 1 else 10)

    @staticmethod
    def absorb(state: Any, sums: FloatArray) -> None:
        kept = 0
        for position in range(state.left[0]):
            arm = state.active[position]
            if sums[arm] < 10 * state.worse:  # right: sums[position]
                state.out[arm] = 1
            else:
                state.active[kept] = arm
                kept += 1
        state.left[0] = max(1, kept)

    @staticmethod
    def candidate(state: Any, arm: int) -> bool:
        return bool(state.out[arm] == 0)


class Dropping(NamedTuple):
    worse: float
    left: IntArray  # [0]
    active: IntArray
    out: IntArray


class Undecorated(StepPolicy):
    """Settings that are no fields, so that descriptions and comparisons do not have them."""

    name: ClassVar[str] = "undecorated"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def start(self, arms: int, horizon: int) -> Pulls:
        return Pulls(counts(1), counts(arms), round(100 * self.rate))

    select = staticmethod(InTurn.select)
    update = staticmethod(InTurn.update)


@dataclass(frozen=True)
class OnlyForInit(InTurn):
    """A setting that only the constructor sees."""

    name: ClassVar[str] = "only-for-init"
    rate: InitVar[float] = 0.5

    def __post_init__(self, rate: float) -> None:
        self._set(_rate=rate)


class InSlots(Undecorated):
    """The same, outside of the instance's dictionary."""

    __slots__ = ("rate",)


class KeepsDefault(UCB1):
    """A new value for a setting, which the instances of an undecorated class ignore."""

    name: ClassVar[str] = "keeps-default"
    exploration = 3.0


@dataclass(frozen=True)
class TakesDefault(UCB1):
    name: ClassVar[str] = "takes-default"
    exploration: float = 3.0


def coin() -> float:
    return random.random()


@dataclass(frozen=True)
class OtherStream(InTurn):
    """Draws from numpy's global generator, which no seed of a run determines."""

    name: ClassVar[str] = "other-stream"
    randomized: ClassVar[bool] = True

    @staticmethod
    def select(state: Any, rng: np.random.Generator) -> int:
        if state.made[0] < state.last or rng.random() < 0.5:
            return 0
        return 0 if np.random.random() < 0.5 else 1  # noqa: NPY002 - the mistake


@dataclass(frozen=True)
class OtherStreamBelow(InTurn):
    """The same in a function that a kernel calls, with the generator of Python."""

    name: ClassVar[str] = "other-stream-below"

    @staticmethod
    def update(state: Any, arm: int, feedback: float) -> None:
        state.made[0] += 1
        if state.made[0] > state.last and coin() < 0.5:
            state.pulls[arm] += 1


@dataclass(frozen=True)
class Misspelled(InTurn):
    """It drops arms, but says so under a name that nothing reads."""

    name: ClassVar[str] = "misspelled"
    eliminates: ClassVar[bool] = True

    @staticmethod
    def candidates(state: Any, arm: int) -> bool:
        return arm == 0


@dataclass(frozen=True)
class MisspelledHook(PanelElimination):
    """Without its own `told_judges` it would be told who judges, as its base is."""

    name: ClassVar[str] = "misspelled-hook"
    told_judge: ClassVar[bool] = False


@dataclass(frozen=True)
class Derived(InTurn):
    """What is computed from settings is no setting."""

    name: ClassVar[str] = "derived"

    @cached_property
    def doubled(self) -> int:
        return 2 * self.last

    def start(self, arms: int, horizon: int) -> Pulls:
        return Pulls(counts(1), counts(arms), self.doubled)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What numba was asked to compile; every request fails."""
    asked: list[str] = []

    def reach(*_: Any, **__: Any) -> Any:
        asked.append("")
        raise RuntimeError("numba was reached")

    monkeypatch.setattr(numba, "njit", reach)
    monkeypatch.setattr(numba, "cfunc", reach)
    monkeypatch.setattr(compile, "_compiled", {})
    monkeypatch.setattr(compile, "_parts", {})
    return asked


def run_simulate(policy: Any) -> Any:
    return simulate(BANDIT, policy, 600, 2, engine="auto", progress=False)


def run_steps(policy: Any) -> Any:
    return simulate(BANDIT, policy, 600, 2, engine="steps", progress=False)


def run_log(policy: Any) -> Any:
    return simulate_log(BANDIT, policy, 600)


def run_by_hand(policy: Any) -> Any:
    run = StepRun(BANDIT, policy, 600)
    run.advance(600)
    return run.pulls


WAYS: dict[str, Callable[[Any], Any]] = {
    "simulate": run_simulate,
    "steps": run_steps,
    "log": run_log,
    "by hand": run_by_hand,
}
EARLY = {
    "draws at once": (Draws(0), "say randomized: ClassVar[bool] = True"),
    "draws after 20": (Draws(20), "say randomized: ClassVar[bool] = True"),
    "outside at once": (Outside(0), "state.pulls[len(state.pulls)] += 1"),
    "outside after 20": (Outside(20), "index 3 is out of bounds"),
    "outside once dropped": (OutsideOnceDropped(), "if sums[arm] < 10 * state.worse:"),
    "undecorated": (Undecorated(0.1), "write @dataclass(frozen=True) above the class"),
    "only for init": (OnlyForInit(rate=0.1), "and the line '_rate: float' in it"),
    "in slots": (InSlots(0.1), "and the line 'rate: float' in it"),
    "keeps its default": (KeepsDefault(), "above the class and 'exploration: float = 3.0' in it"),
    "another stream": (OtherStream(10**6), "select draws from np.random, so that no seed"),
    "another stream below": (OtherStreamBelow(10**6), "update draws from random, so that no"),
    "misspelled": (Misspelled(), "did you mean 'candidate'?"),
    "misspelled hook": (MisspelledHook(bounded=True), "did you mean 'told_judges'?"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mistake", EARLY)
def test_a_mistake_is_refused_before_the_compiler(
    mistake: str, way: str, compiled: list[str]
) -> None:
    policy, says = EARLY[mistake]
    with pytest.raises((NotSupported, InvalidInput)) as refused:
        WAYS[way](policy)
    assert says in str(refused.value)
    assert compiled == []


def test_a_policy_without_a_mistake_reaches_the_compiler(compiled: list[str]) -> None:
    with pytest.raises(NotSupported, match="numba was reached"):
        run_steps(InTurn())
    assert compiled != []


def test_settings_that_would_be_lost_are_refused_wherever_they_identify_something() -> None:
    first, second = Undecorated(0.1), Undecorated(0.2)
    assert first == second  # what made their results look alike
    for use in (
        first.to_json,
        lambda: Live(second, 2, 100),
        lambda: simulate(BANDIT, first, 10, 1, engine="python", progress=False),
    ):
        with pytest.raises(InvalidInput, match="rate must be a field of class Undecorated"):
            use()
    derived = Derived(3)
    derived.start(2, 10)
    assert derived.to_json() == {"name": "derived", "last": 3}


def test_a_default_that_a_field_sets_is_taken() -> None:
    assert TakesDefault().to_json() == {"name": "takes-default", "exploration": 3.0}
    assert KeepsDefault().exploration == 2.0  # what made it a mistake
    for made in (KeepsDefault(exploration=3.0), type("Below", (KeepsDefault,), {})()):
        with pytest.raises(InvalidInput, match="exploration must be set as a field of class Keeps"):
            made.to_json()


@pytest.mark.parametrize(
    ("given", "kept"),
    [(np.int64(3), 3), (np.float32(0.5), 0.5), ((np.float64(0.25), 1), [0.25, 1]), (True, True)],
)
def test_settings_are_plain_data(given: Any, kept: Any) -> None:
    found = InTurn(given).to_json()["last"]
    assert found == kept
    assert json.loads(json.dumps(found)) == kept


@pytest.mark.parametrize("given", [np.array([1.0]), {1, 2}, object(), 1j])
def test_a_setting_that_is_no_plain_data_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="last must be a number, a flag, a word, or a tuple"):
        InTurn(given).to_json()


def test_helpers_and_draws_from_the_own_stream_are_no_mistakes() -> None:
    """Names like those of the contract are refused only where that part is left out."""

    @dataclass(frozen=True)
    class Helped(SaysSo):
        name: ClassVar[str] = "helped"
        nodes_seen: int = 0

        @staticmethod
        def selected(state: Any) -> int:
            return 0

        @staticmethod
        def select(state: Any, rng: np.random.Generator) -> int:
            return int(rng.random() * len(state.pulls))

    check_own(Helped(), 3, 100)


def test_only_policies_from_outside_are_checked() -> None:
    assert not any(map(is_own_policy, policy_examples()))
    assert not is_own_policy(AsSteps(Elimination()))
    assert is_own_policy(AsSteps(OutsideOnceDropped()))
    assert is_own_policy(InTurn())
    assert is_own_policy(type("Mine", (UCB1,), {"name": "mine"})())
    assert len(POLICIES) >= 25


@dataclass(frozen=True)
class OutsideLate(OutsideOnceDropped):
    """The same in a later round, and by more than one place."""

    name: ClassVar[str] = "outside-late"

    @staticmethod
    def absorb(state: Any, sums: FloatArray) -> None:
        state.out[0] += 1
        if state.out[0] > 40:
            state.out[1] = int(sums[5])

    @staticmethod
    def candidate(state: Any, arm: int) -> bool:
        return True


@pytest.mark.slow
def test_so_does_one_of_whole_rounds() -> None:
    assert simulate(BANDIT, OutsideLate(), 900, 1, progress=False).runs[0].engine == "rounds"
    with pytest.raises(NotSupported, match=r"outside-late.*outside of an array"):
        simulate(BANDIT, OutsideLate(), 3_000, 1, progress=False)


@pytest.mark.slow
def test_declared_draws_are_no_copies() -> None:
    """Six runs that draw 300 coins agree by chance with probability below 1e-6.

    A pair of sums of 300 coins is equal with probability .033, so all six with about .033**5.
    """
    pulls = simulate(BANDIT, SaysSo(300), 600, 6, progress=False).pulls[0, :, -1, 0].tolist()
    parts = [
        simulate(BANDIT, SaysSo(300), 600, 1, first_replicate=number, progress=False)
        for number in range(6)
    ]
    assert len(set(pulls)) > 1
    assert [part.pulls[0, 0, -1, 0] for part in parts] == pulls
