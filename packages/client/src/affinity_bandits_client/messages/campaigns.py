"""Messages about campaigns: how to create one, its state, its rounds and its events."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    Field,
    JsonValue,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from affinity_bandits_client.errors import InvalidInput, shown
from affinity_bandits_client.messages.base import (
    LARGEST_HORIZON,
    LONGEST_LEASE,
    MOST_ARMS,
    MOST_JUDGES,
    MOST_TELLERS,
    SHORTEST_LEASE,
    Body,
    CampaignId,
    KeyId,
    Message,
    Moment,
    Name,
    Score,
    Settings,
    ShownName,
    given,
    usually_one_of,
)

__all__ = [
    "Arm",
    "Attention",
    "Campaign",
    "CampaignPage",
    "ClosedRound",
    "CreateCampaign",
    "DeclareUse",
    "Event",
    "EventPage",
    "Finding",
    "Health",
    "Judges",
    "NameJudges",
    "NamedJudges",
    "OpenRound",
    "Page",
    "Plan",
    "Policy",
    "RaterBlocks",
    "RoundPage",
]

T = TypeVar("T")
HeadCount = Annotated[int, Field(ge=0, le=MOST_JUDGES)]
Heads = Annotated[dict[Name, HeadCount], Field(max_length=MOST_ARMS)]


def _as_tellers(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Return different ids, or "any"; report one rule for both forms, as pydantic would not."""
    try:
        found = read(tuple(value) if isinstance(value, list) else value)
    except ValidationError:
        rule = f"'any' or a list of 1 to {MOST_TELLERS} ids of API keys"
        raise ValueError(f"tellers must be {rule}, got {shown(value)}") from None
    return found if isinstance(found, str) else tuple(dict.fromkeys(found))


Tellers = Annotated[
    Literal["any"] | Annotated[tuple[KeyId, ...], Field(min_length=1, max_length=MOST_TELLERS)],
    WrapValidator(_as_tellers),
]
FAULT_KINDS = ("policy", "state", "decision", "record", "page", "unexpected")
FINDING_KINDS = ("missing", "uneven", "ends", "standstill", "rater", "committee")
SEVERITIES = ("note", "warning")
FaultKind = Annotated[str, usually_one_of(*FAULT_KINDS)]
FindingKind = Annotated[str, usually_one_of(*FINDING_KINDS)]
EventKind = Annotated[
    str,
    usually_one_of(
        *("create", "ask", "tell", "close", "stop", "judges", "release"),
        *("ask_block", "tell_block"),
    ),
]
_RANGE = (
    "The {} score there can be; if left out, that of the plan, or {} without a plan. The policy is"
    " given scores mapped from the range to [0, 1]."
)
PLAN_FORMAT = 1
EXAMPLE = {
    "groups_are": "sources of candidates",
    "responsible": "head of recruiting",
    "purpose": "where to look for candidates next year",
}
_PLAN_FILE = "the text of a file written by 'affinity plan'"
_ASSUMED = ("noise", "lowest", "highest", "pace", "unit")


class Policy(Body, extra="allow"):
    """A policy by its name, with settings as 'affinity policies' lists them.

    Settings that speak of scores (sigma, thresholds) speak of scores mapped from the campaign's
    range to [0, 1].
    """

    __pydantic_extra__: dict[str, JsonValue]

    name: str


class DeclareUse(Body):
    """The meaning of the groups, the person responsible, and the purpose."""

    groups_are: Name = Field(description="In words, such as 'sources of candidates'.")
    responsible: Name
    purpose: Name
    protected: bool = Field(
        default=False,
        description="Whether they are protected attributes of people, or proxies: refused.",
    )


