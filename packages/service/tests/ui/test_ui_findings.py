"""What pages of /ui say of a campaign that something is wrong with, in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest
from playwright.sync_api import Browser

from affinity_bandits_service.core.health_checks import HealthChecks
from affinity_bandits_service.core.spec import CampaignRecord
from affinity_bandits_service.health.words import quote, words_for
from affinity_bandits_service.store.connection import sql
from affinity_bandits_service.ui import pages
from packages.service.tests.ui.ui_site import HOSTILE, STRUCTURE, Site, log_in, watched
from tests.support.browsers import CONTRAST, SIZES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_campaign_that_needs_attention_is_shown_to_need_it(
    browser: Browser, site: Site, size: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    width, height = SIZES[size]
    tenant = f"attention-{size}-{scheme}"
    site.campaign(tenant, "Fine", ("North", "South"), 10)
    ids = [site.campaign(tenant, f"{n} not fine", ("North", "South"), 40) for n in (1, 2)]

    async def damage(pool: asyncpg.Pool[Any]) -> None:
        await pool.execute("UPDATE affinity.campaigns SET saved = '{}' WHERE id = $1", ids[0])

    site.do(damage)
    honest = pages.view_of

    def view_of(campaign: CampaignRecord, rounds: Any) -> Any:
        assert campaign.id != str(ids[1])
        return honest(campaign, rounds)

    monkeypatch.setattr(pages, "view_of", view_of)
    shape = {"width": width, "height": height}
    with watched(browser, site, viewport=shape, color_scheme=scheme) as page:
        log_in(page, site, site.key(tenant))
        for place in (*(f"/ui/campaigns/{id_}" for id_ in ids), "/ui"):
            page.goto(site.address + place)
            words = "Needs attention" if place == "/ui" else "This campaign needs attention"
            assert page.get_by_text(words, exact=True).count() == 1
            worst, where = page.evaluate(CONTRAST)[0]
            assert worst >= 4.5, (place, where)
            assert page.evaluate(STRUCTURE) == [], place
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_findings_of_health_checks_are_shown(
    browser: Browser, site: Site, size: str, scheme: str
) -> None:
    width, height = SIZES[size]
    tenant, groups = f"health-{size}-{scheme}", (HOSTILE[1], HOSTILE[3], "Agency")
    ids = [site.campaign(tenant, name, groups, 40) for name in ("Fine", "Not fine", "New")]
    first, second, third = map(quote, groups)
    missing = {"often": "more often", "own": "30%", "slots": 300, "others": "5%"}
    ends = {"end": "highest", "far": 0.016, "score": 5.0, "answers": 600}
    found = [
        words_for("missing", (0,), name=first, left_out=first, **missing),
        words_for("ends of some groups", (1, 2), which=f"{second} and {third}", **ends),
    ]

    async def look(pool: asyncpg.Pool[Any]) -> None:
        now = datetime(2026, 11, 10, 9, 30, tzinfo=UTC)
        for id_ in ids[:2]:
            await HealthChecks(pool).check(id_, now=now)
        for one in found:
            said = (one.seen, one.effect, one.advice)
            await pool.execute(
                sql.save_finding, ids[1], one.kind, one.severity, now, one.arms, *said
            )

    site.do(look)
    shape = {"width": width, "height": height}
    with watched(browser, site, viewport=shape, color_scheme=scheme) as page:
        log_in(page, site, site.key(tenant))
        words = page.locator(".status").all_inner_texts()
        assert words == ["Comparing", "Comparing", "Warning", "Comparing"]
        said = []
        for id_ in ids:
            page.goto(f"{site.address}/ui/campaigns/{id_}")
            said.append(page.locator(".facts").inner_text())
            assert page.locator(".finding").count() == (2 if id_ == ids[1] else 0)
            worst, where = page.evaluate(CONTRAST)[0]
            assert worst >= 4.5, where
            assert page.evaluate(STRUCTURE) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            if id_ != ids[1]:
                continue
            warning, note = page.locator(".finding").all()
            assert warning.locator("h3").inner_text() == "Warning: Answers missing for one group"
            assert note.locator("h3").inner_text() == "Note: Scores at one end of the scale"
            # Names stay text, each in its own direction.
            assert set(warning.locator("bdi").all_inner_texts()) == {HOSTILE[1]}
            assert note.locator("bdi").all_inner_texts() == [HOSTILE[3], "Agency"]
            assert "“" not in page.locator(".health").inner_text()
        assert ["Health" in one for one in said] == [True, True, False]
        assert "No findings" in said[0]
        assert "1 warning and 1 note" in said[1]
