"""A policy that cannot be compiled: the message names the user's file, line and construct."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Custom, CustomNoise, simulate
from affinity_bandits.errors import NotSupported

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
    "dict-of-mixed-types": ("arm = len({1: 2.0, 'b': 'c'}) - 2", ""),
    "python-object": ("arm = helper.least(state.pulls)", "helper"),
    "unsupported-numpy": ("arm = int(np.union1d(state.pulls, state.pulls)[0]) * 0", "union1d"),
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
    if name != "wrong-return-type":  # a value is wrong there, and no line
        number = 1 + mine.read_text(encoding="utf-8").splitlines().index(
            f"        {construct}  # the mistake"
        )
        assert f"mine.py, line {number}" in message
        assert construct in message
    assert caught.value.__cause__ is not None


def word_of(share: float) -> float:
    return float(str(share))


def word_in(mean: float, uniform: float) -> float:
    return float(str(mean))


@pytest.mark.parametrize(
    "bandit",
    [
        AffinityBandit([0.4, 0.6], bias=Custom(word_of, 1.0)),
        AffinityBandit([0.4, 0.6], noise=CustomNoise(word_in)),
    ],
    ids=["bias", "noise"],
)
def test_so_is_one_of_a_bias_or_a_noise(bandit: AffinityBandit) -> None:
    with pytest.raises(NotSupported) as caught:
        simulate(bandit, "ucb1", 100, 2)
    assert "return float(str(" in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 8


@pytest.mark.parametrize("mine", ["python-object"], indirect=True)
def test_the_command_prints_the_chain_if_asked(mine: Path) -> None:
    command = ["affinity", "simulate", "--means", "0.4,0.6", "--policy", "mine:Mine"]
    asked = f"import sys; sys.argv = {command!r}; from affinity_bandits.cli import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", asked], cwd=mine.parent, capture_output=True, text=True, check=False
    )
    assert said.returncode == 2
    assert len(said.stderr.splitlines()) <= 8
    assert "mine.py, line " in said.stderr
    asked = asked.replace("'simulate'", "'simulate', '--debug'")
    said = subprocess.run(
        [sys.executable, "-c", asked], cwd=mine.parent, capture_output=True, text=True, check=False
    )
    assert "The above exception was the direct cause" in said.stderr
