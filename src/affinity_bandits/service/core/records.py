"""The records that the core returns: plain data, with arms by index and sums in units."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

from affinity_bandits.policies import RoundPolicy
from affinity_bandits.service.core.campaign_spec import CampaignSpec, Planned
from affinity_bandits.service.core.judging import Judges
from affinity_bandits.wire import Attention, Health

Runs = tuple[tuple[int, int], ...]
"""Slots as runs of (first, count)."""


@dataclass(frozen=True)
class Lease:
    """Slots handed to a caller until they expire.

    Attributes:
        number: names the lease and only grows, so it also fences: of two holders of a slot the
            one with the larger number came later.
        round: the round of the slots.
        runs: the slots, as runs of (first, count).
        arms: the arms of the round in the order of its slots: slot s is of arms[s % len(arms)].
        expires_at: from when on unanswered slots may be offered again.
    """

    number: int
    round: int
    runs: Runs
    arms: tuple[int, ...]
    expires_at: datetime

    @property
    def slots(self) -> list[tuple[int, int]]:
        """Every slot with its arm."""
        width = len(self.arms)
        return [
            (slot, self.arms[slot % width])
            for first, count in self.runs
            for slot in range(first, first + count)
        ]


@dataclass(frozen=True)
class Progress:
    """The open round of a campaign, and how far it has come.

    Attributes:
        judges: how many of each arm judge it, where the policy is told.
        outsiders: how many who belong to no arm.
        fewest_seats: the arm that should have the fewest of them, if any.
    """

    number: int
    arms: tuple[int, ...]
    repetitions: int
    size: int
    handed_out: int
    answered: int
    answers: tuple[int, ...]
    sums: tuple[int, ...]
    judges: tuple[int, ...] | None = None
    outsiders: int | None = None
    fewest_seats: int | None = None


class UnknownPolicy(RoundPolicy):
    """A placeholder for a policy that this server cannot make; it explains nothing."""

    eliminates: ClassVar[bool] = True  # as nearly all do


@dataclass(frozen=True)
class Stored:
    """The spec of a campaign whose policy this server cannot make, as the database has it.

    Attributes:
        settings: of the policy, as they are stored.
    """

    name: str
    arms: tuple[str, ...]
    settings: dict[str, Any]
    horizon: int
    lease_seconds: float
    lowest: float
    highest: float
    committee: tuple[int, ...] | None = None
    tellers: tuple[str, ...] | Literal["any"] | None = None
    policy: RoundPolicy = field(default_factory=UnknownPolicy)
    planned: ClassVar[Planned | None] = None


About = CampaignSpec | Stored


@dataclass(frozen=True)
class Campaign:
    """A campaign as it stands.

    Attributes:
        spec: what it is.
        status: "open", "decided" (one arm is left and is served for ever), "exhausted" (the
            horizon was reached first) or "stopped".
        recommended: the arm that is left, if the campaign is decided.
        active: arms that may still be the best.
        before: answers counted in the rounds before the open one.
        in_flight: choices that may be under way at once, from the oldest without an answer to the
            newest handed out; None where nothing is promised that depends on it, and where a
            campaign is older than that rule.
        awaits_judges: whether its round has no slots yet, since nobody has said who judges it.
        named: who was named to judge rounds to come.
        attention: why it cannot go on, if it cannot.
        health: what was found when its health was last looked at; None before the first look.
        saved: its policy's state before the open round, as saved; None if it cannot be read.
    """

    id: UUID
    spec: About
    status: Literal["open", "decided", "exhausted", "stopped"]
    recommended: int | None
    active: tuple[int, ...]
    before: int
    in_flight: int | None
    round: Progress
    created_at: datetime
    awaits_judges: bool = False
    named: Judges | None = None
    attention: Attention | None = None
    health: Health | None = None
    saved: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ClosedRound:
    """A closed round and the sums it was decided from, in units of 1e-9."""

    number: int
    arms: tuple[int, ...]
    repetitions: int
    size: int
    before: int
    opened_at: datetime
    closed_at: datetime
    counts: tuple[int, ...]
    sums: tuple[int, ...]
    dropped: tuple[int, ...]
    judges: tuple[int, ...] | None = None
    outsiders: int | None = None
    fewest_seats: int | None = None
