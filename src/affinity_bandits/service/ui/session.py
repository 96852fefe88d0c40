"""The login of /ui: an API key is entered once, and the browser keeps a read-only one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import Response

from affinity_bandits.service.core.backend import Backend, Parts
from affinity_bandits.service.core.keys import Principal, forget_sessions, make_key, revoke_key
from affinity_bandits.service.problems import TooMany

COOKIE = "affinity_session"
PATH = "/ui"
LASTS = timedelta(hours=12)
LARGEST_FORM = 8192
NEEDED = "read"
PAGE_TOKENS = 20.0
"""What a page costs of a second's worth of requests: it takes about as long as so many of them."""


class NoSession(Exception):  # noqa: N818 - not an error: whoever comes is asked to log in
    """The page requires a login.

    Attributes:
        ended: whether there was a session, which is over.
    """

    def __init__(self, *, ended: bool) -> None:
        super().__init__()
        self.ended = ended


class BadForm(Exception):  # noqa: N818 - said to the reader in words
    """A form that none of our pages sends."""


class Visitor(NamedTuple):
    """A visitor who is logged in: the tenant, and the parts of the core to read from."""

    parts: Parts
    tenant: int


def parts_of(request: Request) -> Parts:
    """Return the parts of the core."""
    backend: Backend = request.app.state.backend
    return backend.parts


def host_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


async def visitor(request: Request) -> AsyncIterator[Visitor]:
    """Yield the visitor who is logged in, when it is the tenant's turn.

    Raises:
        NoSession: nobody is.
        TooMany: too many pages are looked at by the key that was entered.
    """
    parts, text = parts_of(request), request.cookies.get(COOKIE)
    if text is None:
        raise NoSession(ended=False)
    principal = await parts.keys.principal(text, host_of(request))
    if principal is None or NEEDED not in principal.scopes:
        raise NoSession(ended=True)
    # Apart from requests and logins, so that the page after a login is there for slow keys, too.
    _pay(request, principal, f"pages of {principal.actor}")
    async with request.app.state.gate.turns(principal.tenant):
        yield Visitor(parts, principal.tenant)


async def log_in(request: Request, principal: Principal, response: Response) -> None:
    """Give the browser a read-only key, which has the limits of the one that was entered.

    It expires no later than that one.

    Raises:
        TooMany: there are too many logins with it, or other requests.
    """
    _pay(request, principal, principal.actor)
    ends = datetime.now(UTC) + LASTS
    if principal.expires_at is not None:
        ends = min(ends, principal.expires_at)
    pool, tenant, shown = parts_of(request).pool, principal.tenant, principal.actor
    await forget_sessions(pool, tenant)
    text = await make_key(
        pool,
        tenant,
        "browser session",
        [NEEDED],
        requests_per_second=principal.requests_per_second,
        largest_body=principal.largest_body,
        expires_at=ends,
        parent=shown,
    )
    response.set_cookie(
        COOKIE,
        text,
        max_age=int(LASTS.total_seconds()),
        path=PATH,
        secure=_secure(request),
        httponly=True,
        samesite="strict",
    )


async def log_out(request: Request, response: Response) -> None:
    """Revoke the browser's key and delete its cookie."""
    parts, text = parts_of(request), request.cookies.get(COOKIE)
    principal = None if text is None else await parts.keys.principal(text, host_of(request))
    if principal is not None:
        await revoke_key(parts.pool, principal.key_id)
    forget(request, response)


def forget(request: Request, response: Response) -> None:
    """Delete the browser's cookie."""
    secure = _secure(request)
    response.delete_cookie(COOKIE, path=PATH, secure=secure, httponly=True, samesite="strict")


def _pay(request: Request, principal: Principal, bucket: str) -> None:
    # A session's bucket is that of its key: who logs in again has another session, and no more.
    rate = principal.requests_per_second
    wait = request.app.state.limiter.take(bucket, rate, PAGE_TOKENS)
    if wait > 0:
        raise TooMany(rate, wait)


def _secure(request: Request) -> bool:
    """Return whether the browser may send the cookie by HTTPS alone."""
    return bool(request.app.state.secure_cookies) or request.scope["scheme"] == "https"


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a small form.

    Raises:
        BadForm: it comes from another site, or is larger than any form of ours.
    """
    # A login needs no cookie, so SameSite alone would let others log somebody in as themselves.
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise BadForm("The form was sent from another site.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            raise BadForm("The form is too large.")
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=10)
    except ValueError:
        raise BadForm("The form cannot be read.") from None
    return {name: values[0] for name, values in fields.items()}
