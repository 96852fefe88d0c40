"""The pages under /ui and their login."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from affinity_bandits.base.looks import ICON, read_style
from affinity_bandits.base.words import counted, listed, number_word, plural
from affinity_bandits.policies import FOREVER
from affinity_bandits.policies.explaining import LEADER
from affinity_bandits_client.messages import Attention, Event
from affinity_bandits_service.core.backend import Backend, Parts
from affinity_bandits_service.core.faults import fault_of
from affinity_bandits_service.core.keys import (
    KeyRing,
    Principal,
    forget_sessions,
    make_key,
    revoke_key,
)
from affinity_bandits_service.core.queries import CampaignQueries, LeadInBlocks
from affinity_bandits_service.core.spec import CampaignRecord, RoundRecord
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import (
    NoSuchCampaign,
    ServiceProblem,
    TooMany,
    TooManyRefusals,
    Unavailable,
)
from affinity_bandits_service.ui import charts, wording
from affinity_bandits_service.ui.view import (
    MOST_COUNTED,
    MOST_ROUNDS,
    leader_of_blocks,
    time_left,
    unit_of,
    view_of,
)

COOKIE = "__Host-affinity_session"
COOKIE_RULES: dict[str, Any] = {
    "path": "/",
    "secure": True,
    "httponly": True,
    "samesite": "strict",
}
"""Path and `Secure` are what the name's prefix asks for: no other host, and no page by plain HTTP,
can set a cookie of that name. Browsers take HTTP on their own machine for safe."""
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
    """A visitor who is logged in: the tenant, and the queries to read with."""

    queries: CampaignQueries
    tenant: int
    metrics: Metrics


async def principal_of(request: Request, text: str) -> Principal | None:
    """Return the principal of an API key that came with a request."""
    keys: KeyRing = request.app.state.keys
    return await keys.principal(text, request.client.host if request.client else "")


def core_parts(request: Request, principal: Principal) -> Parts:
    """Return the parts of the core for a principal's database."""
    backend: Backend = request.app.state.backends[principal.database]
    return backend.parts


async def visitor(request: Request) -> AsyncIterator[Visitor]:
    """Yield the visitor who is logged in, when it is the tenant's turn.

    Raises:
        NoSession: the visitor must log in.
        TooMany: too many pages are looked at by the key that was entered.
    """
    text = request.cookies.get(COOKIE)
    if text is None:
        raise NoSession(ended=False)
    principal = await principal_of(request, text)
    if principal is None or NEEDED not in principal.scopes:
        raise NoSession(ended=True)
    # Apart from requests and logins, so that the page after a login is there for slow keys, too.
    _pay(request, principal, f"pages of {principal.actor}")
    reads = core_parts(request, principal).reads
    async with request.app.state.gate.turns(principal):
        yield Visitor(reads, principal.tenant, request.app.state.metrics)


async def begin_session(request: Request, principal: Principal, response: Response) -> None:
    """Give the browser a read-only key, which has the limits of the one that was entered.

    It expires with that one at the latest.

    Raises:
        TooMany: there are too many logins with it, or other requests.
    """
    _pay(request, principal, principal.actor)
    ends = datetime.now(UTC) + LASTS
    if principal.expires_at is not None:
        ends = min(ends, principal.expires_at)
    tenant, shown = principal.tenant, principal.actor
    pool = core_parts(request, principal).pool
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
    response.set_cookie(COOKIE, text, max_age=int(LASTS.total_seconds()), **COOKIE_RULES)


async def end_session(request: Request, response: Response) -> None:
    """Revoke the browser's key and delete its cookie."""
    text = request.cookies.get(COOKIE)
    principal = None if text is None else await principal_of(request, text)
    if principal is not None:
        pool = core_parts(request, principal).pool
        await revoke_key(pool, principal.key_id, principal.actor)
    response.delete_cookie(COOKIE, **COOKIE_RULES)


