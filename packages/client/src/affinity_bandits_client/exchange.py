"""One request with its retries as a state machine."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx2

from affinity_bandits_client._version import __version__
from affinity_bandits_client.core import TRANSIENT, Outcome, Request
from affinity_bandits_client.errors import InvalidInput, NoReply, RequestRefused, ServiceError
from affinity_bandits_client.messages import Problem
from affinity_bandits_client.messages.base import API_KEY, check_number

T = TypeVar("T")
# Failures of a request that never left: a repeat would fail again.
OURS = (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol)
FIRST_PAUSE, LARGEST_BACKOFF = 0.1, 10.0  # seconds
LONGEST_PAUSE = 60.0  # a service that asks for more is given up
# What to do about a status, where the service's own words do not say it.
ADVICE = {
    401: "check the API key: it may be mistyped, revoked or expired",
    409: "repeat a request unchanged, or leave its idempotency key out so that a new one is made",
    413: "send less at once, or have the API key's largest body raised",
    429: "send fewer requests a second, or have the API key's rate raised",
}
AGAIN = "; to repeat it safely, give key={!r} again"
LONGEST_DETAIL = 500


class Exchange(Generic[T]):
    """One request and its tries, with growing pauses.

    Args:
        request: sent at every try.
        attempts: tries at most.
        spread: draws a number between two others, so that clients pause at different times.
    """

    def __init__(
        self,
        request: Request[T],
        attempts: int,
        spread: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.request = request
        self._attempts = attempts
        self._spread = spread
        self._tries = 0
        self._last: Outcome = "nothing was sent"

    def pause_after(self, outcome: Outcome) -> float | None:
        """Record a try's outcome; return the seconds until the next, None if it was the last."""
        self._tries += 1
        self._last = outcome
        asked = 0.0 if isinstance(outcome, str) else seconds_of(outcome.headers.get("Retry-After"))
        over = self._tries >= self._attempts or asked > LONGEST_PAUSE
        if over or not self.request.transient(outcome):
            return None
        backoff = min(LARGEST_BACKOFF, FIRST_PAUSE * 2.0 ** (self._tries - 1))
        return max(asked, backoff / 2) + self._spread(0.0, backoff / 2)

    def result(self) -> T:
        """Return the message in the last reply.

        Raises:
            RequestRefused: the service refused.
            NoReply: no try got a reply.
            ServiceError: the reply was not understood, or the service failed.
        """
        last = self._last
        if isinstance(last, str):
            raise self._no_reply(None, "no_reply", last)
        status = last.status_code
        if not 200 <= status < 300:
            code, detail = _problem(last)
            if status in TRANSIENT:
                raise self._no_reply(status, code, detail)
            raise self._refused(status, code, detail)
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
            idempotency_key=self.request.key,
        )

    def _refused(self, status: int, code: str, detail: str) -> ServiceError:
        words = detail if len(detail) <= LONGEST_DETAIL else f"{detail[: LONGEST_DETAIL - 3]}..."
        advice = ADVICE.get(status)
        if status == 409 and code != "key_reused":
            advice = None  # other conflicts have nothing to do with keys
        elif status >= 500:
            advice = "the service failed; its log says why"
        text = f"{words} (HTTP {status}, {code})" + (f"; {advice}" if advice else "")
        kind = RequestRefused if 400 <= status < 500 else ServiceError
        key = self.request.key
        return kind(text, status=status, code=code, detail=words, idempotency_key=key)

    def _no_reply(self, status: int | None, code: str, detail: str) -> ServiceError:
        advice = ADVICE.get(status or 0, "is the service up, and is this its address?")
        key = self.request.key
        again = "" if key is None else AGAIN.format(key)
        times = "1 try" if self._tries == 1 else f"{self._tries} tries"
        text = f"no reply after {times}, the last: {detail}; {advice}{again}"
        return NoReply(text, status=status, code=code, detail=detail, idempotency_key=key)


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do work in another thread, because time-outs of sockets are for each read.

    A thread that is given up ends when its reply does, or when nothing comes for `seconds`. While
    the interpreter ends, no thread can be started, and the work takes as long as it takes.

    Raises:
        TimeoutError: the work takes longer than `seconds`.
    """
    found: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            found.set_result(context.run(work))
        except BaseException as error:  # for the thread that waits
            found.set_exception(error)

    try:
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError:
        return work()
    return found.result(seconds)


def lost_by(error: httpx2.RequestError | TimeoutError, seconds: float) -> str:
    """Return why no reply came within these seconds, in words without secrets.

    Raises:
        InvalidInput: the request cannot be sent at all.
    """
    if isinstance(error, (TimeoutError, httpx2.TimeoutException)):
        return f"no whole reply within {seconds:g} s"
    if isinstance(error, OURS):
        raise InvalidInput("url", "an address that can be reached", Hidden(error)) from None
    return f"{type(error).__name__} ({error})" if str(error) else type(error).__name__


def settings_of(url: str, key: str, timeout: float) -> dict[str, Any]:
    """Return the arguments of an httpx2 client; the API key is only in its headers."""
    seconds = check_number("timeout", timeout, low=0.001, high=86_400.0)
    headers = {
        "Authorization": f"Bearer {_checked_key(key)}",
        "User-Agent": f"affinity-bandits/{__version__}",
    }
    # Redirects are not followed: the key is for this address alone.
    return {"base_url": _checked_url(url), "headers": headers, "timeout": seconds}


def seconds_of(retry_after: str | None) -> float:
    """Return the seconds that a Retry-After header asks for; 0 unless it is a positive number.

    >>> seconds_of("3"), seconds_of(None), seconds_of("soon")
    (3.0, 0.0, 0.0)
    """
    try:
        seconds = float(retry_after or 0.0)
    except ValueError:
        return 0.0
    return seconds if seconds > 0.0 else 0.0  # also where it is not a number


def _problem(reply: httpx2.Response) -> tuple[str, str]:
    """Return the code and detail of a refusal, by the service or by another server."""
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
        sound = parts.scheme in ("http", "https") and parts.port != 0 and httpx2.URL(url).host
    except (ValueError, httpx2.InvalidURL):
        sound = False
    if not sound or "@" in url or parts.query or parts.fragment:
        # What follows a name and a colon may be a password, so none of it is shown.
        raise InvalidInput("url", rule, Hidden("one with an @") if "@" in url else url)
    return url.rstrip("/")


def _checked_key(key: object) -> str:
    if isinstance(key, str):
        key = key.strip()  # a file with a key ends in a line end
    if not isinstance(key, str) or API_KEY.fullmatch(key) is None:
        # Said without the value, which may be most of a real key.
        found = f"a text of {len(key)} characters" if isinstance(key, str) else type(key).__name__
        raise InvalidInput("key", "an API key: ab_, 16 and 64 hexadecimal digits", Hidden(found))
    return key


class Hidden(str):
    """A description that is shown unquoted in place of a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
