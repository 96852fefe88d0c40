"""The campaigns that are run, and the score of every slot, which nobody can change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

UNITS_PER_ONE = 10**9
NOISE = UNITS_PER_ONE // 2
DEFAULT_IN_FLIGHT = 100
"""What the documentation says of campaigns that say nothing."""


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
    in_flight: int | None = None
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
            "policy": {"name": self.policy} | self._told,
            "horizon": self.horizon,
            "lease_seconds": lease_seconds,
            "lowest": self.lowest,
            "highest": self.highest,
        }

    @property
    def window(self) -> int | None:
        """How far ahead of the oldest slot without an answer others may be handed out."""
        if self.policy != "handicap-elimination":
            return None
        return self.in_flight or DEFAULT_IN_FLIGHT

    @property
    def _told(self) -> dict[str, Any]:
        return {} if self.in_flight is None else {"in_flight": self.in_flight}

    def score(self, round_: int, slot: int, arm: int) -> int:
        """Return the score of a slot, in units of 1e-9: the arm's part of the range, and noise."""
        text = f"{self.name}/{round_}/{slot}".encode()
        noise = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % NOISE
        part = NOISE * ((arm * 7 + 3) % self.arms) // self.arms + noise
        return self.lowest * UNITS_PER_ONE + (self.highest - self.lowest) * part


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
    if case.window is not None:
        policy = policy.with_order_window(case.window)
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
            width_in_units = (case.highest - case.lowest) * UNITS_PER_ONE
            shift = repetitions * case.lowest * UNITS_PER_ONE
            mapped = np.array([(total - shift) / width_in_units for total in sums])
            after = policy.absorbed(state, mapped)
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


HOT = Case("hot", "handicap-elimination", 8, 60_000, in_flight=3_000, weight=12.0)
FULL = (
    HOT,
    Case("rejects", "successive-rejects", 24, 12_000, 1, 5, weight=4.0),
    Case("halving", "sequential-halving", 16, 8_000, weight=3.0),
    Case("handicap", "handicap-elimination", 4, 6_000, in_flight=400, weight=3.0),
    Case("elimination", "elimination", 4, 8_000, 0, 100, weight=2.0),
    Case("commit", "explore-then-commit", 6, 4_000),
    Case("stopped", "successive-rejects", 12, 10_000, weight=2.0, stopped=True),
    *(Case(f"brief-{n}", "successive-rejects", 12, 1_000) for n in range(6)),
)
"""Those of the full form: one hot, most of them over before the faults are."""
SHORT = (
    Case("hot", "successive-rejects", 12, 2_000, weight=3.0),
    Case("handicap", "handicap-elimination", 3, 1_500),
    Case("brief", "elimination", 4, 300, 1, 5),
    Case("stopped", "successive-rejects", 6, 600, stopped=True),
)
