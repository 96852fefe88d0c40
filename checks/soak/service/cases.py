"""The campaigns that are run, and the fixed score of every slot."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from affinity_bandits.base.declaration import EXAMPLES

UNITS_PER_ONE = 10**9
NOISE = UNITS_PER_ONE // 2


@dataclass(frozen=True)
class Case:
    """A campaign.

    Attributes:
        name: of the campaign, and part of every score.
        policy: a round policy's name.
        arms: how many.
        horizon: answers in all.
        lowest: score there is.
        highest: the same.
        bounded: whether the policy is told that scores have a range, and so counts them.
        in_flight: choices under way at once, if it is to be told; the service knows who needs it.
        weight: how often clients ask it, relative to the others.
        stopped: whether somebody stops it halfway.
    """

    name: str
    policy: str
    arms: int
    horizon: int
    lowest: int = 0
    highest: int = 1
    bounded: bool = False
    in_flight: int | None = None
    weight: float = 1.0
    stopped: bool = False

    @property
    def arm_names(self) -> list[str]:
        """The names of the arms; each ends with the arm's number."""
        return [f"arm-{arm}" for arm in range(self.arms)]

    def description(self, lease_seconds: float) -> dict[str, Any]:
        """Return the body of the request that creates it."""
        return {
            "name": self.name,
            "arms": self.arm_names,
            "policy": {"name": self.policy} | self.settings,
            "horizon": self.horizon,
            "lease_seconds": lease_seconds,
            "lowest": self.lowest,
            "highest": self.highest,
            "declaration": EXAMPLES,
        }

    @property
    def settings(self) -> dict[str, Any]:
        """What the policy is told."""
        told: dict[str, Any] = {"bounded": True} if self.bounded else {}
        if self.policy == "head-start-elimination":
            told["initial_lead"] = INITIAL_LEAD
        return told if self.in_flight is None else told | {"in_flight": self.in_flight}

    def score(self, round_: int, slot: int, arm: int) -> int:
        """Return the score of a slot, in units of 1e-9: the arm's part of the range, and noise."""
        text = f"{self.name}/{round_}/{slot}".encode()
        noise = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % NOISE
        part = NOISE * ((arm * 7 + 3) % self.arms) // self.arms + noise
        return self.lowest * UNITS_PER_ONE + (self.highest - self.lowest) * part


INITIAL_LEAD = 20
HOT = Case("hot", "head-start-elimination", 8, 60_000, in_flight=3_000, weight=12.0)
FULL = (
    HOT,
    Case("rejects", "successive-rejects", 24, 12_000, 1, 5, weight=4.0),
    Case("halving", "sequential-halving", 16, 8_000, weight=3.0),
    Case("head start", "head-start-elimination", 4, 6_000, in_flight=400, weight=3.0),
    Case(
        "counted", "head-start-elimination", 4, 6_000, 1, 5, bounded=True, in_flight=400, weight=3.0
    ),
    Case("elimination", "elimination", 4, 8_000, 0, 100, weight=2.0),
    Case("commit", "explore-then-commit", 6, 4_000),
    Case("stopped", "successive-rejects", 12, 10_000, weight=2.0, stopped=True),
    *(Case(f"brief-{n}", "successive-rejects", 12, 1_000) for n in range(6)),
)
"""Those of the full form: one hot, most of them over before the faults are."""
SHORT = (
    Case("hot", "successive-rejects", 12, 2_000, weight=3.0),
    Case("head start", "head-start-elimination", 3, 1_500),
    Case("stars", "head-start-elimination", 3, 600, 1, 5, bounded=True),
    Case("brief", "elimination", 4, 300, 1, 5),
    Case("stopped", "successive-rejects", 6, 600, stopped=True),
)
