"""The exceptions that the client raises.

    AffinityError
    ├── InvalidInput          a value breaks a rule; nothing was sent. Also a ValueError.
    ├── NotSupported          it cannot be done on this system.
    ├── ServiceError          a request failed.
    │   ├── RequestRefused    the service refused it; a repeat would be refused again.
    │   └── NoReply           whether it was carried out is unknown; repeat it with the same key.
    └── StreamFull            a stream has no room for an answer.

The library `affinity-bandits` has exceptions of its own, because the client works without it.
"""

from __future__ import annotations

from typing import Any


class AffinityError(Exception):
    """The base class of the client's exceptions, which can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class InvalidInput(AffinityError, ValueError):  # noqa: N818 - reads as the fact it states
    """A value breaks a rule.

    Attributes:
        parameter: the name of the argument, as the user wrote it.
        rule: the values that are accepted.
        value: the value that was given.
    """

    def __init__(self, parameter: str, rule: str, value: object) -> None:
        self.parameter = parameter
        self.rule = rule
        self.value = value
        super().__init__(f"{parameter} must be {rule}, got {shown(value)}")


class NotSupported(AffinityError):  # noqa: N818 - reads as the fact it states
    """The request is well formed, but cannot be done on this system."""


class ServiceError(AffinityError):
    """A request failed: it was refused, had no reply, or the reply was not understood.

    Attributes:
        status: the HTTP status; None if there was no reply.
        code: a word that programs can rely on; "http" and the status if another server replied.
        detail: the service's words.
        idempotency_key: the key that a repeat must carry to be the same request; None for reading
            requests.
    """

    def __init__(
        self, text: str, *, status: int | None, code: str, detail: str, idempotency_key: str | None
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.detail = detail
        self.idempotency_key = idempotency_key


class RequestRefused(ServiceError):  # noqa: N818 - reads as the fact it states
    """The service refused the request; a repeat would be refused again."""


class NoReply(ServiceError):  # noqa: N818 - reads as the fact it states
    """No try got a conclusive reply, so whether the request was carried out is unknown.

    Repeat it with the same idempotency key, at any time.
    """


class StreamFull(AffinityError):  # noqa: N818 - reads as the fact it states
    """An answer was refused, because too many wait for the service or the disk is full."""


def _restored(cls: type[AffinityError], args: tuple[Any, ...], said: dict[str, Any]) -> Any:
    """Return an error of another process; its constructor may take other arguments."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(said)
    return error


def shown(value: object) -> str:
    """Return the text of a value for a message: one line of at most 120 characters."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # more digits, or more depth, than Python will print
        text = f"a value of type {type(value).__name__} that is too long to print"
    return text if len(text) <= 120 else f"{text[:117]}..."
