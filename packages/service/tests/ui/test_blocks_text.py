"""What /ui says of a campaign of blocks: who judges, what is out, and why groups were dropped."""

from __future__ import annotations

from affinity_bandits import NeutralElimination
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.ui import pages
from tests.support.block_campaign import ask_block, create_blocks, play_round, tell_block
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

from .played_campaigns import text


async def page(one: OneCampaign) -> str:
    found = await one.look()
    rounds, _ = await CampaignQueries(one.pool).rounds(one.tenant, one.id, None, 1000)
    html = bytes(pages._campaign_page(found, rounds).body).decode()
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
