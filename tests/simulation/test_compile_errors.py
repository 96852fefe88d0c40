"""A policy that cannot be compiled: the message names the user's file, line and construct."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Custom, CustomNoise, simulate
from affinity_bandits.base.errors import NotSupported
from tests.support.quiet import without_heartbeat

pytestmark = pytest.mark.slow

POLICY = '''
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.policies.contracts import StepPolicy
from affinity_bandits.policies.state import counts


class Helper:
    def least(self, pulls):
        return 0


helper = Helper()


class MineState(NamedTuple):
    pulls: np.ndarray


@dataclass(frozen=True)
class Mine(StepPolicy):
    """Mine."""

    name: ClassVar[str] = "mine"
    randomized: ClassVar[bool] = True

    def start(self, arms, horizon):
        return MineState(counts(arms))

    @staticmethod
    def select(state, rng):
        arm = 0
        {wrong}  # the mistake
        return arm

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1
'''
MISTAKES = {
    "dict-of-mixed-types": ("arm = len({1: 2.0, 'b': 'c'}) - 2", "dict"),
    "python-object": ("arm = helper.least(state.pulls)", "helper is a Python object"),
    "unsupported-numpy": ("arm = np.lexsort((state.pulls,))[0]", "NumPy function 'numpy.lexsort'"),
    "method-of-an-array": ("arm = 0 * state.pulls.min()", "method of an array is not supported"),
    "array-of-its-own": ("arm = 0 * len(state.pulls + 1)", "This line makes an array"),
    "whole-number": ("arm = rng.integers(2)", "rng.integers cannot be compiled"),
    "wrong-return-type": ("return 'the first'", "select returns 'the first', a str"),
    "undefined-attribute": ("arm = state.pullz[0]", "has no attribute 'pullz'"),
}


@pytest.fixture
def mine(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(POLICY.replace("{wrong}", MISTAKES[request.param][0]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("mine", "name"), [(name, name) for name in MISTAKES], indirect=["mine"], ids=str
)
def test_a_mistake_is_shown_with_its_line(
    mine: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(mine.parent)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    import mine as module  # type: ignore[import-not-found]

    with pytest.raises(NotSupported) as caught:
        simulate(AffinityBandit([0.4, 0.6]), module.Mine(), 100, 2)
    message = str(caught.value)
    construct, says = MISTAKES[name]
    assert len(message.splitlines()) <= 8
    assert says in message
    lines = mine.read_text(encoding="utf-8").splitlines()
    line = f"        {construct}  # the mistake"
    if name == "wrong-return-type":  # the value is wrong, not the line that makes it
        line = "    def select(state, rng):"
    assert f"mine.py, line {1 + lines.index(line)}" in message
    assert f"\n    {line.strip()}" in message
    assert caught.value.__suppress_context__
    assert caught.value.__context__ is not None


def sorted_share(share: float) -> float:
    return sorted([share])[0]


def sorted_mean(mean: float, uniform: float) -> float:
    return sorted([mean])[0]


@pytest.mark.parametrize(
    "bandit",
    [
        AffinityBandit([0.4, 0.6], bias=Custom(sorted_share, 1.0)),
        AffinityBandit([0.4, 0.6], noise=CustomNoise(sorted_mean)),
    ],
    ids=["bias", "noise"],
)
def test_so_is_one_of_a_bias_or_a_noise(bandit: AffinityBandit) -> None:
    with pytest.raises(NotSupported) as caught:
        simulate(bandit, "ucb1", 100, 2)
    assert "return sorted([" in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 8


@pytest.mark.parametrize("mine", ["python-object"], indirect=True)
def test_the_command_prints_the_chain_if_asked(mine: Path) -> None:
    command = ["affinity", "simulate", "--means", "0.4,0.6", "--policy", "mine:Mine"]

    def said(*more: str) -> str:
        asked = f"import sys; sys.argv = {[*command, *more]!r}"
        script = f"{asked}; from affinity_bandits.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=mine.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        return without_heartbeat(done.stderr)

    message = said()
    assert len(message.splitlines()) <= 8
    assert "mine.py, line " in message
    assert "During handling of the above exception" in said("--debug")
