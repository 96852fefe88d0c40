"""A policy that kills the process that runs it, as a user's own code might."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from affinity_bandits.policies import UCB1
from affinity_bandits.policies.ucb1 import UCB1State

POISON = "soak_poison"
DEATHS = "SOAK_DEATHS"
"""Names the file to which every death adds a byte."""


@dataclass(frozen=True)
class Poison(UCB1):
    """UCB1, except that starting it kills the process."""

    name: ClassVar[str] = POISON

    def start(self, arms: int, horizon: int) -> UCB1State:
        with Path(os.environ[DEATHS]).open("ab") as file:
            file.write(b"x")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("outlived SIGKILL")
