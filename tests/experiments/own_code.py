"""Modules of a user's, written to a folder: a policy, and edits of it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

MINE = '''
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.policies.state import counts
from affinity_bandits.policies.contracts import StepKernels, StepPolicy

LEVEL = 1


class MineState(NamedTuple):
    pulls: IntArray


@dataclass(frozen=True)
class Mine(StepPolicy):
    """The arm pulled least."""

    name: ClassVar[str] = "mine"
    eliminates: ClassVar[bool] = False

    def start(self, arms, horizon):
        return MineState(counts(arms))

    @staticmethod
    def select(state, rng):
        best = 0
        for arm in range(len(state.pulls)):
            if state.pulls[arm] < state.pulls[best]:
                best = arm
        return best if LEVEL > 0 else 0

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1

    @staticmethod
    def candidate(state, arm):
        return True

    def kernels(self):
        return StepKernels(self.select, self.update, self.candidate)
'''
ALWAYS_FIRST = MINE.replace("LEVEL = 1", "LEVEL = 0")


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def loaded(folder: Path, text: str) -> Iterator[ModuleType]:
    """Import the module from a folder, and forget it again."""
    write(folder, text)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module("mine")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("mine", None)


def in_a_process(folder: Path, program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": os.pathsep.join((str(folder), *sys.path)), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
