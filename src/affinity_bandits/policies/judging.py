"""What a policy says of who judges when it does not matter to it: kernels."""

from __future__ import annotations

from typing import Any

from affinity_bandits.kernels import IntArray


def meet_nobody(state: Any, judges: IntArray) -> None:
    """Take in nothing of who judges."""


def anybody(state: Any) -> int:
    """Return that no arm should have fewer judges than others."""
    return -1
