"""Rows of wrong input, and what brings an object to the point at which it is given."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, AffinityError, Live, Result, StepRun, simulate
from affinity_bandits.base.errors import (
    InvalidInput,
    MissingExtra,
    NotSupported,
    StateMismatch,
    UnknownName,
)
from affinity_bandits.plots import draw_regret
from affinity_bandits.policies import UCB1
from affinity_bandits.simulation import PolicyRun

HUGE = 10**400  # larger than any float
UNPRINTABLE = 10**5000  # more digits than Python turns into text
TOO_LONG = 10**15 + 1  # one pull beyond the longest horizon

BANDIT = AffinityBandit([0.4, 0.6])
CROWD = AffinityBandit([0.5] * 100)


def _row(error: type[AffinityError]) -> Callable[[str, Callable[[], object], str], Any]:
    """Rows of one error: a name, how to make the mistake, what the message says, cut by " | "."""
    return lambda name, call, says: pytest.param(call, error, says.split(" | "), id=name)


invalid = _row(InvalidInput)
unknown = _row(UnknownName)
unsupported = _row(NotSupported)
mismatch = _row(StateMismatch)
missing = _row(MissingExtra)
refused = _row(AffinityError)  # where more than one of the above would be right


# Helpers that bring an object to the point at which the wrong input is given.


def simulated(policies: object = "ucb1", horizon: object = 10, **settings: Any) -> Result:
    """A run that would take no time if its one wrong setting were right."""
    bandit = settings.pop("bandit", BANDIT)
    return simulate(bandit, policies, horizon, **{"replicates": 2} | settings)


def live(*, asked: bool = True) -> Live:
    run = Live(UCB1(), arms=2, horizon=10)
    if asked:
        assert run.ask() == 0
    return run


def changed(text: str, **changes: object) -> str:
    return json.dumps({**json.loads(text), **changes})


def without(text: str, key: str) -> str:
    return json.dumps({name: value for name, value in json.loads(text).items() if name != key})


def state_with(text: str, **changes: object) -> str:
    return changed(text, state={**json.loads(text)["state"], **changes})


def step_run() -> StepRun:
    return StepRun(BANDIT, UCB1(), horizon=10)


def room(rows: int, columns: int) -> Any:
    """Too little room inside a larger array, where writing beyond it does no harm."""
    return np.zeros((20, columns), dtype=np.int64)[:rows]


def finished(*labels: str) -> Result:
    """A result that took no simulation."""
    return Result(
        bandit=BANDIT,
        runs=tuple(PolicyRun(label, UCB1().to_json(), False, "steps") for label in labels),
        horizon=10,
        seed=0,
        replicates=np.arange(2),
        checkpoints=np.array([10]),
        pulls=np.full((len(labels), 2, 1, 2), 5),
        candidates=np.ones((len(labels), 2, 2), dtype=np.int64),
        decided_at=np.zeros((len(labels), 2), dtype=np.int64),
    )


def loaded(content: bytes) -> Result:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        path.write_bytes(content)
        return Result.load(path)


def archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def saved_result() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.npz"
        finished("ucb1").save(path)
        return path.read_bytes()


def single_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


def drawn_without_matplotlib() -> object:
    with mock.patch.dict(sys.modules, {"matplotlib": None}):
        return draw_regret(finished("ucb1"))
