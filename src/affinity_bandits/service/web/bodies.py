"""What requests carry; the bounds that a database column or a policy needs are all here."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator
from typing_extensions import TypedDict

from affinity_bandits.checks import LARGEST_COUNT
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.campaigns import LARGEST_LEASE
from affinity_bandits.service.description import (
    LARGEST_ROUND,
    LONGEST_LEASE,
    LONGEST_NAME,
    MOST_ARMS,
    SERVED,
    SHORTEST_LEASE,
    Description,
    described_by_plan,
    served_policy,
)
from affinity_bandits.service.idempotency import LONGEST_KEY
from affinity_bandits.service.scores import LARGEST_SCORE, to_units, total_to_units
from affinity_bandits.service.tells import LARGEST, MOST_ANSWERS, Tell

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
LARGEST_SUM = float(LARGEST_SCORE * MOST_ANSWERS)
_WORDS = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\\?\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+(?:"|.*)'
    r"|'[^'\n]*+(?:'|.*)"
    r"|#[^\n]*+",
    re.DOTALL,
)
"""Strings and comments of TOML; one without an end goes on to the end of the text."""
_DEEP_KEY = re.compile(r"(?<![^\n=,\[\]{}])(?:[^\n=,\[\]{}.]*+\.){10}")
"""A key of more than ten parts, where there are no strings. What tomllib takes to read one grows
with the square of the parts: a megabyte of them would take all the memory there is."""

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Number = Annotated[int, Field(ge=0, le=LARGEST)]
Score = Annotated[float, Field(ge=-LARGEST_SCORE, le=LARGEST_SCORE)]
Policy = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "A policy by its name, with settings as 'affinity policies' lists them."
            " Settings that speak of scores (sigma, thresholds) speak of scores mapped from the"
            " campaign's range to [0, 1].",
            "required": ["name"],
            "properties": {"name": {"enum": sorted(SERVED)}},
        }
    ),
]
Body = TypeVar("Body", bound=BaseModel)
_RANGE = (
    "An end of the range of scores. The policy is given scores mapped from it to [0, 1]; a plan"
    " has its own range."
)


def _given(**rules: Any) -> Any:
    """Return a field that may be left out, but not be null."""
    return Field(default=None, **rules)


class CampaignBody(BaseModel):
    """A campaign to be opened: by a policy and a horizon, or by a plan."""

    model_config = STRICT | ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["policy", "horizon"]},
                {"required": ["plan"], "not": {"required": ["horizon"]}},
            ]
        }
    )

    name: Name
    arms: Annotated[list[Name], Field(min_length=2, max_length=MOST_ARMS)]
    policy: Policy = _given()
    plan: str = _given(description="The text of a file written by 'affinity plan'.")
    horizon: int = _given(ge=1, le=LARGEST_COUNT)
    lease_seconds: float = Field(default=3600.0, ge=SHORTEST_LEASE, le=LONGEST_LEASE)
    lowest: Score = Field(default=0.0, description=_RANGE)
    highest: Score = Field(default=1.0, description=_RANGE)

    def description(self) -> Description:
        """Return the campaign as the core takes it.

        Raises:
            InvalidInput: it breaks a rule.
        """
        given = self.model_fields_set
        if ("policy" in given) == ("plan" in given):
            raise InvalidInput(
                "policy", "given where there is no plan, and only there", self.policy
            )
        if "plan" in given:
            if "horizon" in given:
                raise InvalidInput("horizon", "left out: the plan has one", self.horizon)
            return self._planned()
        if "horizon" not in given:
            raise InvalidInput("horizon", "given", None)
        return Description(
            self.name,
            tuple(self.arms),
            served_policy(self.policy),
            self.horizon,
            self.lease_seconds,
            self.lowest,
            self.highest,
        )

    def _planned(self) -> Description:
        ends = self.model_dump(include={"lowest", "highest"}, exclude_unset=True)
        with suppress(RecursionError):
            if not _DEEP_KEY.search(_WORDS.sub("_", self.plan)):
                return described_by_plan(
                    self.plan, self.name, self.arms, lease_seconds=self.lease_seconds, **ends
                )
        rule = "the text of a file written by 'affinity plan'"
        raise InvalidInput("plan", rule, "one with tables too deep in each other")


class AskBody(BaseModel):
    """A wish for slots."""

    model_config = STRICT

    count: int = Field(default=1, ge=1, le=LARGEST_LEASE, description="Slots at most.")
    listed: bool = Field(default=True, description="Whether to list every slot with its arm.")


class Answer(TypedDict):
    """The score of one slot."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    # A round has no more slots, and what comes after the last must fit eight bytes too.
    slot: Annotated[int, Field(ge=0, le=LARGEST_ROUND)]
    score: Score


class Total(TypedDict):
    """How many answers an arm of the lease has, and their sum."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    arm: Name
    count: Annotated[int, Field(ge=0, le=MOST_ANSWERS)]
    sum: (
        Annotated[float, Field(ge=-LARGEST_SUM, le=LARGEST_SUM)]
        | Annotated[str, Field(pattern=r"^-?[0-9]{1,12}(\.[0-9]{1,18})?$")]
    )


class TellBody(BaseModel):
    """Answers to slots of one lease: a score a slot, or a sum an arm."""

    model_config = STRICT | ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["answers"]}, {"required": ["totals"]}]}
    )

    lease: Number
    answers: list[Answer] = _given(min_length=1, max_length=MOST_ANSWERS)
    totals: list[Total] = _given(min_length=1, max_length=MOST_ANSWERS)

    @model_validator(mode="after")
    def _one_form(self) -> TellBody:
        if (self.answers is None) == (self.totals is None):
            raise ValueError("answers must be given where there are no totals, and only there")
        return self


class LineBody(TellBody):
    """A tell as a line among others."""

    key: str = _given(min_length=1, max_length=LONGEST_KEY, description="An idempotency key.")


def to_tell(body: TellBody, key: str, actor: str, names: tuple[str, ...]) -> Tell:
    """Return a tell as the core takes it.

    Args:
        body: what came.
        key: the idempotency key.
        actor: who tells.
        names: those of the campaign's arms; not looked at where slots are told.
    """
    if body.answers is not None:
        return Tell(
            body.lease,
            key,
            actor,
            tuple([one["slot"] for one in body.answers]),
            tuple([to_units(one["score"]) for one in body.answers]),
        )
    arms = {name: arm for arm, name in enumerate(names)}
    for one in body.totals:
        if one["arm"] not in arms:
            # Not the closest name: with a thousand long ones it takes seconds to find.
            raise InvalidInput("arm", "the name of an arm of the campaign", one["arm"])
    return Tell(
        body.lease,
        key,
        actor,
        tuple(arms[one["arm"]] for one in body.totals),
        tuple(total_to_units(one["sum"], one["count"]) for one in body.totals),
        tuple(one["count"] for one in body.totals),
    )
