"""The pages of /ui in a real browser."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest
from playwright.sync_api import Browser, Page

from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.ui import pages
from affinity_bandits_service.ui.pages import COOKIE
from packages.service.tests.ui.ui_site import HOSTILE, STRUCTURE, Site, log_in, serving, watched
from tests.support.browsers import CONTRAST, SIZES

# One worker: a browser and a server are enough once. Slow: `make quick` has no Chromium.
pytestmark = pytest.mark.slow


def test_from_login_to_logout(page: Page, site: Site) -> None:
    groups = ("Referrals", "Job board", "Agency", "Bootcamp")
    id_ = site.campaign("walk", "Sourcing engineers", groups, 204)
    page.goto(f"{site.address}/ui")
    assert page.url == f"{site.address}/ui/login"
    log_in(page, site, site.key("walk"))

    row = page.get_by_role("row", name="Sourcing engineers")
    assert row.get_by_text("Comparing").is_visible()
    assert row.get_by_text("2 of 4").is_visible()
    assert row.get_by_text("Round 3: 40 of 128").is_visible()
    assert row.get_by_text("204", exact=True).is_visible()
    assert row.get_by_text("10 November 2026").is_visible()

    page.get_by_role("link", name="Sourcing engineers").click()
    page.wait_for_url(f"{site.address}/ui/campaigns/{id_}")
    assert page.locator("h1").inner_text() == "Two of four groups are still being compared"
    assert page.get_by_text("This round needs 88 more answers; 3 are out with raters.").is_visible()
    answers = page.locator(".answers")
    assert answers.get_by_text("Who leads?").is_visible()
    assert answers.get_by_text("95% interval").is_visible()
    assert page.get_by_text("These are biased scores, not true value").is_visible()
    decided = page.get_by_text("Agency scored 0.60, which is 0.30 below the best")
    assert not decided.is_visible()
    page.get_by_text("rounds, the last one first").click()
    assert decided.is_visible()
    assert page.locator(".timeline-rows li").nth(2).inner_text().split("\n") == [
        "Agency",
        "dropped after round 2",
    ]
    assert page.get_by_text("20 of 64").count() == 2
    assert page.get_by_text("0.90 ± 0.24").count() == 1  # Hoeffding, 32 answers
    assert page.get_by_text("0.90 ± 0.34").count() == 1  # and 16
    assert page.get_by_text("scores are biased feedback, not true value").is_visible()

    page.get_by_role("link", name="Responsible use").click()
    assert page.get_by_text("Groups are not protected attributes").is_visible()
    page.go_back()
    page.get_by_role("link", name="Audit trail").click()
    assert page.get_by_text("The campaign was made: four groups, 5,000 answers").is_visible()
    assert page.get_by_text("Round 2 ended. Agency was dropped.").is_visible()

    session = page.context.cookies()[0]
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{site.address}/ui/login")
    assert page.context.cookies() == []
    page.goto(f"{site.address}/ui")
    assert page.url == f"{site.address}/ui/login"
    # What the browser had is of no use to whoever kept a copy.
    page.context.add_cookies([session])
    page.goto(f"{site.address}/ui")
    assert page.url == f"{site.address}/ui/login?ended"


def test_the_browser_keeps_a_weaker_key_than_was_entered(page: Page, site: Site) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    entered = site.key("weaker", "admin", "read", "tell", expires_at=soon)
    log_in(page, site, entered)
    (cookie,) = page.context.cookies()
    assert cookie["name"] == COOKIE
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert (cookie["path"], cookie["secure"]) == ("/", True)
    assert cookie["value"] != entered
    assert page.evaluate("document.cookie") == ""

    async def kept(pool: asyncpg.Pool[Any]) -> keys.KeyInfo:
        id_ = await keys.create_tenant(pool, "weaker")
        return next(k for k in await keys.list_keys(pool, id_) if k.name == "browser session")

    info = site.do(kept)
    assert info.key_id == cookie["value"].split("_")[1]
    assert info.scopes == ("read",)
    assert info.expires_at == soon
    log_in(page, site, site.key("for long"))

    async def longest(pool: asyncpg.Pool[Any]) -> datetime:
        id_ = await keys.create_tenant(pool, "for long")
        found = next(k for k in await keys.list_keys(pool, id_) if k.name == "browser session")
        assert found.expires_at is not None
        return found.expires_at

    left = site.do(longest) - datetime.now(UTC)
    assert timedelta(hours=11) < left <= timedelta(hours=12)


def test_a_wrong_key_gets_a_plain_message_and_is_not_repeated(site: Site) -> None:
    weak, wrong = site.key("weak", "ask", "tell"), "ab_0123456789abcdef_" + "5" * 64
    with httpx.Client(base_url=site.address) as client:
        for key, status, message in (
            (wrong, 401, pages.WRONG_KEY),
            ("<b>nonsense</b>", 401, pages.WRONG_KEY),
            ("", 401, pages.WRONG_KEY),
            (weak, 403, pages.WEAK_KEY),
        ):
            answer = client.post("/ui/login", data={"key": key})
            assert (answer.status_code, "set-cookie" in answer.headers) == (status, False)
            assert message in answer.text
            assert key == "" or key not in answer.text
            assert "nonsense" not in answer.text


def test_without_a_login_every_page_leads_to_it(site: Site) -> None:
    some = "11111111-1111-1111-1111-111111111111"
    with httpx.Client(base_url=site.address) as client:
        paths = ["", f"/campaigns/{some}", f"/campaigns/{some}/events", "/responsible-use"]
        for path in paths:
            answer = client.get("/ui" + path)
            assert (answer.status_code, answer.headers["location"]) == (303, "/ui/login")
            weak = client.get(
                "/ui" + path, headers={"cookie": f"{COOKIE}={site.key('weak', 'ask', 'admin')}"}
            )
            assert (weak.status_code, weak.headers["location"]) == (303, "/ui/login?ended")
    # No page was forgotten in the list above.
    known = {route.path for route in pages.router.routes if "GET" in route.methods}  # type: ignore[attr-defined]
    open_ = {"/ui/login", "/ui/style.css", "/ui/icon.svg", "/ui/"}
    assert known - open_ == {"/ui" + path.replace(some, "{campaign}") for path in paths}


def test_a_session_that_is_over_leads_to_the_login(page: Page, site: Site) -> None:
    past = site.key("expired", "read", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    page.context.add_cookies(
        [
            {
                "name": COOKIE,
                "value": past,
                "domain": "127.0.0.1",
                "path": "/",
                "httpOnly": True,
                "secure": True,
            }
        ]
    )
    page.goto(f"{site.address}/ui")
    assert page.url == f"{site.address}/ui/login?ended"
    assert page.get_by_role("alert").inner_text() == pages.ENDED
    assert page.context.cookies() == []


def test_another_tenants_campaign_is_not_there(site: Site) -> None:
    theirs = site.campaign("theirs", "Secret plan", ("A", "B"), 0)
    headers = {"cookie": f"{COOKIE}={site.key('ours')}"}
    with httpx.Client(base_url=site.address, headers=headers) as client:
        nowhere = client.get("/ui/campaigns/11111111-1111-1111-1111-111111111111")
        assert nowhere.status_code == 404
        for path in (f"{theirs}", f"{theirs}/events", "nonsense", "nonsense/events"):
            answer = client.get(f"/ui/campaigns/{path}")
            assert (answer.status_code, answer.text) == (404, nowhere.text)
        assert "Secret plan" not in client.get("/ui").text
    owner = {"cookie": f"{COOKIE}={site.key('theirs')}"}
    assert httpx.get(f"{site.address}/ui/campaigns/{theirs}", headers=owner).status_code == 200


@pytest.mark.parametrize("size", SIZES)
def test_hostile_names_stay_text_and_in_their_place(
    browser: Browser, site: Site, size: str
) -> None:
    width, height = SIZES[size]
    # Without spaces there is nowhere to break a line: the longest that a name may be.
    ids = [
        site.campaign("hostile", name, HOSTILE, answers)
        for name, answers in zip(HOSTILE, (0, 60, 150, 330, 400), strict=True)
    ]
    ids.append(site.judged("hostile", "Seated", HOSTILE, tuple(range(len(HOSTILE)))))
    shape = {"width": width, "height": height}
    with watched(browser, site, viewport=shape) as page:
        log_in(page, site, site.key("hostile"))
        places = ["/ui", *(f"/ui/campaigns/{id_}" for id_ in ids)]
        places += [f"/ui/campaigns/{id_}/events" for id_ in ids]
        for place in places:
            page.goto(site.address + place)
            assert "taken" not in page.title().split("<")[0]
            assert page.locator("main img, script").count() == 0
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            assert page.evaluate(STRUCTURE) == [], place
        page.goto(f"{site.address}/ui")
        shown = page.locator("tbody th").all_inner_texts()
        assert shown == [*HOSTILE, "Seated"]
        page.goto(f"{site.address}/ui/campaigns/{ids[0]}")
        assert page.locator(".timeline-rows .who").all_inner_texts() == list(HOSTILE)
        assert page.title().startswith(HOSTILE[0])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable(browser: Browser, site: Site, size: str, scheme: str) -> None:
    width, height = SIZES[size]
    many = tuple(f"Panel {number}" for number in range(40))
    ids = [
        site.campaign("reader", "Open", ("Referrals", "Job board", "Agency", "Bootcamp"), 300),
        site.campaign("reader", "Decided", ("North", "South"), 60, values=(0.1, 0.9)),
        site.campaign("reader", "Cut", ("North", "South"), 200, horizon=200),
        site.judged("reader", "Seated", ("North", "South"), (1, 2)),
        site.judged("reader", "Waiting", ("North", "South"), None),
        site.campaign("reader", "Many", many, 1000),
    ]
    shape = {"width": width, "height": height}
    with watched(browser, site, viewport=shape, color_scheme=scheme) as page:
        page.goto(f"{site.address}/ui/login")
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(17, 21, 27)") == (scheme == "dark")
        places = ["/ui/login", "/ui", "/ui/responsible-use", f"/ui/campaigns/{ids[0]}/events"]
        places += [f"/ui/campaigns/{id_}" for id_ in ids]
        for place in places:
            page.goto(site.address + place)
            if place == "/ui/login":
                page.keyboard.press("Tab")
                outline = "getComputedStyle(document.activeElement).outlineWidth"
                assert page.evaluate(outline) == "3px"
            worst, where = page.evaluate(CONTRAST)[0]
            assert worst >= 4.5, (place, where)
            assert page.evaluate(STRUCTURE) == [], place
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            if place == "/ui/login":
                log_in(page, site, site.key("reader"))
                words = page.locator(".status").all_inner_texts()
                assert words == ["Comparing", "Decided", "Undecided", *["Comparing"] * 3]
        # The last page is that of forty groups: twelve by name in each picture.
        assert page.locator(".timeline-rows .who").count() == 12
        assert page.get_by_text("and 28 more").count() >= 3


def test_lists_are_paged(page: Page, site: Site) -> None:
    first, *_ = (
        site.campaign("pages", f"{number:02} campaign", ("A", "B"), 0)
        for number in range(pages.CAMPAIGNS_A_PAGE + 2)
    )
    log_in(page, site, site.key("pages"))
    assert page.locator("tbody tr").count() == pages.CAMPAIGNS_A_PAGE
    page.get_by_role("link", name="Next page").click()
    assert page.locator("tbody th").all_inner_texts() == ["25 campaign", "26 campaign"]
    page.get_by_role("link", name="First page").click()
    assert page.locator("tbody tr").count() == pages.CAMPAIGNS_A_PAGE

    async def ask_often(pool: asyncpg.Pool[Any]) -> None:
        owner, core = await keys.create_tenant(pool, "pages"), Campaigns(pool)
        await core.ask(owner, first, [SlotAsk(1, "last", "k")])
        for number in range(60):
            tell = SlotTell(2, f"again{number}", "k", (0,), (0,))
            await core.tell(owner, first, [tell])

    site.do(ask_often)
    page.goto(f"{site.address}/ui/campaigns/{first}/events")
    events = page.locator("tbody th")
    assert events.all_inner_texts()[:2] == ["1", "2"]
    assert events.count() == pages.EVENTS_A_PAGE
    page.get_by_role("link", name="Later events").click()
    assert events.all_inner_texts()[0] == str(pages.EVENTS_A_PAGE + 1)
    assert page.get_by_role("link", name="Later events").count() == 0
    page.get_by_role("link", name="Earlier events").click()
    assert events.all_inner_texts()[0] == "1"
    for odd in ("-1", "1e9", "9" * 30, "', 1"):  # nobody's link
        page.goto(f"{site.address}/ui/campaigns/{first}/events?after={odd}")
        assert events.all_inner_texts()[0] == "1"


def test_every_answer_is_locked_down(site: Site) -> None:
    with httpx.Client(base_url=site.address) as client:
        for path in ("", "/", "/login", "/style.css", "/icon.svg", "/campaigns/nonsense"):
            headers = client.get("/ui" + path).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self';")
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
        assert client.get("/ui").headers["cache-control"] == "no-store"


def test_forms_of_any_size_are_refused(site: Site) -> None:
    form = {"key": site.key("forms")}
    with httpx.Client(base_url=site.address) as client:
        large = client.post("/ui/login", data=form | {"more": "x" * 9000})
        assert (large.status_code, "set-cookie" in large.headers) == (400, False)
        odd = client.post("/ui/login", content=b"\xff\xfe")
        assert odd.status_code == 400
        assert client.get("/ui/logout").status_code in (404, 405)


def test_a_database_that_is_away_is_said_in_a_page() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with serving(f"postgresql://127.0.0.1:{port}/nowhere") as address:
        session = f"{COOKIE}=ab_{'0' * 16}_{'0' * 64}"
        answer = httpx.get(f"{address}/ui", headers={"cookie": session})
        assert answer.status_code == 503
        assert "cannot reach its database" in answer.text
        assert httpx.get(f"{address}/ui/login").status_code == 200