def _pay(request: Request, principal: Principal, bucket: str) -> None:
    # A session's bucket is that of its key: who logs in again has another session, and no more.
    rate = principal.requests_per_second
    wait = request.app.state.limiter.take(bucket, rate, PAGE_TOKENS)
    if wait > 0:
        raise TooMany(rate, wait)


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a small form.

    Raises:
        BadForm: it comes from another site, or is larger than any form of ours.
    """
    # A login needs no cookie, so SameSite alone would let others log somebody in as themselves.
    # Browsers that do not say how the sites are related still name the page's origin.
    headers = request.headers
    origin = headers.get("origin")
    foreign = origin is not None and urlsplit(origin).netloc != headers.get("host")
    if foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
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


Visiting = Annotated[Visitor, Depends(visitor)]
CAMPAIGNS_A_PAGE = 25
EVENTS_A_PAGE = 50
MOST_SEATS = 12
"""Groups whose judges are listed."""
WRONG_KEY = "That key is not known here, or it is no longer in use. Check it and try again."
WEAK_KEY = "That key may not read campaigns: logging in requires one with the scope read."
WAIT = "Too many keys from your address were not known here. Wait a minute and try again."
ENDED = "Your session has ended. Log in again to go on."

TITLES = {
    "missing": "Answers missing for one group",
    "uneven": "Unequal numbers of answers",
    "ends": "Scores at one end of the scale",
    "standstill": "The round stands still",
    "rater": "One rater gives nearly all scores",
    "committee": "The committee does not fit",
}

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}

_here = files("affinity_bandits_service.ui")
_static = {
    "style.css": ("text/css", read_style(_here.joinpath("style.css")).encode()),
    "icon.svg": ("image/svg+xml", ICON.read_bytes()),
}
_templates = Environment(
    loader=PackageLoader("affinity_bandits_service.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals |= {
    # A new style sheet has a new address, so browsers may keep each for as long as they like.
    "style": f"/ui/style.css?{hashlib.sha256(_static['style.css'][1]).hexdigest()[:12]}",
    "counted": counted,
    "fewer_seats": wording.fewer_seats,
    "forever": FOREVER,
    "leader_mark": LEADER,
    "most_seats": MOST_SEATS,
    "progress_bar": charts.answer_bar,
    "round_in_words": wording.round_in_words,
    "round_label": wording.round_label,
    "scale": charts.scale_ends,
    "seats_of": wording.seats_of,
    "titles": TITLES,
}
_templates.filters |= {
    "capital": wording.capital,
    "number_word": number_word,
    "day": wording.day,
    "exact": wording.exact,
    "listed": listed,
    "mark_names": wording.mark_names,
    "minute": wording.minute,
    "moment": datetime.fromisoformat,
    "named": wording.mark_name,
    "odds": wording.odds,
    "seats": wording.seats,
    "thousands": "{:,}".format,
}


class PageRoute(APIRoute):
    """A route that reports problems as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def reply(request: Request) -> Response:
            try:
                return await handler(request)
            except NoSession as missing:
                response = _redirect("/ui/login?ended" if missing.ended else "/ui/login")
                if missing.ended:
                    response.delete_cookie(COOKIE, **COOKIE_RULES)
                return response
            except TooManyRefusals as many:
                response = _page("login.html", many.status, message=WAIT, inside=False)
                response.headers.update(many.headers)
                return response
            except BadForm as bad:
                return _problem(400, "That did not work", str(bad))
            except NoSuchCampaign:
                words = "No campaign of yours has this address. It may have been mistyped."
                return _problem(404, "There is nothing here", words)
            except Unavailable as away:
                words = "Wait a moment and load the page again."
                return _problem(away.status, "The service cannot reach its database", words)
            except ServiceProblem as problem:
                return _problem(problem.status, problem.title, str(problem))

        return reply


router = APIRouter(prefix="/ui", include_in_schema=False, route_class=PageRoute)


@router.get("")
async def campaigns(visitor: Visiting, after: str | None = None) -> Response:
    """List the tenant's campaigns."""
    start = _cursor(after)
    found, more = await visitor.queries.campaigns(visitor.tenant, start, CAMPAIGNS_A_PAGE)
    rows = [_row(visitor, one) for one in found]
    return _page("campaigns.html", rows=rows, more=more, first=start is None)


@router.get("/")
async def with_slash() -> Response:
    """Redirect to the list."""
    return _redirect("/ui")


@router.get("/campaigns/{campaign}")
async def campaign(visitor: Visiting, campaign: str) -> Response:
    """Show one campaign."""
    queries, tenant = visitor.queries, visitor.tenant
    found = await queries.campaign(tenant, _id(campaign))
    # A round may be closed between two queries; asking up to the one that was seen open keeps
    # what is shown of one moment.
    wanted = found.round.number + (found.status == "exhausted")
    most = wanted if wanted * len(found.arms) <= MOST_COUNTED else MOST_ROUNDS
    most = max(most, MOST_ROUNDS)
    rounds, _ = await queries.rounds(tenant, UUID(found.id), wanted - most - 1, most)
    rounds = [one for one in rounds if one.number < wanted]
    # A thousand groups take a while to draw, and this process has asks and tells to serve.
    try:
        leads = {}
        if found.by_blocks and (leader := leader_of_blocks(found)) is not None:
            leads = await queries.leads_in_blocks(found, leader, wanted)
        return await asyncio.to_thread(_campaign_page, found, rounds, leads)
    except Exception as error:  # what is on record can be shown without the words
        return _page("plain.html", campaign=_without_words(visitor, found, error))


