"""The pages under /ui, which have a login instead of an API key in each request."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from affinity_bandits.service.core.backend import Parts
from affinity_bandits.service.core.faults import fault_of
from affinity_bandits.service.core.records import Campaign, ClosedRound
from affinity_bandits.service.problems import (
    NeedsAttention,
    NoSuchCampaign,
    Problem,
    TooManyRefusals,
    Unavailable,
)
from affinity_bandits.service.ui import (
    campaign_text,
    charts,
    event_text,
    judging_text,
    session,
    wording,
)
from affinity_bandits.service.ui.time_left import time_left
from affinity_bandits.service.ui.view import MOST_ROUNDS, view_of
from affinity_bandits.wire import Attention

T = TypeVar("T")
R = TypeVar("R")
Visiting = Annotated[session.Visitor, Depends(session.visitor)]
CAMPAIGNS_A_PAGE = 25
EVENTS_A_PAGE = 50
ROUNDS_OPEN = 5
"""Closed rounds that are unfolded; the reader opens the others."""
WRONG_KEY = "That key is not known here, or it is no longer in use. Check it and try again."
WEAK_KEY = "That key may not read campaigns: logging in requires one with the scope read."
WAIT = "Too many keys from your address were not known here. Wait a minute and try again."
ENDED = "Your session has ended. Log in again to go on."

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}

_here = files("affinity_bandits.service.ui")
_static = {
    "style.css": ("text/css", _here.joinpath("style.css").read_bytes()),
    "icon.svg": ("image/svg+xml", _here.joinpath("icon.svg").read_bytes()),
}
_templates = Environment(
    loader=PackageLoader("affinity_bandits.service.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals |= {
    # A new style sheet has a new address, so browsers may keep each for as long as they like.
    "style": f"/ui/style.css?{hashlib.sha256(_static['style.css'][1]).hexdigest()[:12]}",
    "counted": wording.counted,
}
_templates.filters |= {"day": wording.day, "exact": wording.exact, "thousands": "{:,}".format}


class PageRoute(APIRoute):
    """A route that reports problems as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def reply(request: Request) -> Response:
            try:
                return await handler(request)
            except session.NoSession as missing:
                response = _redirect("/ui/login?ended" if missing.ended else "/ui/login")
                if missing.ended:
                    session.forget(request, response)
                return response
            except TooManyRefusals as many:
                response = _page("login.html", many.status, message=WAIT, inside=False)
                response.headers.update(many.headers)
                return response
            except session.BadForm as bad:
                return _problem(400, "That did not work", str(bad))
            except NoSuchCampaign:
                words = "No campaign of yours has this address. It may have been mistyped."
                return _problem(404, "There is nothing here", words)
            except Unavailable as away:
                words = "Wait a moment and load the page again."
                return _problem(away.status, "The service cannot reach its database", words)
            except Problem as problem:
                return _problem(problem.status, problem.title, str(problem))

        return reply


router = APIRouter(prefix="/ui", include_in_schema=False, route_class=PageRoute)


@router.get("")
async def campaigns(visitor: Visiting, after: str | None = None) -> Response:
    """List the tenant's campaigns."""
    start = _cursor(after)
    parts, tenant = visitor
    found, more = await parts.queries.campaigns(tenant, start, CAMPAIGNS_A_PAGE)
    rows = await _told(parts, [(one.id, one) for one in found], _row, _plain_row)
    return _page("campaigns.html", rows=rows, more=more, first=start is None)


@router.get("/")
async def with_slash() -> Response:
    """Redirect to the list, whose address has no slash."""
    return _redirect("/ui")


@router.get("/campaigns/{campaign}")
async def campaign(visitor: Visiting, campaign: str) -> Response:
    """Show one campaign."""
    parts, tenant = visitor
    found = await parts.queries.campaign(tenant, _id(campaign))
    # A round may be closed between two queries; asking up to the one that was seen open keeps
    # what is shown of one moment.
    wanted = found.round.number + (found.status == "exhausted")
    first = wanted - MOST_ROUNDS - 1
    rounds, _ = await parts.queries.rounds(tenant, found.id, first, MOST_ROUNDS)
    rounds = [one for one in rounds if one.number < wanted]
    answers = (await parts.queries.answers([found]))[found.id]
    # A thousand groups take a while to draw, and this process has asks and tells to serve.
    try:
        return await asyncio.to_thread(_campaign_page, found, rounds, answers)
    except Exception as error:  # what is on record can be shown without the words
        fault = fault_of(found.id, "page", error)
        await parts.campaigns.note([fault])
        return _plain_page(found, answers, fault)


@router.get("/campaigns/{campaign}/events")
async def events(visitor: Visiting, campaign: str, after: str | None = None) -> Response:
    """Show the audit trail of a campaign."""
    parts, tenant = visitor
    found = await parts.queries.campaign(tenant, _id(campaign))
    start = _cursor(after) or 0
    page, more = await parts.queries.events(tenant, found.id, start, EVENTS_A_PAGE)
    words = partial(event_text.line, found.spec)
    lines = await _told(parts, [(found.id, one) for one in page], words, event_text.plain_line)
    before = max(0, start - EVENTS_A_PAGE) if start else None
    return _page("events.html", campaign=found, lines=lines, before=before, more=more)


