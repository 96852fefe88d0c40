"""What /ui says of a campaign of blocks: who judges, what is out, and why groups were dropped."""

from __future__ import annotations

import math

from affinity_bandits import CrossedElimination, NeutralElimination
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.ui import pages
from affinity_bandits_service.ui.view import leader_of_blocks
from tests.support.block_campaign import ask_block, create_blocks, play_round, tell_block
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

from .played_campaigns import text


async def page(one: OneCampaign) -> str:
    found = await one.look()
    queries = CampaignQueries(one.pool)
    rounds, _ = await queries.rounds(one.tenant, one.id, None, 1000)
    leader = leader_of_blocks(found)
    leads = {} if leader is None else await queries.leads_in_blocks(found, leader, len(rounds))
    html = bytes(pages._campaign_page(found, rounds, leads).body).decode()
    return " ".join(text(html.replace("<", " <")).split())


async def events(one: OneCampaign) -> list[str]:
    found = await one.look()
    listed, _ = await CampaignQueries(one.pool).events(one.tenant, one.id, None, 1000)
    return [text(pages.render("event", found, event)) for event in listed]


async def test_a_page_says_who_judges_and_how_many_blocks_are_out(one: OneCampaign) -> None:
    await create_blocks(one)
    one.now = None  # type: ignore[assignment]  # blocks are out as long as the page's clock says
    await tell_block(one, await ask_block(one, "a", "r1"), [4, 5])
    await ask_block(one, "b")
    said = await page(one)
    assert (
        "Nobody judges their own group, and members of the group that leads judge nobody." in said
    )
    assert "Raters of Blocks Given Out Answered a 4 1 0 1 b 4 1 1 0 c 4 0 0 0" in said
    assert "This round needs 22 more answers; 2 are out with raters." in said
    assert "a 0 of 8" in said
    assert "b 1 of 8" in said
    assert "raters who belong to neither of two groups like neither more than the other" in said
    assert "average score of a group in one round" not in said
    told = await events(one)
    assert told[1].startswith("A block was given to rater r1 of a: ")
    assert told[2] == "All 2 answers to the block of event 2 came in and counted."
    assert told[3].startswith("A block was given to a rater of b: ")


async def test_a_page_says_why_a_group_was_dropped_and_what_is_left(one: OneCampaign) -> None:
    await create_blocks(one, NeutralElimination(failure=0.4))
    await play_round(one, lambda group: 5.0 if group == "b" else 1.0)
    said = await page(one)
    assert "Who leads? b" in said
    assert "Raters of Blocks Given Out Answered a 1 0 0 0 c 1 0 0 0" in said
    assert "The differences within raters are not enough to drop a group." in said
    assert "The next round asks for 4 answers in all." in said
    assert "up to the end of each round were divided." in said
    assert "groups take turns" not in said  # a share favors nobody where nobody judges their own
    while (await one.look()).status == "open":
        await play_round(one, lambda group: 5.0 if group == "b" else 1.0)
    said = await page(one)
    assert "b is recommended" in said
    assert "The comparison is over, and no more blocks are given." in said
    assert "The differences within raters speak against a (" in said


async def test_a_page_says_by_how_much_and_how_sure(one: OneCampaign) -> None:
    """Means of whole blocks; half the width is computed apart, by twice the range of a score."""
    await create_blocks(one, NeutralElimination(failure=0.4), horizon=1200)
    assert "By how much?" not in await page(one)
    await play_round(one, lambda group: {"a": 4.0, "b": 4.5, "c": 1.5}[group])
    # c's four raters scored both a and b; a's and b's saw one of them only. v = 4 * 4^2
    logs = 2 * math.log(3 / 0.05)
    prior = 16 * (1200 / 12) / (logs + math.log1p(logs))
    wide = math.sqrt((16 * 4 + prior) * (math.log((16 * 4 + prior) / prior) + logs)) / 4
    assert wide > 4.0  # so the interval is all of [-4, 4]
    assert "0.50 points ahead of a ; 95% interval \u22124.00 to 4.00, from 4" in await page(one)
    while (await one.look()).status == "open":
        await play_round(one, lambda group: {"a": 1.0, "b": 5.0, "c": 1.0}[group])
    said = await page(one)
    assert "mean difference within raters who scored both" in said
    assert "biased scores, not true value" not in said
    assert "How sure?" in said
    assert "to 1 against" in said


async def test_crossed_blocks_say_how_much_of_a_lead_may_be_favor(one: OneCampaign) -> None:
    """Raters of both groups score both; favors may differ by .1 of a scale from 1 to 5."""
    await create_blocks(one, CrossedElimination(favor_gap=0.1), groups=2)
    said = await page(one)
    assert "Raters of Blocks Given Out Answered a 4 0 0 0 b 4 0 0 0" in said
    assert "candidate of each group that is left, their own too" in said
    await play_round(one, lambda group: 4.1 if group == "b" else 4.0)
    said = await page(one)
    assert "0.10 points ahead of a ; " in said
    assert "from 8 answers of each. Up to 0.20 of it may be favor. It may still be none" in said
    assert "favor their own by at most 0.4 points more than those of another" in said


async def test_a_page_says_that_a_round_does_not_fit_and_that_scores_were_late(
    one: OneCampaign,
) -> None:
    await create_blocks(one, horizon=27)
    late = await ask_block(one, "a")
    one.wait(LEASE_SECONDS)
    await tell_block(one, late, [1, 1])
    await play_round(one)
    assert (await one.look()).status == "exhausted"
    assert "The next round does not fit in the 27 answers that were agreed on" in await page(one)
    told = await events(one)
    assert told[2] == "The answers to the block of event 2 came too late to count."
