"""Whoever edits an audit trail is found out: by its chain, or by a digest that was kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.problems import NoSuchCampaign
from affinity_bandits_service.trail.chain import Digest, newest_digest
from affinity_bandits_service.trail.verify import Verdict, verify
from packages.service.tests.conftest import RUNNER
from tests.support.one_campaign import ONE, OneCampaign

pytestmark = pytest.mark.as_owner  # all of it edits as a superuser would, on one connection

# A text of which parts have to be escaped, and others must not be.
ODD = 'a "b" \\ \t\n\x01 / ü€\u2028\x7f😀'
CLOSE, LAST = 8, 9  # events of the campaign below


class Edited:
    """A campaign that a superuser edits, with triggers disabled, and that is as before after it."""

    def __init__(self, one: OneCampaign) -> None:
        self.one = one
        self.id = one.id

    async def __call__(self, *statements: str, expected: tuple[Digest, ...] = ()) -> Verdict:
        """Verify the campaign as if these statements had been run."""
        async with self.one.pool.acquire() as db:
            whole = db.transaction(isolation="repeatable_read")
            await whole.start()
            try:
                await db.execute("SET LOCAL session_replication_role = replica")
                for statement in statements:
                    done = await db.execute(statement.replace("$1", f"'{self.id}'"))
                    assert done not in ("UPDATE 0", "DELETE 0", "INSERT 0 0"), statement
                return await verify(_OneConnection(db), self.id, expected)  # type: ignore[arg-type]
            finally:
                await whole.rollback()


class _OneConnection:
    """A pool of one connection, which is in a transaction."""

    def __init__(self, db: asyncpg.Connection[Any]) -> None:
        self._db = db
        self.fetch = db.fetch

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[asyncpg.Connection[Any]]:
        yield self._db


@pytest.fixture
def edited(one: OneCampaign, request: pytest.FixtureRequest) -> Edited:
    """A campaign with every kind of tell, a closed round and an open lease."""

    async def prepare() -> Edited:
        one.id = await one.create(ExploreThenCommit(2), 100, committee=(3, 1), tellers="any")
        first = await one.ask(1)
        rated = SlotTell(first.number, "k", ODD, (0,), (ONE // 3,), ((ODD, 0),))
        await one.tell_all([rated])
        await one.tell(await one.ask(2), {(0, 0.25): 1, (1, 1.0): 1})
        third = await one.ask(9)
        await one.tell(third, {slot: 0.5 for slot, _ in third.slots})
        await one.ask(3)
        assert await one.kinds() == ["create", *["ask", "tell"] * 3, "close", "ask"]
        found = Edited(one)
        assert (await found()).differences == ()
        return found

    return request.node.stash[RUNNER].run(prepare())


OTHER = {
    "uuid": "gen_random_uuid()",
    "bigint": "coalesce({0}, 0) + 1000",
    "integer": "coalesce({0}, 0) + 1000",
    "double precision": "{0} * (1 + 1e-15)",
    "timestamp with time zone": "coalesce({0}, now()) + interval '1 microsecond'",
    "text": "coalesce({0}, '') || ' '",
    "bytea": "coalesce({0}, '') || '\\x00'",
    "int8multirange": "coalesce({0}, '{{}}') + '{{[77,78)}}'",
    "json": "coalesce({0}::text || ' ', 'null')::json",  # that means the same
    "bigint[]": "coalesce({0}, '{{}}') || 7::bigint",
    "text[]": "coalesce({0}, '{{}}') || 'x'::text",
    "integer[]": "coalesce({0}, '{{}}') || 7",
    "numeric[]": "coalesce({0}, '{{}}') || 7::numeric",
}
"""By the type of a column, another value than it has."""


async def columns(edited: Edited, table: str) -> dict[str, str]:
    """The columns of a table, as the database has them now, each with another value."""
    rows = await edited.one.pool.fetch(
        "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
        f" WHERE attrelid = 'affinity.{table}'::regclass AND attnum > 0"
    )
    return {name: OTHER[kind].format(name) for name, kind in rows}


@pytest.mark.slow
async def test_each_field_of_each_event_is_covered(edited: Edited) -> None:
    found = await columns(edited, "events")
    assert len(found) == 20  # the test looks at what there is, and there is something
    found["kind"] = "CASE kind WHEN 'ask' THEN 'stop' ELSE 'ask' END"
    for column, other in found.items():
        for number in range(1, LAST + 1):
            verdict = await edited(
                f"UPDATE affinity.events SET {column} = {other}"
                f" WHERE campaign = $1 AND number = {number}"
            )
            assert verdict.differences, (column, number)


@pytest.mark.parametrize("column", ["actor", "digest"])
async def test_an_edit_that_changes_no_decision_is_found_only_by_the_chain(
    edited: Edited, column: str
) -> None:
    """The control: with the digests computed anew, it passes."""
    other = (await columns(edited, "events"))[column]
    edits = [f"UPDATE affinity.events SET {column} = {other} WHERE campaign = $1 AND number = 7"]
    if column == "actor":  # to whom the idempotency key belongs, too
        edits.append(
            f"UPDATE affinity.requests SET actor = {other} WHERE campaign = $1 AND event = 7"
        )
    assert (await edited(*edits)).differences
    assert (await edited(*edits, CHAINED_AGAIN)).differences == ()


OF_EVENT = "WHERE campaign = $1 AND event ="
KEYS = {
    "leads elsewhere": (
        [f"UPDATE affinity.requests SET event = 4 {OF_EVENT} 6"],
        ["event 6 (ask): its idempotency key leads to event 4"],
    ),
    "another key": (
        [f"UPDATE affinity.requests SET key = key || 'x' {OF_EVENT} 5"],
        ["event 5 (tell): its idempotency key is not stored"],
        ["1 idempotency keys are of no request in the trail"],
    ),
    "of another sender": (
        [f"UPDATE affinity.requests SET actor = 'x' {OF_EVENT} 5"],
        ["event 5 (tell): its idempotency key is not stored"],
        ["1 idempotency keys are of no request in the trail"],
    ),
    "deleted": (
        [f"DELETE FROM affinity.requests {OF_EVENT} 9"],
        ["event 9 (ask): its idempotency key is not stored"],
    ),
    "added": (
        ["INSERT INTO affinity.requests VALUES ($1, 'more', 2, 't'), ($1, 'most', 3, 't')"],
        ["2 idempotency keys are of no request in the trail"],
    ),
    "bytes of the quota": (
        ["UPDATE affinity.heads SET bytes = bytes - 1 WHERE campaign = $1"],
        ["bytes of answers is 302, but 303 follows from the events"],
    ),
}


@pytest.mark.parametrize("how", KEYS)
async def test_edits_of_idempotency_keys_and_counted_bytes_are_found(
    edited: Edited, how: str
) -> None:
    edits, *expected = KEYS[how]
    assert list((await edited(*edits)).differences) == [one for (one,) in expected]


async def test_keys_of_a_campaign_that_has_ended_may_be_deleted(edited: Edited) -> None:
    one = edited.one
    deleted = [f"DELETE FROM affinity.requests {OF_EVENT} 9"]
    assert (await edited(*deleted)).differences != ()
    await one.campaigns.stop(one.tenant, one.id, actor="t", key="stop", now=one.now)
    assert (await edited(*deleted)).differences == ()
    elsewhere, *_ = KEYS["leads elsewhere"]
    assert (await edited(*elsewhere)).differences != ()


CHAINED_AGAIN = """
DO $$
DECLARE
  v_event affinity.events;
  v_chain bytea;
