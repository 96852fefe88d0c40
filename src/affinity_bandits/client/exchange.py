"""One request with its retries, without any I/O: what both clients share."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from affinity_bandits._version import __version__
from affinity_bandits.client.errors import ServiceError, no_reply, refused
from affinity_bandits.client.requests import TRANSIENT, Outcome, Request
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire import Problem
from affinity_bandits.wire.limits import API_KEY
from affinity_bandits.wire.values import number, whole

T = TypeVar("T")
OURS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)
"""Failures of a request that never left: a repeat would fail again."""
FIRST_PAUSE, LARGEST_BACKOFF = 0.1, 10.0
LONGEST_PAUSE = 60.0
"""Seconds; a service that asks for more patience than that is given up."""


@dataclass(frozen=True)
class Retries:
    """A bounded number of tries with growing pauses.

    Args:
        attempts: tries at most.
        spread: a number between two others, for pauses that do not keep step with other clients'.
    """

    attempts: int
    spread: Callable[[float, float], float] = random.uniform

    def pause(self, tries: int, retry_after: str | None = None) -> float | None:
        """Return how many seconds to wait for the next try; None if there is none.

        Args:
            tries: made so far.
            retry_after: what the last reply asked for.
        """
        asked = seconds_of(retry_after)
        if tries >= self.attempts or asked > LONGEST_PAUSE:
            return None
        backoff = min(LARGEST_BACKOFF, FIRST_PAUSE * 2.0 ** (tries - 1))
        return max(asked, backoff / 2) + self.spread(0.0, backoff / 2)


class Exchange(Generic[T]):
    """One request and its tries.

    Args:
        request: what is sent each time.
        retries: how often, and with which pauses.
    """

    def __init__(self, request: Request[T], retries: Retries) -> None:
        self.request = request
        self._retries = retries
        self._tries = 0
        self._last: Outcome = "nothing was sent"

    def pause_after(self, outcome: Outcome) -> float | None:
        """Record a try's outcome; return the seconds until the next, None if it was the last."""
        self._tries += 1
        self._last = outcome
        if not self.request.transient(outcome):
            return None
        asked = None if isinstance(outcome, str) else outcome.headers.get("Retry-After")
        return self._retries.pause(self._tries, asked)

    def result(self) -> T:
        """Return the message in the last reply.

        Raises:
            RequestRefused: the service said no.
            NoReply: no try brought a reply.
            ServiceError: the reply was not understood, or the service failed.
        """
        last, key = self._last, self.request.key
        if isinstance(last, str):
            raise no_reply(self._tries, None, "no_reply", last, key)
        status = last.status_code
        if not 200 <= status < 300:
            code, detail = _problem(last)
            if status in TRANSIENT:
                raise no_reply(self._tries, status, code, detail, key)
            raise refused(status, code, detail, key)
        try:
            return self.request.read(last.content)
        except ValueError:
            pass  # raised below, where no half-read reply hangs on to it
        raise ServiceError(
            f"the reply to {self.request.method} {self.request.path} is not one of the service; "
            f"is this its address, and its version that of this client ({__version__})?",
            status=status,
            code="not_understood",
            detail="the reply could not be read",
            idempotency_key=key,
        )


def lost_by(error: httpx.RequestError) -> str:
    """Return why no reply came, in words without anything secret.

    Raises:
        InvalidInput: the request cannot be sent at all.
    """
    if isinstance(error, OURS):
        raise InvalidInput("url", "an address that can be reached", Hidden(error)) from None
    return f"{type(error).__name__} ({error})" if str(error) else type(error).__name__


def settings_of(url: str, key: str, timeout: float) -> dict[str, Any]:
    """Return the arguments of an httpx client; the API key is nowhere but in its headers."""
    seconds = number("timeout", timeout, low=0.001, high=86_400.0)
    headers = {
        "Authorization": f"Bearer {_checked_key(key)}",
        "User-Agent": f"affinity-bandits/{__version__}",
    }
    # Redirects are not followed: the key is for this address alone.
    return {"base_url": _checked_url(url), "headers": headers, "timeout": seconds}


def retries_of(attempts: int) -> Retries:
    """Return the schedule for this number of tries."""
    return Retries(whole("attempts", attempts, low=1, high=1000))


def seconds_of(retry_after: str | None) -> float:
    """Return the seconds that a Retry-After header asks for; 0 if it has no valid value.

    >>> seconds_of("3"), seconds_of(None), seconds_of("soon")
    (3.0, 0.0, 0.0)
    """
    if retry_after is None:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            until = parsedate_to_datetime(retry_after)
        except ValueError:
            return 0.0
        zoned = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        seconds = (zoned - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0.0 else 0.0  # also where it is not a number


def _problem(reply: httpx.Response) -> tuple[str, str]:
    """Return the code and detail of a reply that refuses a request, whoever sent it."""
    try:
        problem = Problem.model_validate_json(reply.content)
    except ValueError:
        words = "the reply is not one of the service: is this its address?"
        return f"http_{reply.status_code}", words
    return problem.code, problem.detail


def _checked_url(url: object) -> str:
    rule = "an address such as https://decisions.example.com, without a name or password in it"
    if not isinstance(url, str):
        raise InvalidInput("url", rule, Hidden(type(url).__name__))
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.port != 0 and httpx.URL(url).host
    except (ValueError, httpx.InvalidURL):
        sound = False
    if not sound or "@" in url or parts.query or parts.fragment:
        # What follows a name and a colon may be a password, so none of it is shown.
        raise InvalidInput("url", rule, Hidden("one with an @") if "@" in url else url)
    return url.rstrip("/")


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or API_KEY.fullmatch(key) is None:
        # Said without the value, which may be a real key with a line end after it.
        found = f"a text of {len(key)} characters" if isinstance(key, str) else type(key).__name__
        raise InvalidInput("key", "an API key: ab_, 16 and 64 hexadecimal digits", Hidden(found))
    return key


class Hidden(str):
    """A description that is shown in place of a value, without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
