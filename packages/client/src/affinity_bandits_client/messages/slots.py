"""Messages about slots: asked for, leased, answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, NotRequired, Self

from pydantic import AfterValidator, FailFast, Field, SkipValidation, model_validator, with_config
from typing_extensions import TypedDict

from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.messages import base
from affinity_bandits_client.messages.base import (
    Body,
    CampaignId,
    Message,
    Moment,
    Name,
    Number,
    Score,
    check_list,
    check_number,
    check_rater,
    given,
)

__all__ = [
    "Ask",
    "AskBlock",
    "Asked",
    "AskedBlock",
    "Block",
    "BlockScores",
    "Finished",
    "Lease",
    "ListedSlot",
    "Rater",
    "Raters",
    "Release",
    "Released",
    "ScoreCount",
    "Scores",
    "Slot",
    "SlotScore",
    "Tell",
    "TellBlock",
    "TellLine",
    "Told",
    "ToldLine",
    "Total",
    "Wait",
]

# The score of each slot by its number; or those of all slots of a lease, in their order.
Scores = Mapping[int, float] | Sequence[float]
DECIMALS = 9  # of a score: units are 1e-9

Pseudonym = Annotated[
    str,
    AfterValidator(check_rater),
    Field(min_length=1, json_schema_extra={"maxLength": base.LONGEST_RATER}),
]


class Ask(Body):
    """A request for up to `count` slots."""

    count: int = Field(default=1, ge=1, le=base.LARGEST_LEASE, description="Slots at most.")
    listed: bool = Field(default=True, description="Whether to list every slot with its arm.")


class Slot(NamedTuple):
    """One choice to be made: take somebody from this group and report the score."""

    slot: int
    arm: str


class ListedSlot(TypedDict):
    """A slot and the arm it belongs to."""

    slot: int
    arm: str


class Rater(NamedTuple):
    """Who gave a score: a pseudonym, and the group of the campaign that they belong to, if any."""

    rater: str | None = None
    group: str | None = None


# The rater of all scores; or the rater of each slot by its number, or of all in their order.
Raters = Rater | Mapping[int, Rater] | Sequence[Rater]


@with_config(Body.model_config)
class SlotScore(TypedDict):
    """The score of one slot and, for the audit trail, who gave it and the group they belong to."""

    slot: Annotated[int, Field(ge=0, le=base.LARGEST_ROUND)]
    score: Score
    rater: NotRequired[Pseudonym]
    rater_group: NotRequired[Name]


@with_config(Body.model_config)
class ScoreCount(TypedDict):
    """A score, and how many answers have it."""

    score: Score
    count: Annotated[int, Field(ge=1, le=base.MOST_ANSWERS)]


class Total(Body):
    """How often each score was given to an arm in a lease."""

    arm: Name
    scores: Annotated[list[ScoreCount], FailFast()] = Field(
        min_length=1, max_length=base.MOST_ANSWERS, description="Every score once."
    )


class Lease(Message):
    """Slots that are yours until the lease expires; unanswered ones may then go to others."""

    sparse = True

    status: Literal["leased"]
    number: int = Field(
        validation_alias="lease",
        serialization_alias="lease",
        description="Names the lease within the campaign.",
    )
    round: int
    arms: tuple[str, ...] = Field(description="Slot s is of arms[s mod n].")
    runs: tuple[tuple[int, int], ...] = Field(description="The slots as runs of (first, count).")
    # Not checked again: the service fills it in, and our client goes by the runs.
    listed: SkipValidation[list[ListedSlot] | None] = Field(
        default=None,
        validation_alias="slots",
        serialization_alias="slots",
        description="Left out unless 'listed'.",
    )
    expires_at: Moment
    campaign: CampaignId

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    @property
    def slots(self) -> list[Slot]:
        """Every slot with its group, in the order in which scores are listed."""
        return [Slot(slot, self.arms[slot % len(self.arms)]) for slot in self._numbers()]

    def answers(self, scores: Scores) -> dict[int, float]:
        """Return scores by slot, checked against the lease."""
        if isinstance(scores, Mapping):
            by_slot = dict(scores)
            strange = sorted(map(repr, by_slot.keys() - set(self._numbers())))
            if strange:
                raise InvalidInput("scores", f"for slots of lease {self.number}", strange)
        else:
            ordered = check_list("scores", scores, "a list of scores, or scores by slot")
            if len(ordered) != len(self):
                raise InvalidInput("scores", f"{len(self)} of them, one a slot", len(ordered))
            by_slot = dict(zip(self._numbers(), ordered, strict=True))
        if not by_slot:
            raise InvalidInput("scores", "one or more", scores)
        return {
            int(slot): check_number(
                f"score of slot {slot}", one, low=-base.LARGEST_SCORE, high=base.LARGEST_SCORE
            )
            for slot, one in by_slot.items()
        }

    def totals(self, scores: Scores) -> list[Total]:
        """Return how often each group was given each score, as `tell_totals` takes it.

        Scores are taken to nine decimals, as the service keeps them.

        >>> lease = Lease(status="leased", number=2, round=0, arms=("a", "b"), runs=((0, 3),),
        ...               expires_at="2026-01-01T00:00:00+00:00", campaign="id")
        >>> [(total.arm, total.scores) for total in lease.totals([0.5, 1, 0.5])]
        [('a', [{'score': 0.5, 'count': 2}]), ('b', [{'score': 1.0, 'count': 1}])]
        """
        given: dict[str, Counter[float]] = {}
        for slot, score in self.answers(scores).items():
            arm = self.arms[slot % len(self.arms)]
            given.setdefault(arm, Counter())[round(score, DECIMALS)] += 1
        return [
            Total(arm=arm, scores=[{"score": one, "count": n} for one, n in counts.items()])
            for arm, counts in given.items()
        ]

    def _numbers(self) -> Iterator[int]:
        for first, count in self.runs:
            yield from range(first, first + count)


class Wait(Message):
    """Ask again later: all slots, or as many as may be under way at once, are leased.

    Or the judges of the round are still to be named, or no block is left for raters of this group.
    """

    sparse = True

    status: Literal["wait"]
    outstanding: int = Field(description="Slots that are out and have no answer yet.")
    retry_after: float = Field(
        description="Seconds until the first of them may be offered again, at the latest; any"
        " answer may come sooner and make room."
    )
    reason: str | None = Field(
        default=None,
        description="What the round waits for, where it is not answers: who is to judge it; or why"
        " there is no block for raters of this group.",
    )


class Finished(Message):
    """The campaign is exhausted or stopped, so it hands out no more slots.

    One that is decided hands out no more blocks.
    """

    status: Literal["decided", "exhausted", "stopped"]


Asked = Annotated[Lease | Wait | Finished, Field(discriminator="status")]


class AskBlock(Body):
    """A request for a block, by the group of the rater who is to score it."""

    rater_group: Name = given(
        description="The group of the campaign that the rater belongs to; left out for people of"
        " no group."
    )
    rater: Pseudonym = given(description="A pseudonym of the rater, for the audit trail.")


# The score of each group of a block by its name; or those of all groups, in their order.
BlockScores = Mapping[str, float] | Sequence[float]


class Block(Message):
    """A block: one rater scores one candidate of each of these groups, in this order.

    All scores are told together, before the block expires, or none of them counts. Draw the
    candidates of a group by lot.
    """

    status: Literal["given"]
    number: int = Field(
        validation_alias="lease",
        serialization_alias="lease",
        description="Names the block within the campaign.",
    )
    round: int
    rater_group: str | None = Field(description="Of its rater; null: of no group.")
    rater: str | None = Field(description="The pseudonym of the rater, where it was told.")
    groups: tuple[str, ...] = Field(description="In the order of the lot.")
    expires_at: Moment
    campaign: CampaignId

    def in_order(self, scores: BlockScores) -> list[float]:
        """Return scores in the order of the groups, checked against the block."""
        if isinstance(scores, Mapping):
            if scores.keys() != set(self.groups):
                rule = f"a score for each of {', '.join(self.groups)}"
                raise InvalidInput("scores", rule, sorted(map(repr, scores)))
            ordered = [scores[group] for group in self.groups]
        else:
            rule = "a list of scores, or scores by group"
            ordered = check_list("scores", scores, rule)
            if len(ordered) != len(self.groups):
                rule = f"{len(self.groups)} of them, one for each group of the block"
                raise InvalidInput("scores", rule, len(ordered))
        return [
            check_number(f"score of {group}", one, low=-base.LARGEST_SCORE, high=base.LARGEST_SCORE)
            for group, one in zip(self.groups, ordered, strict=True)
        ]


AskedBlock = Annotated[Block | Wait | Finished, Field(discriminator="status")]


class TellBlock(Body):
    """All scores of a block, in the order of its groups."""

    lease: Number
    scores: Annotated[list[Score], FailFast()] = Field(min_length=1, max_length=base.MOST_ARMS)


class Release(Body):
    """Give back a lease or a block: what is unanswered can be handed out again at once."""

    lease: Number


class Released(Message):
    """How many slots were given back; 0 if all had answers, or other leases, by then."""

    released: int


class Tell(Body):
    """Answers to slots of one lease: a score per slot, or a total per arm."""

    lease: Number
    answers: Annotated[list[SlotScore], FailFast()] = given(
        min_length=1, max_length=base.MOST_ANSWERS
    )
    totals: Annotated[list[Total], FailFast()] = given(min_length=1, max_length=base.MOST_ANSWERS)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.answers is None) == (self.totals is None):
            raise ValueError("answers must be given where there are no totals, and only there")
        return self


class TellLine(Tell):
    """A tell as one line of a bulk request."""

    key: str = given(min_length=1, max_length=base.LONGEST_KEY, description="An idempotency key.")


class Told(Message):
    """How many answers of a tell were counted, late or duplicate."""

    counted: int = Field(description="Entered the comparison.")
    late: int = Field(
        description="Came after the end of their round, or on an expired lease after another"
        " answer; on record, not in the sums."
    )
    duplicate: int = Field(
        description="Their slot had an answer already, and the lease was still good; the same."
    )


class ToldLine(Message):
    """The result of one line of a bulk request: its answers, or why it was refused."""

    sparse = True

    line: int = Field(description="Which one, from 1.")
    status: int = Field(description="Its HTTP status.")
    counted: int | None = None
    late: int | None = None
    duplicate: int | None = None
    code: str | None = Field(default=None, description="A word that programs can rely on.")
    detail: str | None = Field(default=None, description="The same in words.")

    @property
    def told(self) -> Told | None:
        """The result of its answers; None if it was refused."""
        if self.counted is None or self.late is None or self.duplicate is None:
            return None
        return Told(counted=self.counted, late=self.late, duplicate=self.duplicate)
