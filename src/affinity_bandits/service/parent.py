"""Worker processes that end with their parent, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
LOOK_SECONDS = 1.0
"""Between two looks at the parent where the system does not tell of its end."""
GRACE_SECONDS = 10.0
"""After what a process may take to stop, before it is ended as it is."""


def follow(parent: int, stop_seconds: float) -> None:
    """Stop this process in order when its parent has died, and hard if that takes too long.

    A worker that outlives its parent would keep the port, and nobody would tell it to stop.

    Args:
        parent: the parent's process id.
        stop_seconds: how long an orderly stop takes at most.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the system could be asked to tell
        sys.exit("the parent process has ended")
    threading.Thread(target=_watch, args=(parent, stop_seconds), daemon=True).start()


def _watch(parent: int, stop_seconds: float) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(stop_seconds + GRACE_SECONDS)
    os._exit(1)
