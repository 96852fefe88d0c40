"""The login of /ui: an API key is entered once, and the browser keeps a read-only one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import Response

from affinity_bandits.service.core.backend import Backend, Parts
from affinity_bandits.service.core.keys import Principal, forget_sessions, make_key, revoke_key

COOKIE = "affinity_session"
PATH = "/ui"
LASTS = timedelta(hours=12)
LARGEST_FORM = 8192
NEEDED = "read"


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


async def visitor(request: Request) -> Visitor:
    """Return the visitor who is logged in.

    Raises:
        NoSession: nobody is.
    """
    parts, text = parts_of(request), request.cookies.get(COOKIE)
    if text is None:
        raise NoSession(ended=False)
    principal = await parts.keys.principal(text)
    if principal is None or NEEDED not in principal.scopes:
        raise NoSession(ended=True)
    return Visitor(parts, principal.tenant)


async def log_in(request: Request, principal: Principal, response: Response) -> None:
    """Give the browser a read-only key, which expires no later than the one that was entered."""
    ends = datetime.now(UTC) + LASTS
    if principal.expires_at is not None:
        ends = min(ends, principal.expires_at)
    pool, tenant, shown = parts_of(request).pool, principal.tenant, principal.key_id
    await forget_sessions(pool, tenant)
    text = await make_key(pool, tenant, "browser session", [NEEDED], expires_at=ends, parent=shown)
    response.set_cookie(
        COOKIE,
        text,
        max_age=int(LASTS.total_seconds()),
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


async def log_out(request: Request, response: Response) -> None:
    """Revoke the browser's key and delete its cookie."""
    parts, text = parts_of(request), request.cookies.get(COOKIE)
    principal = None if text is None else await parts.keys.principal(text)
    if principal is not None:
        await revoke_key(parts.pool, principal.key_id)
    forget(response)


def forget(response: Response) -> None:
    """Delete the browser's cookie."""
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")


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
