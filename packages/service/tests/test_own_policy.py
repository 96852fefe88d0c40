"""A policy of one's own is served, replayed and shown, with its words or without any."""

from __future__ import annotations

import asyncio
import html
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import httpx
import pytest

from affinity_bandits.base.errors import InvalidInput, UnknownName
from affinity_bandits.policies import POLICIES, RoundPolicy, register
from affinity_bandits_client.messages import Lease
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.core.spec import SERVED, CampaignSpec, served_policy
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED
from tests.support.one_campaign import made
from tests.support.own_policies import DropLowest, DropLowestInWords
from tests.support.web_site import CAMPAIGN, Site

NOW = datetime(2026, 11, 10, 9, 0, tzinfo=UTC)
GROUPS = ("Ann", "Ben", "Cid")
SCORES = (0.5, 0.9, 0.1)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with patch.dict(POLICIES):
        register(DropLowest)
        register(DropLowestInWords)
        yield


async def played(at: Site, tenant: str, policy: RoundPolicy, rounds: int) -> UUID:
    """A campaign of three groups that always score the same, after so many rounds."""
    owner, core = (
        await keys.create_tenant(at.pool, tenant),
        at.app.state.backends["main"].parts.campaigns,
    )
    about = CampaignSpec("Island", GROUPS, policy, 1000, declaration=DECLARED)
    id_: UUID = await core.create(owner, about, key=new_key(), actor="t", now=NOW)
    while (await CampaignQueries(at.pool).campaign(owner, id_)).round.number < rounds:
        (lease,) = await core.ask(owner, id_, [SlotAsk(3, new_key(), "t")], now=NOW)
        assert isinstance(lease, Lease)
        told = {slot: SCORES[GROUPS.index(arm)] for slot, arm in lease.slots}
        await core.tell(owner, id_, [made(lease, told)], now=NOW)
    return id_


async def page_of(at: Site, tenant: str, campaign: UUID) -> str:
    """The text of a campaign's page."""
    async with at.client() as browser:
        answer = await browser.post("https://test/ui/login", data={"key": await at.key(tenant)})
        assert answer.status_code == 303
        shown = await browser.get(f"https://test/ui/campaigns/{campaign}")
    assert shown.status_code == 200
    return shown.text


def words_of(page: str) -> str:
    """What a reader sees of a page, without names being marked as such."""
    for tag in ('<bdi class="name">', "</bdi>"):
        page = page.replace(tag, "")
    return html.unescape(page)


@pytest.mark.slow
async def test_one_that_explains_nothing_is_served_and_shown_without_reasons(at: Site) -> None:
    id_ = await played(at, "plain", DropLowest(), rounds=2)
    page = words_of(await page_of(at, "plain", id_))
    assert "Ben is recommended" in page
    assert "What happens at the end of each round is up to the policy" in page
    assert "Cid scored 0.10, which is 0.80 below the best (Ben, 0.90)." in page
    assert "The campaign's policy then dropped Cid." in page
    assert "Round 1 ended on" in page
    assert "does not put a number on how much speaks against a group" in page
    assert "to 1 against" not in page
    for made_up in (
        "warm-up",
        "tolerates",
        "leader",
        "chance explains",
        "Only the best",
        "on purpose",
    ):
        assert made_up not in page
    assert (await verify(at.pool, id_)).differences == ()


async def test_one_that_explains_itself_is_shown_in_its_words(at: Site) -> None:
    id_ = await played(at, "wordy", DropLowestInWords(), rounds=3)
    page = await page_of(at, "wordy", id_)
    # Its words are text, whatever is in them.
    assert "<island>" not in page
    assert "<sea>" not in page
    assert "<raters>" not in page
    text = words_of(page)
    assert "Whoever comes in last leaves the <island>." in text
    assert "is up to the policy" not in text
    assert (
        "These answers are set aside on purpose: they get used to <raters> and to the leader,"
        " and decide nothing." in text
    )
    assert "Cid scored 0.10, which is 0.40 below the leader (Ann, 0.50)." in text
    assert "The tribe & the <sea> have spoken, so Cid was dropped." in text
    assert "Round 2 ended on" in text
    assert "Round 3 ended on" not in text  # there were three, one of them the warm-up
    assert (await verify(at.pool, id_)).differences == ()


def test_a_campaign_can_run_what_is_registered_and_nothing_else() -> None:
    assert served_policy({"name": "drop-lowest", "repetitions": 7}) == DropLowest(7)
    assert "drop-lowest" in list(SERVED)
    assert len(SERVED) == len(list(SERVED))
    assert "oracle" not in SERVED  # no round policy
    with patch.dict(POLICIES):
        del POLICIES["drop-lowest"]
        with pytest.raises(UnknownName):
            served_policy("drop-lowest")
        with pytest.raises(InvalidInput, match="policy"):
            CampaignSpec("Island", GROUPS, DropLowest(), 1000, declaration=DECLARED)


def test_one_that_is_told_more_than_feedback_is_not_served() -> None:
    class Told(DropLowest):
        name = "told"
        information = "feedback and the weather"

    register(Told)
    assert "told" not in SERVED


SCRIPT = """
import sys

from affinity_bandits.policies import register
from affinity_bandits_service.serving import serve
from tests.support.own_policies import DropLowest

register(DropLowest)

if __name__ == "__main__":
    serve(sys.argv[1], port=0, admin_port=0)
"""


async def new_api_key(dsn: str) -> str:
    pool = await connect(dsn)
    try:
        owner = await keys.create_tenant(pool, "script")
        return await keys.make_key(pool, owner, "test", keys.SCOPES)
    finally:
        await pool.close()


@pytest.mark.slow
def test_a_script_that_registers_it_serves_it(dsn: str, tmp_path: Path) -> None:
    script = tmp_path / "my_service.py"
    script.write_text(SCRIPT)
    headers = {"authorization": f"Bearer {asyncio.run(new_api_key(dsn))}"}
    with subprocess.Popen(
        [sys.executable, script, dsn],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            lines = []
            while not any('"listening"' in line for line in lines):
                lines.append(process.stderr.readline())
                assert lines[-1], "".join(lines)
            url = next(json.loads(one)["url"] for one in lines if '"listening"' in one)
            body = CAMPAIGN | {"policy": {"name": "drop-lowest"}}
            made = httpx.post(f"{url}/v1/campaigns", json=body, headers=headers, timeout=30)
            assert made.status_code == 201, made.text
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
