"""Base classes and types of all messages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)

from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire.limits import KEY_ID, LARGEST_NUMBER, LARGEST_SCORE, LONGEST_NAME
from affinity_bandits.wire.values import broken_rule

__all__ = [
    "JSON",
    "NDJSON",
    "PROBLEM_JSON",
    "BrokenRule",
    "CampaignId",
    "KeyId",
    "Message",
    "Problem",
    "Status",
]

JSON = "application/json"
NDJSON = "application/x-ndjson"
PROBLEM_JSON = "application/problem+json"

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Score = Annotated[float, Field(ge=-LARGEST_SCORE, le=LARGEST_SCORE)]
CampaignId = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
KeyId = Annotated[str, Field(pattern=KEY_ID)]
Moment = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


def one_of(*words: str) -> WithJsonSchema:
    """Return an annotation that describes a `str` as one of these words.

    Other words are accepted all the same: a newer service may have more of them.
    """
    return WithJsonSchema({"type": "string", "enum": list(words)})


def given(**rules: Any) -> Any:
    """Return a field that may be left out, but must not be null."""
    return Field(default=None, **rules)


class BrokenRule(InvalidInput):
    """A message breaks a rule; raised before it is sent."""

    def __init__(self, error: ValidationError) -> None:
        errors = error.errors(include_url=False, include_context=False)
        super().__init__(str(errors[0]["loc"]), errors[0]["msg"], errors[0]["input"])
        self.args = (broken_rule(errors),)


class Message(BaseModel):
    """A message of the service; unknown members are ignored."""

    model_config = ConfigDict(
        frozen=True, from_attributes=True, validate_by_name=True, validate_by_alias=True
    )

    sparse: ClassVar[bool] = False
    """Whether a member that is None is left out, instead of said to be null."""

    def __str__(self) -> str:
        return repr(self)

    def encoded(self) -> bytes:
        """Return the message as JSON."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=self.sparse)


class Body(Message):
    """The body of a request; unknown members are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    sparse = True

    @classmethod
    def checked(cls, **members: Any) -> Self:
        """Return a body made from a caller's arguments.

        Raises:
            BrokenRule: one of them breaks a rule.
        """
        try:
            return cls(**members)
        except ValidationError as error:
            raise BrokenRule(error) from None


class Problem(Message):
    """Why a request was refused (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="Parameter, rule and value.")
    code: str = Field(description="A word that programs can rely on.")
    request_id: str | None = Field(
        default=None, description="Under which the service's log has the request."
    )


class Status(Message):
    """The state of the process, in one word."""

    status: str


Settings = dict[str, JsonValue]
