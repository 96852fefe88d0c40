"""Watch a worker's task: shards that take long are noted in the store, and end at their limit."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

from affinity_bandits.experiments.cells import Shard
from affinity_bandits.experiments.cutting import guess_seconds
from affinity_bandits.experiments.store import Store

WATCH_SECONDS = 1.0
"""How often a running shard is looked at."""
SLOW_SECONDS = 30.0
"""After how long it is noted in the store."""
LEAST_LIMIT = 3600.0
LIMIT_FACTOR = 100.0


def usual_limit(shard: Shard) -> float:
    """Return the seconds that a shard may take by default: many times what it should."""
    return LEAST_LIMIT + LIMIT_FACTOR * guess_seconds(shard.planned.cell()) * shard.count


class Watch:
    """Notes shards that take long in the store, and ends the process at a shard's limit.

    The note says why the process ended. Compiled loops release Python's lock, so a thread can
    watch them.

    Args:
        store: where to note them.
        time_limit: seconds that a shard may take; by default `usual_limit` of each.
        look: called at each look, with whether the process ends now.
    """

    def __init__(
        self, store: Store, time_limit: float | None, look: Callable[[bool], object] = bool
    ) -> None:
        self._store = store
        self._limit = time_limit
        self._look = look
        self._current: tuple[Shard, float] | None = None
        self._before = 0  # replicates that were finished before it
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def begin(self, shard: Shard) -> None:
        """Take the time of a shard from now on."""
        if self._current is not None:
            self._before += self._current[0].count
        self._current = shard, time.monotonic()

    def _watch(self) -> None:
        noted: Shard | None = None
        while not self._ended.wait(WATCH_SECONDS):
            self._look(False)
            if self._current is None:
                continue
            shard, began = self._current
            if noted is not None and noted is not shard:
                self._forget(noted)
                noted = None
            passed = time.monotonic() - began
            limit = usual_limit(shard) if self._limit is None else self._limit
            if noted is None and passed > min(SLOW_SECONDS, limit):
                noted = shard
                self._note(shard, passed)
            if passed > limit:
                self._note(shard, passed, limit)
                self._look(True)
                os._exit(1)
        if noted is not None:
            self._forget(noted)

    def _note(self, shard: Shard, passed: float, limit: float | None = None) -> None:
        with contextlib.suppress(OSError):
            self._store.note_slow(shard, time.time() - passed, self._before, limit)

    def _forget(self, shard: Shard) -> None:
        with contextlib.suppress(OSError):
            self._store.forget_slow([shard])
