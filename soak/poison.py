"""A policy that kills the process that runs it, and a task that knows the policy.

The package does not know it: a driver names `run_task` of this module instead of the package's,
and a worker that is handed it imports this module.
"""

from __future__ import annotations

import os
import signal
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from unittest import mock

from affinity_bandits.experiments import work
from affinity_bandits.policies import POLICIES, UCB1
from affinity_bandits.policies.ucb1 import UCB1State

POISON = "soak_poison"
DEATHS = "SOAK_DEATHS"
"""Names the file to which every death adds a byte."""


@dataclass(frozen=True)
class Poison(UCB1):
    """UCB1, were it not for its end."""

    name: ClassVar[str] = POISON

    def start(self, arms: int, horizon: int) -> UCB1State:
        with Path(os.environ[DEATHS]).open("ab") as file:
            file.write(b"x")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("outlived SIGKILL")


def known() -> AbstractContextManager[object]:
    """Have the policy in the catalogue for a while; other tests go through that catalogue."""
    return mock.patch.dict(POLICIES, {POISON: Poison})


def run_task(task: work.Task, root: str) -> list[work.Report]:
    """Run a task that may name the policy."""
    with known():
        return work.run_task(task, root)