BEGIN
  SELECT affinity.defined(c) INTO v_chain FROM affinity.campaigns AS c WHERE c.id = $1;
  FOR v_event IN SELECT * FROM affinity.events AS e WHERE e.campaign = $1 ORDER BY number LOOP
    v_chain := affinity.chained(v_chain, v_event);
    UPDATE affinity.events AS e SET chain = v_chain
      WHERE e.campaign = $1 AND e.number = v_event.number;
  END LOOP;
  UPDATE affinity.heads SET chain = v_chain WHERE campaign = $1;
END $$
"""
"""What an adversary who can do everything in the database does after an edit."""
ROW = "SELECT * FROM affinity.events WHERE campaign = $1 AND number ="
EDITS = {
    "edited": [
        "UPDATE affinity.events SET actor = 'x' WHERE campaign = $1 AND number = 7",
        "UPDATE affinity.requests SET actor = 'x' WHERE campaign = $1 AND event = 7",
    ],
    "deleted": [
        "DELETE FROM affinity.events WHERE campaign = $1 AND number = 6",
    ],
    "deleted and renumbered": [
        "DELETE FROM affinity.events WHERE campaign = $1 AND number = 6",
        "UPDATE affinity.events SET number = 6 WHERE campaign = $1 AND number = 7",
        "UPDATE affinity.events SET number = 7 WHERE campaign = $1 AND number = 8",
        "UPDATE affinity.events SET number = 8 WHERE campaign = $1 AND number = 9",
        "UPDATE affinity.heads SET events = 8 WHERE campaign = $1",
    ],
    "the last one deleted": [
        "DELETE FROM affinity.events WHERE campaign = $1 AND number = 9",
        "DELETE FROM affinity.leases WHERE campaign = $1 AND lease = 9",
        "DELETE FROM affinity.requests WHERE campaign = $1 AND event = 9",
        "UPDATE affinity.heads SET events = 8, next_slot = 0 WHERE campaign = $1",
    ],
    "inserted": [
        f"CREATE TEMP TABLE more ON COMMIT DROP AS {ROW} 9",
        "UPDATE affinity.events SET number = 10, slots = '{[3,6)}'"
        " WHERE campaign = $1 AND number = 9",
        "UPDATE more SET key = 'forged'",
        "INSERT INTO affinity.events SELECT * FROM more",
        "INSERT INTO affinity.leases SELECT campaign, 10, round, '{[3,6)}', expires_at, again,"
        " actor FROM affinity.leases WHERE campaign = $1",
        "UPDATE affinity.heads SET events = 10, next_slot = 6 WHERE campaign = $1",
        "UPDATE affinity.requests SET event = 10 WHERE campaign = $1 AND event = 9",
        "INSERT INTO affinity.requests SELECT campaign, key, 9, actor FROM more",
    ],
    "swapped": [
        "UPDATE affinity.events SET number = -7 WHERE campaign = $1 AND number = 3",
        "UPDATE affinity.events SET number = 3 WHERE campaign = $1 AND number = 7",
        "UPDATE affinity.events SET number = 7 WHERE campaign = $1 AND number = -7",
    ],
}


THOROUGH = ("edited", "the last one deleted", "inserted")


@pytest.mark.parametrize("how", EDITS)
async def test_an_edit_is_found_and_its_recomputed_chain_by_a_digest_that_was_kept(
    edited: Edited, how: str
) -> None:
    kept = await newest_digest(edited.one.pool, edited.id)
    assert kept.number == LAST
    assert (await edited(expected=(kept,))).differences == ()
    assert (await edited(*EDITS[how])).differences
    again = await edited(*EDITS[how], CHAINED_AGAIN, expected=(kept,))
    assert any("kept" in one for one in again.differences)
    if how in THOROUGH:  # the control: without the digest, these pass
        assert (await edited(*EDITS[how], CHAINED_AGAIN)).differences == ()


async def test_what_the_campaign_is_and_its_closed_rounds_are_covered(edited: Edited) -> None:
    definition = await columns(edited, "campaigns")
    del definition["id"]  # the campaign would be another one
    definition["saved"] = "'{}'"
    definition["policy"] = "(policy::jsonb || '{\"repetitions\": 3}')::json"
    definition["number"] = "DEFAULT"
    for column, other in definition.items():
        verdict = await edited(f"UPDATE affinity.campaigns SET {column} = {other} WHERE id = $1")
        assert verdict.differences, column
        if column not in ("saved", "policy"):  # these two are in events
            assert any("what the campaign is" in one for one in verdict.differences), column
    rounds = await columns(edited, "rounds")
    for column, other in rounds.items():
        for number in (0, 1):
            if number == 1 and column in ("closed_at", "counts", "sums", "dropped", "lapsed"):
                continue  # of a round that is open, they say nothing
            verdict = await edited(
                f"UPDATE affinity.rounds SET {column} = {other}"
                f" WHERE campaign = $1 AND number = {number}"
            )
            assert verdict.differences, (column, number)


async def test_a_trail_that_cannot_be_read_is_a_difference_and_no_error(edited: Edited) -> None:
    for broken in ("detail = NULL", "detail = '[]'", "round = 2147483647", "detail = '{}'"):
        for number in (1, CLOSE):
            verdict = await edited(
                f"UPDATE affinity.events SET {broken} WHERE campaign = $1 AND number = {number}"
            )
            assert verdict.differences, broken
    # A policy that nobody has is no excuse either, once its digest is wrong.
    verdict = await edited(
        "UPDATE affinity.events SET detail = replace(detail::text, 'explore', 'x')::json"
        " WHERE campaign = $1 AND number = 1"
    )
    assert verdict.differences[0].startswith("event 1 (create): its digest is not that of")


async def test_a_trail_without_events_is_a_difference_and_no_error(edited: Edited) -> None:
    verdict = await edited("DELETE FROM affinity.events WHERE campaign = $1")
    assert verdict.differences == (
        "there are no events",
        "the newest digest is not that of the last event",
        "7 idempotency keys are of no request in the trail",
    )
    # Nor does the digest that belongs to no event make it one.
    verdict = await edited(
        "DELETE FROM affinity.events WHERE campaign = $1",
        "DELETE FROM affinity.requests WHERE campaign = $1",
        "UPDATE affinity.heads SET chain = (SELECT affinity.defined(c)"
        " FROM affinity.campaigns AS c WHERE c.id = $1) WHERE campaign = $1",
    )
    assert verdict.differences == ("there are no events",)
    assert (verdict.events, verdict.rounds, verdict.digest) == (0, 0, None)


async def test_a_digest_of_an_event_that_is_gone_is_missed(edited: Edited) -> None:
    verdict = await edited(expected=(Digest(bytes(32), 10), Digest(bytes(32), 3)))
    assert verdict.differences == (
        "event 3 (tell): its digest is not the one that was kept",
        "event 10 is not there, and a digest of it was kept; the last one is 9",
    )


async def test_every_digest_ever_shown_stays_true_as_a_campaign_goes_on(edited: Edited) -> None:
    events, _ = await CampaignQueries(edited.one.pool).events(
        edited.one.tenant, edited.id, None, 100
    )
    kept = [Digest(bytes.fromhex(one.digest or ""), one.number) for one in events]
    assert len({one.value for one in kept}) == LAST
    await edited.one.ask(1)
    verdict = await verify(edited.one.pool, edited.id, kept)
    assert verdict.differences == ()
    assert verdict.digest == await newest_digest(edited.one.pool, edited.id)
    assert Digest.from_text(str(verdict.digest)) == verdict.digest
    with pytest.raises(NoSuchCampaign):
        await newest_digest(edited.one.pool, type(edited.id)(int=1))


@pytest.mark.parametrize("text", ["", "12@3", "0" * 64, "0" * 64 + "@0", "0" * 64 + "@x"])
def test_what_is_no_digest_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="expect must be of the form DIGEST@NUMBER"):
        Digest.from_text(text)


async def test_a_digest_calls_no_function_of_ours_that_could_be_inlined(one: OneCampaign) -> None:
    """A function of SQL that is not inlined takes longer than the rest of the digest."""
    plan = await one.pool.fetch(
        "EXPLAIN VERBOSE SELECT affinity.chained(e.chain, e) FROM affinity.events_0 AS e"
    )
    shown = "".join(row[0] for row in plan)
    assert "sha256" in shown
    assert "microseconds" not in shown