class Plan(Body):
    """The part of a file written by 'affinity plan' that a campaign needs."""

    groups: int = Field(ge=2, le=MOST_ARMS, description="Groups that it compares.")
    policy: Policy
    horizon: int = Field(ge=1, le=LARGEST_HORIZON)
    noise: str = "bounded"
    lowest: Score = 0.0
    highest: Score = 1.0
    needed: int = given(
        ge=1,
        le=LARGEST_HORIZON,
        description="Answers that suffice in 19 of 20 cases, where the horizon is enough.",
    )
    pace: float = given(gt=0.0, le=1e15, description="Answers a week, where that is known.")
    unit: Annotated[str, Field(max_length=16, pattern=r"^[^\W\d_][\w '-]*$")] = "answer"
    declaration: DeclareUse = given()

    @staticmethod
    def names_in(file: str | Path) -> list[str] | None:
        """Return the groups' names in a file written by `affinity plan`; None if it has none.

        Raises:
            InvalidInput: it is another kind of file.
        """
        text = file.read_text(encoding="utf-8") if isinstance(file, Path) else file
        try:
            names: list[str] | None = tomllib.loads(text)["assumptions"].get("names")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput("plan", _PLAN_FILE, str(error)) from error
        return names

    @classmethod
    def from_toml(cls, file: str | Path) -> Self:
        """Read a file written by `affinity plan`, or its text.

        Raises:
            InvalidInput: it is incomplete, of another version, or another kind of file.
        """
        text = file.read_text(encoding="utf-8") if isinstance(file, Path) else file
        try:
            data = tomllib.loads(text)
            made, whole, assumed = data["plan"], data["end"]["whole"], data["assumptions"]
            if made.get("format") != PLAN_FORMAT:
                rule = f"{PLAN_FORMAT}: make the plan again with this version's 'affinity plan'"
                raise InvalidInput("format", rule, made.get("format"))
            members = {
                "policy": data["run"]["policies"]["plan"],
                "horizon": data["run"]["horizon"],
                "groups": assumed["groups"],
            }
            members |= {name: assumed[name] for name in _ASSUMED if name in assumed}
            if "declaration" in data:
                members["declaration"] = data["declaration"]
            if "needed" in made and "sufficient" not in made:  # else it is of a longer horizon
                members["needed"] = math.ceil(made["needed"]["choices_95"])
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("plan", _PLAN_FILE, str(error)) from error
        if whole is not True:
            raise InvalidInput("plan", _PLAN_FILE, "a part of one")
        return cls.checked(**members)


class CreateCampaign(Body):
    """A campaign to create: by a policy and a horizon, or by a plan."""

    name: ShownName
    arms: Annotated[tuple[ShownName, ...], Field(min_length=2, max_length=MOST_ARMS)]
    policy: Policy = given()
    plan: Plan = given(description="Instead of a policy and a horizon.")
    horizon: int = given(
        ge=1, le=LARGEST_HORIZON, description="Answers the policy may count on in all."
    )
    lease_seconds: float = Field(default=3600.0, ge=SHORTEST_LEASE, le=LONGEST_LEASE)
    # No defaults here: a client that fills them in would contradict every plan of another range.
    lowest: Score = given(description=_RANGE.format("smallest", 0))
    highest: Score = given(description=_RANGE.format("largest", 1))
    committee: Heads = given(
        description="Initial members of each group; one left out has none. Where all members judge"
        " and the policy is told who they are, the first round opens with them."
    )
    declaration: DeclareUse = given(
        description="What the groups are, who is responsible and why. Required, unless the plan"
        " has one."
    )
    tellers: Tellers = given(
        description="Ids of API keys that may answer any lease, or 'any' for all keys of the"
        " tenant. Left out, a lease is answered with the key that took it."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.policy is None) == (self.plan is None):
            found = "neither" if self.policy is None else "both"
            raise ValueError(f"policy must be given, or else plan, and not both, got {found}")
        if self.plan is not None and self.horizon is not None:
            raise ValueError(
                f"horizon must be left out, since the plan has one, got {self.horizon}"
            )
        if self.plan is None and self.horizon is None:
            raise ValueError("horizon must be given")
        if self.declared is None:
            raise ValueError(f"declaration must be given, such as {EXAMPLE}")
        return self

    @property
    def declared(self) -> DeclareUse:
        """The declaration, or else the plan's."""
        return self.declaration if self.plan is None else self.declaration or self.plan.declaration


class NameJudges(Body):
    """The judges of a round: number per group, and outsiders."""

    judges: Heads = Field(description="Of each group; one left out has none.")
    outsiders: HeadCount = Field(default=0, description="Who belong to no group.")
    soon: Heads = Field(
        default={},
        description="Of each group, at most how many who were chosen may begin to judge during the"
        " round, where all members judge.",
    )
    later: Heads = Field(
        default={}, description="Of each group, how many who were chosen will begin after it."
    )
    standing: bool = Field(
        default=False,
        description="Whether they judge the rounds after it too, until others are named; a panel"
        " only as long as the group that leads has no more seats than any other.",
    )
    round: int = given(
        ge=0,
        le=2**31 - 2,
        description="The round that waits, or the one after the open round; the one that waits if"
        " left out.",
    )


class Judges(Message):
    """Those who judge a round."""

    judges: dict[str, int] = Field(description="How many of each group.")
    outsiders: int = Field(description="Who belong to no group.")


class NamedJudges(Judges):
    """Those who were named to judge rounds to come."""

    standing: bool = Field(description="Whether more than one round.")


class Arm(Message):
    """A group of a campaign: whether it may still be the best, and its answers in all rounds."""

    name: str
    active: bool
    answers: int


class RaterBlocks(Message):
    """The blocks of a round that raters of one group score."""

    rater_group: str | None = Field(description="Null for people of no group.")
    groups: tuple[str, ...] = Field(description="Each block has a candidate of each of them.")
    blocks: int = Field(description="How many there are.")
    given: int = Field(description="How many of them a rater had.")
    open: int = Field(description="How many a rater has now, with time left.")
    answered: int = Field(description="How many have all their scores, which count.")


