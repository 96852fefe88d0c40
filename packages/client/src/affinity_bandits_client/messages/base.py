"""Base classes, validation helpers and limits of all messages."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from affinity_bandits_client.errors import InvalidInput, shown

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


# What an API key may do: lease slots, answer them, read, make or stop campaigns.
SCOPES = ("ask", "tell", "read", "admin")
KEY_ID = "^[0-9a-f]{16}$"
API_KEY = re.compile(r"ab_([0-9a-f]{16})_([0-9a-f]{64})")  # its id and its secret
MOST_TELLERS = 100  # API keys that a campaign names
SLOWEST_RATE, FASTEST_RATE = 0.001, 1e6  # requests per second of an API key
SMALLEST_LIMIT, LARGEST_LIMIT = 1024, 2**30  # bytes that an API key's largest body may be set to
LARGEST_BODY = 2**20  # bytes, unless the API key says otherwise
BULK_TIMES = 64  # a request of lines may be so many times as large as a key's largest body
LONGEST_LINE = 2**20

IDEMPOTENCY_KEY = "Idempotency-Key"  # the header that makes a repeated request the same request
LONGEST_KEY = 200
ROOM_FOR_LINE = 20  # characters of an idempotency key reserved for the number of a line

MOST_ARMS = 1000
# Characters of a campaign's policy as JSON: enough for a schedule of a thousand rounds, the most
# that are ever played. All of it is read at the end of each round.
LARGEST_POLICY = 32_768
LONGEST_NAME = 200
MOST_JUDGES = 10**12  # of one group, in a round; also its members in a committee
LONGEST_RATER = 64  # characters of a rater's pseudonym
LARGEST_HORIZON = 10**15
SHORTEST_LEASE, LONGEST_LEASE = 0.001, 30 * 86_400.0  # seconds
LARGEST_SCORE = 10**5  # absolute value: the sum of a whole lease, in units, fits eight bytes
UNITS_PER_ONE = 10**9  # scores are whole numbers of 1e-9, so that sums are exact

LARGEST_LEASE = 10_000  # slots
MOST_ANSWERS = 10_000  # of a tell
LARGEST_NUMBER = 2**63 - 2  # of a slot or lease: the end of a range of slots fits eight bytes
LARGEST_ROUND = 2**62  # slots of a round that never ends

MOST_ITEMS = 200  # of a page
LONGEST_CURSOR = 100


def check_number(parameter: str, value: Any, *, low: float, high: float) -> float:
    """Return a value as a float, after checking that it is from low to high.

    >>> check_number("score", 1, low=0, high=1)
    1.0
    """
    # Not a number is in no range either.
    if not _is_real(value) or not low <= value <= high:
        raise InvalidInput(parameter, f"a number from {low:,} to {high:,}", value)
    return float(value)


def check_whole(parameter: str, value: Any, *, low: int, high: int) -> int:
    """Return a value as an int from low to high; a float such as 1e6 is taken if it is whole.

    >>> check_whole("horizon", 1e6, low=1, high=10**15)
    1000000
    """
    if not _is_real(value) or not low <= value <= high or int(value) != value:
        raise InvalidInput(parameter, f"a whole number from {low:,} to {high:,}", value)
    return int(value)


def check_list(parameter: str, value: object, rule: str) -> list[Any]:
    """Return a sequence as a list."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(parameter, rule, value)
    return list(value)


def check_key(key: object, parameter: str = IDEMPOTENCY_KEY, *, longest: int = LONGEST_KEY) -> None:
    """Check an idempotency key."""
    rule = f"1 to {longest} printable ASCII characters without spaces"
    if not isinstance(key, str) or not 1 <= len(key) <= longest:
        raise InvalidInput(parameter, rule, key)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(parameter, rule, key)


def check_rater(rater: str) -> str:
    """Return a rater's pseudonym.

    Raises:
        ValueError: it may be more than a pseudonym.
    """
    plain = 1 <= len(rater) <= LONGEST_RATER and rater.isascii() and rater.isprintable()
    if not plain or " " in rater or "@" in rater:
        raise ValueError(
            f"rater must be a pseudonym of 1 to {LONGEST_RATER} printable ASCII characters without"
            " spaces, and no e-mail address: the audit trail is never changed, so nothing that"
            f" names a person may get into it, got {shown(rater)}"
        )
    return rater


def check_shown(name: str) -> str:
    """Return a name that pages show.

    Raises:
        PydanticCustomError: it has characters or spaces that nobody sees.
    """
    if not name.isprintable() or name != name.strip():
        raise PydanticCustomError(
            "shown_name",
            "Name should be of printable characters, not beginning or ending with a space",
        )
    return name


def new_key() -> str:
    """Return a new idempotency key."""
    return uuid.uuid4().hex


def broken_rule(errors: Sequence[Any]) -> str:
    """Return the first of pydantic's errors in words: parameter, rule, value."""
    first = errors[0]
    place = [part for part in first["loc"] if part not in {"path", "query", "header", "body"}]
    name = ""
    for part in place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    name = shown(name)[1:-1] or "body"
    rule = str(first["msg"]).removeprefix("Value error, ")
    match first["type"]:
        case "missing":
            return f"{name} must be given"
        case "extra_forbidden":
            return f"{name} must be left out: there is no such member"
        case "json_invalid":
            return f"body must be JSON: {rule.removeprefix('Invalid JSON: ')}"
        case "invalid-json-value":
            return f"{name} must be what JSON can say, got {shown(first.get('input'))}"
        case "value_error":
            return rule
    _, _, demand = rule.partition(" should ")  # as in "Tuple should have at least 2 items"
    demand = demand.partition(" after validation")[0] or f"be {rule[0].lower()}{rule[1:]}"
    return f"{name} must {demand}, got {shown(first.get('input'))}"


def _is_real(value: object) -> bool:
    # The first test is for speed: an abstract class takes longer than the rest of a tell.
    return type(value) in (float, int) or (isinstance(value, Real) and not isinstance(value, bool))


JSON = "application/json"
NDJSON = "application/x-ndjson"
PROBLEM_JSON = "application/problem+json"

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
"""Its limit is stronger than a `max_length` of a field: another limit takes another type."""
ShownName = Annotated[Name, AfterValidator(check_shown)]
Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Score = Annotated[float, Field(ge=-LARGEST_SCORE, le=LARGEST_SCORE)]
CampaignId = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
KeyId = Annotated[str, Field(pattern=KEY_ID)]
Moment = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


def usually_one_of(*words: str) -> WithJsonSchema:
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
    """The state of the process, in one word, and why databases cannot be used, by their names."""

    sparse = True
    status: str
    away: dict[str, str] | None = None


Settings = dict[str, JsonValue]
