"""Modules of a user's, written to a folder: a policy that reaches much, and edits of it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

MINE = '''
import functools
import math
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np

import settings_of_mine
from helper_of_mine import lower, scaled
from affinity_bandits.kernels import Function, IntArray, bind, unbound
from affinity_bandits.policies.state import counts
from affinity_bandits.policies.step import StepKernels, StepPolicy

FIRST = 0
NAMES = {"a", "b", "c"}
TABLE = {"step": 1, "other": 2}
CURVE = np.array([1.0, 2.0])
threshold: Function = unbound


class Kind(Enum):
    SLOW = 1
    FAST = 2


class MineState(NamedTuple):
    pulls: IntArray
    other: IntArray


def decorated(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(*arguments) + 0

    return inner


@decorated
def size(arms):
    return arms


def level():
    return 1


class Base(StepPolicy):
    limit: ClassVar[int] = 7

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1

    def rest(self, arms):
        return counts(arms)


@dataclass(frozen=True)
class Mine(Base):
    """The arm pulled least."""

    name: ClassVar[str] = "mine"
    eliminates: ClassVar[bool] = False
    start_at: int = 0

    def start(self, arms, horizon, extra=0):
        import late_helper_of_mine

        assert "a" in NAMES and Kind.SLOW.value == 1 and len(CURVE) == 2 and TABLE["step"] == 1
        first = counts(size(arms) + extra + late_helper_of_mine.more())
        return MineState(first, self.rest(arms))

    @staticmethod
    def select(state, rng):
        best = FIRST
        for arm in range(len(state.pulls)):
            if lower(state.pulls[arm], state.pulls[best]) and arm < settings_of_mine.MOST:
                best = arm
        return best if threshold() > 0 else 0

    @staticmethod
    def candidate(state, arm):
        return math.sqrt(4.0) > 1.0

    def kernels(self):
        return StepKernels(bind(Mine.select, threshold=level), self.update, self.candidate)
'''
FILES = {
    "mine": MINE,
    "helper_of_mine": "from deep_helper_of_mine import shift\n\n\n"
    "def lower(a, b):\n    return a + shift() < b\n\n\ndef scaled(x):\n    return 2 * x\n",
    "deep_helper_of_mine": "SHIFT = 0\n\n\ndef shift():\n    return SHIFT\n",
    "late_helper_of_mine": "MORE = 0\n\n\ndef more(by=0):\n    return MORE + by\n",
    "settings_of_mine": "MOST = 100\nUNUSED = 1\n",
}
"""Every module by its name."""


def edited(name: str, old: str, new: str) -> dict[str, str]:
    """The modules with one edit; what is to be replaced must be there."""
    assert FILES[name].count(old) >= 1, old
    return {**FILES, name: FILES[name].replace(old, new, 1)}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def loaded(folder: Path, files: Mapping[str, str], name: str = "mine") -> Iterator[ModuleType]:
    """Import a module from a folder, and forget it and its like again."""
    write(folder, files)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for module in files:
            sys.modules.pop(module, None)


def in_a_process(folder: Path, program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
