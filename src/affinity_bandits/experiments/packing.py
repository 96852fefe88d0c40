"""Cut work into tasks of about a second, whatever a cell's size.

How work is cut depends on how fast it turned out to be, so it differs from run to run; what comes
out does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from affinity_bandits.errors import AffinityError
from affinity_bandits.experiments.spec import AnyCell, Shard
from affinity_bandits.experiments.work import Report, Task
from affinity_bandits.noise import noise_from_json
from affinity_bandits.policies import POLICIES, RoundPolicy

_NOISE = re.compile(r'"mechanism":("[^"]*"),"memory":([^,]*),"noise":(.*),"true_means":\[')
"""What decides about the engine, in a bandit's canonical text."""
TASK_SECONDS = 1.0
SHARD_BYTES = 32 * 2**20
"""Most that a shard's pulls take in memory."""
STEP_SECONDS = 40e-9
"""First guess for a pull of one arm; later guesses are measured."""
ROUND_SECONDS = 50e-6
"""First guess for a replicate by whole rounds, for one arm."""
SHARD_OVERHEAD = 5e-3
"""Writing a shard, whatever is in it."""
SMOOTHING = 0.5
"""How much of the last guess a new measurement leaves."""


class Guess:
    """How long a replicate takes, by policy and engine, learnt from what has been run."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def seconds(self, planned: AnyCell) -> float:
        """Return a guess for one replicate of a cell."""
        kind, prior, _ = _prior(planned)
        return prior * self._factors.get(kind, 1.0)

    def learn(self, report: Report) -> None:
        """Correct the guess by how long a shard took."""
        if report.error is not None:
            return
        kind, prior, _ = _prior(report.shard.planned)
        spent = max(report.seconds - SHARD_OVERHEAD, 0.1 * report.seconds)
        factor = min(max(spent / (prior * report.shard.count), 1e-3), 1e3)
        known = self._factors.get(kind)
        # The first run of a kind may have compiled; what comes after corrects it quickly.
        self._factors[kind] = (
            factor if known is None else known**SMOOTHING * factor ** (1.0 - SMOOTHING)
        )


def packed(
    gaps: Iterable[tuple[AnyCell, range]], guess: Guess, shard_size: int | None
) -> Iterator[Task]:
    """Yield tasks for the missing replicates.

    Args:
        gaps: cells with the replicates that are missing, in any order.
        guess: how long things take.
        shard_size: replicates of a shard; None for so many as take about a second.
    """
    task: list[Shard] = []
    load = 0.0
    for planned, gap in gaps:
        at = gap.start
        while at < gap.stop:
            each = guess.seconds(planned)
            size = shard_size or _size(planned, each)
            shard = Shard(planned, at, min(size, gap.stop - at))
            at += shard.count
            task.append(shard)
            load += shard.count * each + SHARD_OVERHEAD
            if load >= TASK_SECONDS:
                yield tuple(task)
                task, load = [], 0.0
    if task:
        yield tuple(task)


def _size(planned: AnyCell, seconds: float) -> int:
    """Return how many replicates take about a second and fit in memory."""
    bytes_each = _prior(planned)[2]
    return max(1, min(round(TASK_SECONDS / seconds), SHARD_BYTES // bytes_each, 10**7 - 1))


def _prior(planned: AnyCell) -> tuple[str, float, int]:
    """Return a cell's kind, a first guess of seconds and the bytes of a replicate.

    The canonical text is cut, not parsed: a million cells differ in their bandits and share the
    rest, which is parsed once.
    """
    bandit, _, rest = planned.text.partition(',"checkpoints":')
    name, horizon, times, by_rounds = _rest(rest)
    arms = bandit.count(",", bandit.rindex('"true_means":[')) + 1
    noise, drawn_at_once = _noise(*_NOISE.search(bandit).groups())  # type: ignore[union-attr]
    rounds = by_rounds and drawn_at_once
    seconds = ROUND_SECONDS * arms if rounds else STEP_SECONDS * (1 + arms / 8) * horizon
    kind = f"{name} {'rounds' if rounds else 'steps'} {noise}"
    return kind, max(seconds, 1e-7), 8 * times * arms + 16 * arms


@lru_cache(maxsize=4096)
def _noise(mechanism: str, memory: str, noise: str) -> tuple[str, bool]:
    """Return a noise's name, and if the sums of a round can be drawn at once."""
    data = json.loads(noise)
    try:
        reason = noise_from_json(data).why_no_rounds(json.loads(mechanism))
    except AffinityError:  # code of the user's, which is known by its samples alone
        return data["name"], False
    return data["name"], memory == "null" and reason is None


@lru_cache(maxsize=4096)
def _rest(text: str) -> tuple[str, int, int, bool]:
    """Return policy name, horizon, number of checkpoints, and whether whole rounds are drawn."""
    data = json.loads('{"checkpoints":' + text)
    policy = data["policy"]
    name = policy["name"] if isinstance(policy, dict) else str(policy)
    rounds = (
        data["engine"] == "auto" and name in POLICIES and issubclass(POLICIES[name], RoundPolicy)
    )
    return name, data["horizon"], max(1, len(data["checkpoints"])), rounds
