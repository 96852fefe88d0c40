"""The laws of feedback as numbers, noise and mechanism in one, for kernels to branch on."""

from __future__ import annotations

BERNOULLI_SCALED, BERNOULLI_SHIFTED, BERNOULLI_GATED = range(3)
GAUSSIAN_SCALED, GAUSSIAN_SHIFTED, GAUSSIAN_GATED = range(3, 6)
FINITE_SCALED, FINITE_GATED = range(6, 8)
QUANTILE_SCALED, QUANTILE_GATED, QUANTILE_REDRAWN = range(8, 11)


def is_normal(law: int) -> bool:
    """Return whether a law reads standard normal numbers, not uniform ones; a kernel."""
    return GAUSSIAN_SCALED <= law <= GAUSSIAN_GATED


def reads_gate(law: int) -> bool:
    """Return whether a law reads the coin of the gate besides its value's number; a kernel."""
    return law in (GAUSSIAN_GATED, FINITE_GATED, QUANTILE_GATED)
