"""The campaigns that are run, and the score of every slot, which nobody can change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
        weight: how often clients ask it, relative to the others.
        stopped: whether somebody stops it halfway.
    """

    name: str
    policy: str
    arms: int
    horizon: int
    weight: float = 1.0
    stopped: bool = False

    @property
    def arm_names(self) -> list[str]:
        """The names of the arms; the last letters are the number."""
        return [f"arm-{arm}" for arm in range(self.arms)]

    def description(self, lease_seconds: float) -> dict[str, Any]:
        """Return the body of the request that creates it."""
        return {
            "name": self.name,
            "arms": self.arm_names,
            "policy": {"name": self.policy},
            "horizon": self.horizon,
            "lease_seconds": lease_seconds,
        }

    def score(self, round_: int, slot: int, arm: int) -> int:
        """Return the score of a slot, in units of 1e-9: the arm's share and fixed noise."""
        text = f"{self.name}/{round_}/{slot}".encode()
        noise = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % NOISE
        return NOISE * ((arm * 7 + 3) % self.arms) // self.arms + noise


@dataclass(frozen=True)
class Played:
    """A round as the library plays it with every answer there.

    Attributes:
        size: slots, or None where the policy has made up its mind and plays for ever.
        sums: of each arm, in the round's order, in units; empty where it plays for ever.
        dropped: arms that its sums ruled out.
        state: what the policy knows after it.
    """

    arms: tuple[int, ...]
    repetitions: int
    size: int | None
    sums: tuple[int, ...]
    dropped: tuple[int, ...]
    state: Any


def undisturbed(case: Case) -> Iterator[Played]:
    """Give the rounds of a campaign to which nothing happens, by the policy object alone."""
    import numpy as np

    from affinity_bandits.policies import FOREVER, POLICIES, RoundPolicy

    policy = POLICIES[case.policy]()
    assert isinstance(policy, RoundPolicy)
    state, left = policy.start(case.arms, case.horizon), case.horizon
    number = 0
    while left > 0:
        planned = policy.kernels().plan(state)
        arms = tuple(int(arm) for arm in np.asarray(planned.arms))
        repetitions, width = int(planned.repetitions), len(arms)
        saved = policy.save(state, case.arms, case.horizon)
        if repetitions >= FOREVER:
            yield Played(arms, repetitions, None, (), (), saved)
            return
        size = min(left, repetitions * width)
        sums = [0] * width
        for slot in range(size):
            sums[slot % width] += case.score(number, slot, arms[slot % width])
        dropped: tuple[int, ...] = ()
        if size == repetitions * width:
            after = policy.absorbed(state, np.array([total / UNITS_PER_ONE for total in sums]))
            candidate = policy.kernels().candidate
            dropped = tuple(
                arm
                for arm in range(case.arms)
                if candidate(state, arm) and not candidate(after, arm)
            )
            state, saved = after, policy.save(after, case.arms, case.horizon)
        yield Played(arms, repetitions, size, tuple(sums), dropped, saved)
        left -= size
        number += 1


HOT = Case("hot", "handicap-elimination", 8, 60_000, weight=12.0)
FULL = (
    HOT,
    Case("rejects", "successive-rejects", 24, 12_000, weight=4.0),
    Case("halving", "sequential-halving", 16, 8_000, weight=3.0),
    Case("handicap", "handicap-elimination", 4, 6_000, weight=3.0),
    Case("elimination", "elimination", 4, 8_000, weight=2.0),
    Case("commit", "explore-then-commit", 6, 4_000),
    Case("stopped", "successive-rejects", 12, 10_000, weight=2.0, stopped=True),
    *(Case(f"brief-{n}", "successive-rejects", 12, 1_000) for n in range(6)),
)
"""Those of the full form: one hot, most of them over before the faults are."""
SHORT = (
    Case("hot", "successive-rejects", 12, 2_000, weight=3.0),
    Case("handicap", "handicap-elimination", 3, 1_500),
    Case("brief", "elimination", 4, 300),
    Case("stopped", "successive-rejects", 6, 600, stopped=True),
)