@router.get("/responsible-use")
async def responsible_use(_: Visiting) -> Response:
    """Show what the comparison must not be used for."""
    return _page("responsible_use.html")


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login form."""
    message = ENDED if "ended" in request.query_params else ""
    return _page("login.html", message=message, inside=False)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Log in with an API key, or say what is wrong with it without repeating it."""
    parts = session.parts_of(request)
    fields = await session.form_of(request)
    principal = await parts.keys.principal(fields.get("key", "").strip(), session.host_of(request))
    if principal is None:
        return _page("login.html", 401, message=WRONG_KEY, inside=False)
    if session.NEEDED not in principal.scopes:
        return _page("login.html", 403, message=WEAK_KEY, inside=False)
    response = _redirect("/ui")
    await session.log_in(request, principal, response)
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session."""
    await session.form_of(request)
    response = _redirect("/ui/login")
    await session.log_out(request, response)
    return response


@router.get("/style.css")
@router.get("/icon.svg")
async def static(request: Request) -> Response:
    """Return the style sheet or the icon."""
    media, content = _static[request.url.path.rpartition("/")[2]]
    headers = HEADERS | {"cache-control": "public, max-age=31536000, immutable"}
    return Response(content, media_type=media, headers=headers)


def _page(template: str, code: int = 200, *, inside: bool = True, **context: Any) -> Response:
    """Return a rendered page.

    Args:
        template: its file.
        code: the HTTP status.
        inside: whether it is shown to somebody who is logged in.
        context: what the template is given.
    """
    text = _templates.get_template(template).render(inside=inside, **context)
    return HTMLResponse(text, code, HEADERS)


def _problem(code: int, title: str, detail: str) -> Response:
    return _page("problem.html", code, title=title, detail=detail)


def _campaign_page(
    found: Campaign, rounds: Sequence[ClosedRound], answers: Sequence[int]
) -> Response:
    return _page(
        "campaign.html",
        campaign=found,
        attention=found.attention,
        status=campaign_text.status_of(found),
        headline=campaign_text.headline(found),
        next_step=campaign_text.next_step(found),
        time_left=time_left(found, rounds),
        how=campaign_text.how_it_decides(found.spec.policy),
        order=campaign_text.order_of_answers(found),
        judging=judging_text.judging_view(found),
        warm_up=campaign_text.is_warm_up(found.spec.policy, 0),
        health=None if found.health is None else campaign_text.health_in_words(found.health),
        findings=[
            campaign_text.finding_in_words(one)
            for one in (() if found.health is None else found.health.findings)
        ],
        view=view_of(found, rounds, answers),
        rounds_open=ROUNDS_OPEN,
        answers=found.before + found.round.answered,
    )


def _plain_page(found: Campaign, answers: Sequence[int], fault: NeedsAttention) -> Response:
    """Return a campaign's page with nothing but stored facts, for when the full page fails."""
    now = Attention(kind=fault.kind, reason=fault.reason, since=datetime.now(UTC))
    return _page(
        "plain.html",
        campaign=found,
        attention=found.attention or now,
        groups=[
            (name, arm in found.active, answers[arm]) for arm, name in enumerate(found.spec.arms)
        ],
        answers=found.before + found.round.answered,
    )


def _row(one: Campaign) -> dict[str, Any]:
    """Return a row of the list of campaigns."""
    return {
        "campaign": one,
        "status": campaign_text.status_of(one),
        "round": campaign_text.round_label(one.spec.policy, one.round.number),
        "running": one.status in ("open", "stopped") and one.recommended is None,
        "waits": one.status == "open" and one.awaits_judges,
        "bar": charts.progress_bar(
            one.round.answered / max(1, one.round.size),
            f"{one.round.answered:,} of {one.round.size:,} answers",
        ),
        "attention": one.attention is not None,
        "warning": one.health is not None
        and any(finding.severity == "warning" for finding in one.health.findings),
    }


def _plain_row(one: Campaign) -> dict[str, Any]:
    """Return a row with nothing but stored facts, for when the full row fails."""
    return {
        "campaign": one,
        "status": one.status.capitalize(),
        "round": f"Round {one.round.number + 1}",
        "running": one.recommended is None,
        "waits": False,
        "bar": "",
        "attention": True,
        "warning": False,
    }


async def _told(
    parts: Parts, found: Iterable[tuple[UUID, T]], words: Callable[[T], R], plain: Callable[[T], R]
) -> list[R]:
    """Return each item in words, or plainly if its words fail, so that the others are still shown.

    Items come with the id of their campaign, which is marked if words fail.
    """
    rows, wordless = [], {}
    for campaign, one in found:
        try:
            rows.append(words(one))
        except Exception as error:
            wordless[campaign] = fault_of(campaign, "page", error)
            rows.append(plain(one))
    if wordless:
        await parts.campaigns.note(list(wordless.values()))
    return rows


def _redirect(target: str) -> Response:
    return RedirectResponse(target, 303, HEADERS)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NoSuchCampaign(text) from None


def _cursor(text: str | None) -> int | None:
    """Return the position where a page begins; None, the beginning, if the text is not a number."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 18:
        return None
    return int(text)
