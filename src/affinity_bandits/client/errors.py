"""Exceptions of the client: the service refused a request, or did not reply."""

from __future__ import annotations

from affinity_bandits.errors import AffinityError

ADVICE = {
    401: "check the API key: it may be mistyped, revoked or expired",
    403: "use an API key that has the scope this call needs",
    409: "repeat a request unchanged, or leave its idempotency key out so that a new one is made",
    413: "send less at once, or have the API key's largest body raised",
    429: "send fewer requests a second, or have the API key's rate raised",
}
"""What to do about a status, where the service's own words do not say it."""
LONGEST_DETAIL = 500


class ServiceError(AffinityError):
    """A request failed: it was refused, had no reply, or the reply was not understood.

    Attributes:
        status: the HTTP status; None where no reply came.
        code: a word that programs can rely on; "http" and the status where the reply was not
            the service's.
        detail: what the service said.
        idempotency_key: what a repeat must carry to be the same request; None for a reading one.
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

    It may be repeated with the same idempotency key, at any time.
    """


def refused(status: int, code: str, detail: str, key: str | None) -> ServiceError:
    """Return the exception for a reply that is not worth another try."""
    words = detail if len(detail) <= LONGEST_DETAIL else f"{detail[: LONGEST_DETAIL - 3]}..."
    advice = ADVICE.get(status)
    if status >= 500:
        advice = "the service failed; its log says why"
    text = f"{words} (HTTP {status}, {code})" + (f"; {advice}" if advice else "")
    kind = RequestRefused if 400 <= status < 500 else ServiceError
    return kind(text, status=status, code=code, detail=words, idempotency_key=key)


def no_reply(
    tries: int, status: int | None, code: str, detail: str, key: str | None
) -> ServiceError:
    """Return the exception for a request whose last try failed too."""
    advice = ADVICE.get(status or 0, "is the service up, and is this its address?")
    again = "" if key is None else f"; to repeat it safely, give key={key!r} again"
    times = "1 try" if tries == 1 else f"{tries} tries"
    text = f"no reply after {times}, the last: {detail}; {advice}{again}"
    return NoReply(text, status=status, code=code, detail=detail, idempotency_key=key)
