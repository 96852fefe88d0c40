"""What tests of the paper and of studies do with claims and with failures of a level."""

from __future__ import annotations

from collections.abc import Iterable

from scipy.stats import binom

from affinity_bandits.paper import Claim


def verdicts(claims: Iterable[Claim]) -> str:
    """Return a T or an F for each claim."""
    return "".join("T" if claim.holds else "F" for claim in claims)


def assert_verdicts(claims: Iterable[Claim], expected: str, world: str) -> None:
    """Check the verdicts on claims in a planted world; those on "-" are not looked at."""
    found = verdicts(claims)
    pairs = zip(found, expected, strict=True)
    assert "".join("-" if said == "-" else one for one, said in pairs) == expected, world


def likely(count: int, runs: int, level: float) -> bool:
    """Whether so many failures have a probability above 1e-6 at the level."""
    return bool(binom.sf(count - 1, runs, level) > 1e-6)
