"""The trail of a campaign of blocks: verify sees all of it, and an export has every score."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from affinity_bandits.audit.forms.exported import FIRST_COLUMNS
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.trail.archive import archive
from affinity_bandits_service.trail.verify import verify
from tests.support.block_campaign import ask_block, create_blocks, release_block, tell_block
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

from .exported import change, written
from .test_verify import in_event


async def some_blocks(one: OneCampaign) -> None:
    """A block that counts (events 2 and 3), one that is late (4 and 5), one given back (6 and 7).

    Then all others of the round, and these two again.
    """
    await create_blocks(one)
    await tell_block(one, await ask_block(one, "a", "r1"), [4, 5])
    late = await ask_block(one, "b", "r2")
    one.wait(LEASE_SECONDS)
    await tell_block(one, late, [1, 2])
    await release_block(one, (await ask_block(one, "a", "r1")).number)
    await tell_block(one, await ask_block(one, "b"), [3, 3])
    for group in "abc":
        while (block := await ask_block(one, group)).status == "given":
            await tell_block(one, block, [2, 5])
    assert (await one.look()).round.number == 1


DAMAGE: dict[str, tuple[list[str], str]] = {
    "another score": (in_event(3, "units,0", "3000000000"), "closed rounds is"),
    "a score out of range": (in_event(3, "units,0", "6000000000"), "a score of 6000000000 units"),
    "a score less": (in_event(3, "units", "[3000000000]"), "told 1 scores of a block of 2"),
    "a late block that counts": (in_event(5, "counted", "2"), "counted and late is (2, 2)"),
    "of another block": (in_event(5, "lease", "2"), "told of block 2, which was answered before"),
    "of no block": (in_event(5, "lease", "1"), "told of block 1, which was not given"),
    "another lot": (in_event(2, "arms", "[0, 1]"), "order of the block is [0, 1]"),
    "a rater of their own group": (in_event(2, "rater_group", '"b"'), "(ask_block): block is 0"),
    "a rater who changes": (in_event(4, "rater", '"r1"'), "group of the rater is 1, expected 0"),
    "a rater of a group that is not there": (in_event(2, "rater_group", '"z"'), "cannot be replay"),
    "another block": (in_event(4, "block", "4"), "block is 4, expected 1"),
    "a block that was not given back": (in_event(7, "slots", "0"), "slots is 0, expected 2"),
    "other scores in the table": (
        ["UPDATE affinity.blocks SET units[1] = 1 WHERE campaign = $1 AND lease = 2"],
        "blocks is",
    ),
    "a late block that counts in the table": (
        ["UPDATE affinity.blocks SET counted = true WHERE campaign = $1 AND lease = 4"],
        "blocks is",
    ),
    "a block longer out than said": (
        ["UPDATE affinity.blocks SET expires_at = expires_at + interval '1 second'"
         " WHERE campaign = $1 AND lease = 2"],
        "blocks is",
    ),
    "a block that nobody was given": (
        ["DELETE FROM affinity.blocks WHERE campaign = $1 AND lease = 4"],
        "blocks is",
    ),
    "slots of a campaign of blocks": (
        ["UPDATE affinity.heads SET awaits_judges = false WHERE campaign = $1"],
        "handing out no slots is False, but True",
    ),
}  # fmt: skip


async def test_every_change_is_found(one: OneCampaign) -> None:
    """One after the other, each undone by a savepoint's end: the campaign is made once."""
    await some_blocks(one)
    assert (await verify(one.pool, one.id)).differences == ()  # the control
    missed = []
    for what, (statements, said) in DAMAGE.items():
        columns = ("detail", "chain")
        kept = await one.pool.fetch(
            f"SELECT number, {', '.join(columns)} FROM affinity.events WHERE campaign = $1", one.id
        )
        rows = await one.pool.fetch(
            "SELECT b FROM affinity.blocks AS b WHERE campaign = $1", one.id
        )
        await change(one, *statements)
        found = (await verify(one.pool, one.id)).differences
        if not any(said in difference for difference in found):
            missed.append((what, found[:5]))
        async with one.pool.acquire() as db, db.transaction():
            await db.execute("SET LOCAL session_replication_role = replica")
            await db.executemany(
                "UPDATE affinity.events SET detail = $3 WHERE campaign = $1 AND number = $2"
                " AND detail::text <> $3::json::text",
                [(one.id, row["number"], row["detail"]) for row in kept],
            )
            await db.execute("DELETE FROM affinity.blocks WHERE campaign = $1", one.id)
            await db.executemany(
                "INSERT INTO affinity.blocks SELECT ($1::affinity.blocks).*",
                [(row["b"],) for row in rows],
            )
            await db.execute(
                "UPDATE affinity.heads SET awaits_judges = true WHERE campaign = $1", one.id
            )
    assert not missed
    assert (await verify(one.pool, one.id)).differences == ()


async def test_an_export_has_judge_group_and_score_of_every_candidate(
    one: OneCampaign, tmp_path: Path
) -> None:
    await some_blocks(one)
    rows = await written(one, tmp_path / "answers.csv")
    assert tuple(rows[0])[: len(FIRST_COLUMNS)] == FIRST_COLUMNS  # the audit knows it by them
    shown = ("event", "slot", "score", "outcome", "rater", "rater group")
    assert [tuple(row[name] for name in shown) for row in rows[:6]] == [
        ("3", "0", "4", "counted", "r1", "a"),
        ("3", "0", "5", "counted", "r1", "a"),
        ("5", "1", "1", "late", "r2", "b"),
        ("5", "1", "2", "late", "r2", "b"),
        ("9", "4", "3", "counted", "", "b"),
        ("9", "4", "3", "counted", "", "b"),
    ]
    assert {row["group"] for row in rows if row["rater group"] == "a"} == {"b", "c"}
    counted = [row for row in rows if row["counted"] == "yes" and row["round"] == "0"]
    assert len(counted) == 24
    query = "SELECT unnest(arms) AS arm, unnest(sums) AS total FROM affinity.rounds"
    closed = await one.pool.fetch(f"{query} WHERE campaign = $1 AND number = 0", one.id)
    for arm, total in closed:
        own = [Decimal(row["score"]) for row in counted if row["group"] == "abc"[arm]]
        assert sum(own) == Decimal(total).scaleb(-9)


async def test_a_campaign_of_blocks_is_archived(one: OneCampaign, tmp_path: Path) -> None:
    await some_blocks(one)
    await one.campaigns.stop(one.tenant, one.id, actor="t", key=new_key())
    one.wait(LEASE_SECONDS)
    pytest.importorskip("pyarrow")
    done = await archive(one.pool, one.id, tmp_path, by="test", now=one.now)
    assert done.trail.events > 30
    left = "SELECT count(*) FROM affinity.blocks WHERE campaign = $1"
    assert await one.pool.fetchval(left, one.id) == 0
    await create_blocks(one)  # of which the fixture verifies the trail
