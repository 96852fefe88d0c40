"""Validation helpers that need neither numpy nor the rest of the package."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from affinity_bandits.errors import InvalidInput, shown
from affinity_bandits.wire.limits import IDEMPOTENCY_KEY, LONGEST_KEY, LONGEST_RATER


def number(parameter: str, value: Any, *, low: float, high: float) -> float:
    """Return a value as a float, after checking that it is from low to high.

    >>> number("score", 1, low=0, high=1)
    1.0
    """
    # Not a number is in no range either.
    if not _is_real(value) or not low <= value <= high:
        raise InvalidInput(parameter, f"a number from {low:,} to {high:,}", value)
    return float(value)


def whole(parameter: str, value: Any, *, low: int, high: int) -> int:
    """Return a value as an int from low to high; a float such as 1e6 is taken if it is whole.

    >>> whole("horizon", 1e6, low=1, high=10**15)
    1000000
    """
    if not _is_real(value) or not low <= value <= high or int(value) != value:
        raise InvalidInput(parameter, f"a whole number from {low:,} to {high:,}", value)
    return int(value)


def listed(parameter: str, value: object, rule: str) -> list[Any]:
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


def new_key() -> str:
    """Return an idempotency key for a request that has none."""
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
    rule = rule.removeprefix("Input should be ").removeprefix("Value should be ")
    return f"{name} must be {rule[0].lower()}{rule[1:]}, got {shown(first.get('input'))}"


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