@router.get("/campaigns/{campaign}/events")
async def events(visitor: Visiting, campaign: str, after: str | None = None) -> Response:
    """Show the audit trail of a campaign."""
    queries, tenant = visitor.queries, visitor.tenant
    found = await queries.campaign(tenant, _id(campaign))
    start = _cursor(after) or 0
    page, more = await queries.events(tenant, UUID(found.id), start, EVENTS_A_PAGE)
    lines = [(one, _event_words(visitor, found, one)) for one in page]
    before = max(0, start - EVENTS_A_PAGE) if start else None
    return _page("events.html", campaign=found, lines=lines, before=before, more=more)


@router.get("/responsible-use")
async def responsible_use(_: Visiting) -> Response:
    """Show the page on responsible use."""
    return _page("responsible_use.html")


@router.get("/login")
async def login(request: Request) -> Response:
    """Show the login form."""
    message = ENDED if "ended" in request.query_params else ""
    return _page("login.html", message=message, inside=False)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Log in with an API key, or explain the refusal; the key itself is never shown."""
    fields = await form_of(request)
    principal = await principal_of(request, fields.get("key", "").strip())
    if principal is None:
        return _page("login.html", 401, message=WRONG_KEY, inside=False)
    if NEEDED not in principal.scopes:
        return _page("login.html", 403, message=WEAK_KEY, inside=False)
    response = _redirect("/ui")
    await begin_session(request, principal, response)
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session."""
    await form_of(request)
    response = _redirect("/ui/login")
    await end_session(request, response)
    return response


@router.get("/style.css")
@router.get("/icon.svg")
async def static(request: Request) -> Response:
    """Return the style sheet or the icon."""
    media, content = _static[request.url.path.rpartition("/")[2]]
    headers = HEADERS | {"cache-control": "public, max-age=31536000, immutable"}
    return Response(content, media_type=media, headers=headers)


def _page(template: str, code: int = 200, *, inside: bool = True, **context: Any) -> Response:
    """Return a rendered page."""
    text = _templates.get_template(template).render(inside=inside, **context)
    return HTMLResponse(text, code, HEADERS)


def render(macro: str, *arguments: object) -> Markup:
    """Return the text of a macro of sentences.html."""
    return Markup(getattr(_templates.get_template("sentences.html").module, macro)(*arguments))


def _problem(code: int, title: str, detail: str) -> Response:
    return _page("problem.html", code, title=title, detail=detail)


def _campaign_page(
    found: CampaignRecord, rounds: Sequence[RoundRecord], leads: Mapping[str, LeadInBlocks]
) -> Response:
    policy = found.made_policy
    comparing = policy.told_judges and found.status == "open"
    return _page(
        "campaign.html",
        campaign=found,
        policy=policy,
        comparing=comparing,
        seated=found.round.judged_by if comparing else None,
        time_left=time_left(found, rounds),
        unit=unit_of(found),
        plural=plural,
        view=view_of(found, rounds, leads),
    )


def _row(visitor: Visitor, one: CampaignRecord) -> tuple[CampaignRecord, str]:
    """Return a row of the list: a campaign, and the label of its round."""
    try:
        return one, wording.round_label(one.made_policy, one.round.number)
    except Exception as error:  # a policy of somebody's own
        return _without_words(visitor, one, error), f"Round {one.round.number + 1}"


def _event_words(visitor: Visitor, campaign: CampaignRecord, event: Event) -> Markup:
    """Return an event in words, or its kind if that fails."""
    try:
        return render("event", campaign, event)
    except Exception as error:
        _without_words(visitor, campaign, error)
        return Markup.escape(event.kind)


def _without_words(visitor: Visitor, found: CampaignRecord, error: Exception) -> CampaignRecord:
    """Report that putting a page into words failed; return the campaign with that fault."""
    fault = fault_of(UUID(found.id), "page", error)
    visitor.metrics.count_fault(fault)
    now = Attention(kind=fault.kind, reason=fault.reason, since=datetime.now(UTC))
    return found.model_copy(update={"attention": found.attention or now})


def _redirect(target: str) -> Response:
    return RedirectResponse(target, 303, HEADERS)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NoSuchCampaign(text) from None


def _cursor(text: str | None) -> int | None:
    """Return the position where a page begins; None, the beginning, for an invalid text."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 18:
        return None
    return int(text)
