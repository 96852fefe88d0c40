"""One request with its retries, without any I/O: what both clients share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from affinity_bandits._version import __version__
from affinity_bandits.client._httpx import httpx
from affinity_bandits.client.errors import ServiceError, no_reply, refused
from affinity_bandits.client.requests import Request
from affinity_bandits.client.retries import TRANSIENT, Lost, Reply, Retries
from affinity_bandits.errors import InvalidInput
from affinity_bandits.wire import Problem
from affinity_bandits.wire.limits import API_KEY
from affinity_bandits.wire.values import number, whole

T = TypeVar("T")
OURS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)
"""Failures of a request that never left: a repeat would fail again."""


class Exchange(Generic[T]):
    """The tries of one request.

    Args:
        request: what is sent each time.
        retries: how often, and with which pauses.
    """

    def __init__(self, request: Request[T], retries: Retries) -> None:
        self.request = request
        self._retries = retries
        self._tries = 0
        self._last: Reply | Lost = Lost("nothing was sent")

    def pause_after(self, outcome: Reply | Lost) -> float | None:
        """Take in what a try brought; return how long to wait for the next, None if it is over."""
        self._tries += 1
        self._last = outcome
        return self._retries.pause(self._tries, outcome, transient=self.request.transient(outcome))

    def result(self) -> T:
        """Return what came of it.

        Raises:
            RequestRefused: the service said no.
            NoReply: no try brought a reply.
            ServiceError: a reply that is neither.
        """
        last, key = self._last, self.request.key
        if isinstance(last, Lost):
            raise no_reply(self._tries, None, "no_reply", last.reason, key)
        if not 200 <= last.status < 300:
            code, detail = _problem(last)
            if last.status in TRANSIENT:
                raise no_reply(self._tries, last.status, code, detail, key)
            raise refused(last.status, code, detail, key)
        try:
            return self.request.read(last.content)
        except ValueError:
            pass  # raised below, where no half-read reply hangs on to it
        raise ServiceError(
            f"the reply to {self.request.method} {self.request.path} is not one of the service; "
            f"is this its address, and its version that of this client ({__version__})?",
            status=last.status,
            code="not_understood",
            detail="the reply could not be read",
            idempotency_key=key,
        )


def reply_of(response: httpx.Response) -> Reply:
    """Return a reply as a plain value."""
    return Reply(response.status_code, response.content, response.headers.get("Retry-After"))


def lost_by(error: httpx.RequestError) -> Lost:
    """Return why no reply came, in words without anything secret.

    Raises:
        InvalidInput: the request cannot be sent at all.
    """
    if isinstance(error, OURS):
        raise InvalidInput("url", "an address that can be reached", Hidden(error)) from None
    return Lost(f"{type(error).__name__} ({error})" if str(error) else type(error).__name__)


def settings_of(url: str, key: str, timeout: float) -> dict[str, Any]:
    """Return how to make an httpx client; the key goes nowhere but into its headers."""
    seconds = number("timeout", timeout, low=0.001, high=86_400.0)
    headers: Mapping[str, str] = {
        "Authorization": f"Bearer {_checked_key(key)}",
        "User-Agent": f"affinity-bandits/{__version__}",
    }
    # Redirects are not followed: the key is for this address alone.
    return {"base_url": _checked_url(url), "headers": headers, "timeout": seconds}


def retries_of(attempts: int) -> Retries:
    """Return the schedule of tries."""
    return Retries(whole("attempts", attempts, low=1, high=1000))


def _problem(reply: Reply) -> tuple[str, str]:
    """Return code and detail of a reply that says no, whoever sent it."""
    try:
        problem = Problem.model_validate_json(reply.content)
    except ValueError:
        return f"http_{reply.status}", "the reply is not one of the service: is this its address?"
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
    """Words that stand for a value; shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