class OpenRound(Message):
    """The round whose slots, or blocks, are handed out. Each score of a block is a slot here."""

    number: int
    arms: tuple[str, ...] = Field(
        description="In the order of the slots: slot s is of arms[s mod n]. With blocks, those that"
        " are left."
    )
    repetitions: int = Field(description="Slots of each group; with blocks, those of each rater.")
    size: int
    handed_out: int
    answered: int
    blocks: tuple[RaterBlocks, ...] | None = Field(
        default=None, description="Whose raters score which blocks, where the campaign gives them."
    )
    judged_by: Judges | None = Field(
        default=None, description="Who judges it, where the policy is told."
    )


class Attention(Message):
    """Why a campaign cannot go on: a fault of the service, for its operator to mend."""

    kind: FaultKind = Field(description="A word that programs can rely on.")
    reason: str = Field(description="What is wrong.")
    since: Moment = Field(description="When it was found.")


class Finding(Message):
    """A finding of a health check, for the operator of the comparison to look into."""

    kind: FindingKind = Field(description="A word that programs can rely on.")
    severity: Annotated[str, usually_one_of(*SEVERITIES)]
    arms: tuple[str, ...] = Field(description="The groups that it is about; empty if about all.")
    since: Moment = Field(description="When it was first found.")
    seen: str = Field(description="What was seen, and how much of it.")
    effect: str = Field(description="What it would do to the comparison.")
    advice: str = Field(description="What to do.")


class Health(Message):
    """The health of a campaign when it was last looked at."""

    checked_at: Moment
    findings: tuple[Finding, ...] = Field(description="Warnings first; empty if all is well.")


class Campaign(Message):
    """A campaign as it stood when the reply was made."""

    id: CampaignId
    name: str
    status: Literal["open", "decided", "exhausted", "stopped"] = Field(
        description="Exhausted: the horizon came before a decision."
    )
    arms: tuple[Arm, ...]
    recommended: str | None = Field(description="The group that is left, once there is only one.")
    round: OpenRound
    horizon: int
    policy: Settings
    lease_seconds: float
    lowest: float
    highest: float
    in_flight: int | None = Field(
        description="Choices that may be under way at once, from the oldest without an answer to"
        " the newest handed out; null where nothing that is promised depends on it."
    )
    awaits_judges: bool = Field(
        default=False,
        description="The round has no slots yet, since nobody has said who judges it.",
    )
    fewest_seats: str | None = Field(
        default=None,
        description="The group that should have no more judges than any other in the round that"
        " waits or, unless another takes the lead, in the next one; null if any will do.",
    )
    named_judges: NamedJudges | None = Field(
        default=None, description="Who was named to judge rounds to come."
    )
    committee: dict[str, int] | None = Field(
        default=None, description="Initial members of each group, where they were told."
    )
    tellers: Literal["any"] | tuple[str, ...] | None = Field(
        default=None,
        description="Ids of API keys that may answer any lease, or 'any'; null where a lease is"
        " answered with the key that took it.",
    )
    created_at: Moment
    attention: Attention | None = Field(description="Why it cannot go on, if it cannot.")
    health: Health | None = Field(
        default=None, description="What health checks found; null before the first look."
    )


class ClosedRound(Message):
    """A closed round and the sums it was decided from, in the order of `arms`.

    The mean of an arm is null if the horizon cut the round short before its first answer.
    """

    number: int
    arms: tuple[str, ...]
    repetitions: int
    size: int
    before: int = Field(description="Answers counted in earlier rounds.")
    counts: tuple[int, ...] = Field(description="Answers of each arm.")
    sums: tuple[str, ...] = Field(description="Their sums, exact.")
    means: tuple[float | None, ...]
    dropped: tuple[str, ...]
    judged_by: Judges | None = Field(
        default=None, description="Who judged it, where the policy is told."
    )
    opened_at: Moment
    closed_at: Moment


class Event(Message):
    """A line of the audit trail."""

    number: int
    at: Moment
    kind: EventKind
    actor: str
    key: str | None
    round: int
    data: dict[str, Any]
    digest: str | None = Field(
        default=None,
        description="SHA-256 of the whole event and of the digest of the one before it, in hex.",
    )


class Page(Message, Generic[T]):
    """One page of a list; `next` is the cursor of the next page, null on the last."""

    items: tuple[T, ...]
    next: str | None


class CampaignPage(Page[Campaign]):
    """A page of campaigns, oldest first."""


class RoundPage(Page[ClosedRound]):
    """A page of closed rounds."""


class EventPage(Page[Event]):
    """A page of the audit trail."""
