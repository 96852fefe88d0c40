"""What responses carry, as OpenAPI describes it; `forms` builds them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field


class ProblemForm(BaseModel):
    """A request that was refused."""

    type: str
    title: str
    status: int
    detail: str = Field(description="Parameter, rule and value.")
    code: str = Field(description="A word that programs can rely on.")


class ArmForm(BaseModel):
    """An arm: its name, whether it may still be the best, its answers in all rounds."""

    name: str
    active: bool
    answers: int


class OpenRoundForm(BaseModel):
    """The round whose slots are handed out."""

    number: int
    arms: list[str] = Field(description="In the order of the slots: slot s is of arms[s mod n].")
    repetitions: int
    size: int
    handed_out: int
    answered: int


class AttentionForm(BaseModel):
    """Why a campaign cannot go on, by the service's own fault."""

    kind: Literal["policy", "state", "decision", "record", "page", "unexpected"]
    reason: str
    since: datetime


class CampaignForm(BaseModel):
    """A campaign as it stands."""

    id: UUID
    name: str
    status: Literal["open", "decided", "exhausted", "stopped"]
    arms: list[ArmForm]
    recommended: str | None
    round: OpenRoundForm
    horizon: int
    policy: dict[str, Any]
    lease_seconds: float
    lowest: float
    highest: float
    in_flight: int | None = Field(
        description="Choices that may be under way at once, from the oldest without an answer to"
        " the newest handed out; null where nothing that is promised depends on it."
    )
    created_at: datetime
    attention: AttentionForm | None = Field(
        description="Null unless the campaign needs the attention of whoever runs the service."
    )


class CampaignsPage(BaseModel):
    """A page of campaigns, oldest first."""

    items: list[CampaignForm]
    next: str | None


class ClosedRoundForm(BaseModel):
    """A round that was closed, with what it was decided from."""

    number: int
    arms: list[str]
    repetitions: int
    size: int
    before: int = Field(description="Answers counted in earlier rounds.")
    counts: list[int] = Field(description="Answers of each arm.")
    sums: list[str] = Field(description="Their sums, exact.")
    means: list[float | None]
    dropped: list[str]
    opened_at: datetime
    closed_at: datetime


class RoundsPage(BaseModel):
    """A page of closed rounds."""

    items: list[ClosedRoundForm]
    next: str | None


class EventForm(BaseModel):
    """A line of the audit trail."""

    number: int
    at: datetime
    kind: Literal["create", "ask", "tell", "close", "stop"]
    actor: str
    key: str | None
    round: int
    data: dict[str, Any]


class EventsPage(BaseModel):
    """A page of the audit trail."""

    items: list[EventForm]
    next: str | None


class SlotForm(BaseModel):
    """A slot and the arm it belongs to."""

    slot: int
    arm: str


class LeaseForm(BaseModel):
    """Slots to be answered until a moment."""

    status: Literal["leased"]
    lease: int
    round: int
    arms: list[str] = Field(description="Slot s is of arms[s mod n].")
    runs: list[tuple[int, int]] = Field(description="The slots as runs of (first, count).")
    slots: list[SlotForm] = Field(default=[], description="Left out unless 'listed'.")
    expires_at: datetime


class WaitForm(BaseModel):
    """Nothing to hand out now: all slots of the round are out, or as many as may be at once."""

    status: Literal["wait"]
    outstanding: int
    retry_after: float


class FinishedForm(BaseModel):
    """Nothing to hand out any more."""

    status: Literal["exhausted", "stopped"]


class ToldForm(BaseModel):
    """What became of the answers."""

    counted: int
    late: int
    duplicate: int


class StatusForm(BaseModel):
    """A word."""

    status: str
