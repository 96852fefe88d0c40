"""Campaigns and tenants leave the database by one way, which leaves a record."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from uuid import UUID, uuid4

import asyncpg
import pytest
from pyarrow import parquet

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_service.core.campaigns import expire_requests
from affinity_bandits_service.core.keys import create_tenant, make_key
from affinity_bandits_service.problems import NoSuchCampaign
from affinity_bandits_service.store.connection import _prepare, connect
from affinity_bandits_service.store.migrate import migrate
from affinity_bandits_service.trail import archive as module
from affinity_bandits_service.trail.archive import archive, delete_tenant, removals
from affinity_bandits_service.trail.verify import verify
from affinity_bandits_service.webhooks.sending import KINDS
from affinity_bandits_service.webhooks.subscriptions import Webhooks
from packages.service.tests.conftest import RUNNER, opened_in
from tests.support.databases import made_database, service_role
from tests.support.one_campaign import OneCampaign, opened

NAME = f"affinity_test_archive_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
DELETED = ("to be deleted", "the law")
TABLES = (
    "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
    " WHERE c.relnamespace = 'affinity'::regnamespace AND c.relkind IN ('r', 'p')"
    " AND NOT c.relispartition AND a.attname = 'campaign' AND c.relname <> 'removals'"
)


@pytest.fixture(scope="module")
def owned() -> Iterator[str]:
    """A database of its own: what is counted here is not others'."""
    with made_database(NAME) as dsn:
        migrate(dsn)
        yield dsn


@pytest.fixture
def one(owned: str, request: pytest.FixtureRequest) -> Iterator[OneCampaign]:
    """A campaign of a tenant of its own."""
    with opened_in(request.node, opened(owned)) as found:

        async def prepare() -> None:
            found.tenant = await create_tenant(found.pool, f"tenant {uuid4()}")
            found.id = await found.create(ExploreThenCommit(2), 100)

        request.node.stash[RUNNER].run(prepare())
        yield found


async def finish(one: OneCampaign) -> None:
    lease = await one.ask(4)
    await one.tell(lease, {0: 1, 1: 0, 2: 1, 3: 0})
    await one.campaigns.stop(one.tenant, one.id, actor="t", key="stop", now=one.now)


async def rows(one: OneCampaign, campaign: UUID) -> int:
    """How many rows of all tables belong to a campaign."""
    counts = [
        f"(SELECT count(*) FROM affinity.{table} WHERE campaign = $1)"
        for (table,) in await one.pool.fetch(TABLES)
    ]
    assert len(counts) > 10
    return int(await one.pool.fetchval(f"SELECT {' + '.join(counts)}", campaign))


async def test_a_finished_campaign_is_written_read_back_and_gone(
    one: OneCampaign, tmp_path: Path
) -> None:
    other = await one.create(ExploreThenCommit(2), 100)
    await finish(one)
    before = await one.pool.fetch(
        "SELECT row_to_json(e)::text AS row FROM affinity.events AS e WHERE campaign = $1"
        " ORDER BY number",
        one.id,
    )
    done = await archive(one.pool, one.id, tmp_path, by="somebody", now=one.now)
    table = parquet.read_table(done.events_file).to_pydict()
    assert table["row"] == [row["row"] for row in before]
    assert table["kind"] == ["create", "ask", "tell", "close", "stop"]
    about = json.loads(done.about_file.read_text())
    assert about["campaign"]["id"] == str(one.id)
    assert (len(about["rounds"]), about["digest"]) == (2, done.trail.digest)
    assert await rows(one, one.id) == 0
    (record,) = [row for row in await removals(one.pool) if row["campaign"] == one.id]
    assert record["by"] == "somebody"
    assert record["detail"]["digest"] == done.trail.digest
    assert record["detail"]["archived"] == str(done.events_file)
    with pytest.raises(NoSuchCampaign):
        await verify(one.pool, one.id)
    assert (await verify(one.pool, other)).differences == ()
    assert await rows(one, other) > 0


async def test_what_is_not_finished_stays_and_is_not_even_verified(
    one: OneCampaign, tmp_path: Path
) -> None:
    with patch.object(module, "verify", wraps=verify) as verifying:
        with pytest.raises(NotSupported, match="is open: stop it first"):
            await archive(one.pool, one.id, tmp_path, by="x")
        await one.ask(1)
        await one.campaigns.stop(one.tenant, one.id, actor="t", key="stop", now=one.now)
        with pytest.raises(NotSupported, match="awaits answers until"):
            await archive(one.pool, one.id, tmp_path, by="x", now=one.now)
        with pytest.raises(NoSuchCampaign):
            await archive(one.pool, uuid4(), tmp_path, by="x")
        assert verifying.call_count == 0
        assert list(tmp_path.iterdir()) == []
        one.wait(3600)
        await archive(one.pool, one.id, tmp_path, by="x", now=one.now)
        assert verifying.call_count == 1


async def test_what_cannot_be_read_back_or_verified_stays(one: OneCampaign, tmp_path: Path) -> None:
    await finish(one)
    before = await rows(one, one.id)

    def damaged(file: Path) -> module.Trail:
        table = parquet.read_table(file)
        parquet.write_table(table.slice(1), file)
        return read(file)

    read = module._read_events
    with patch.object(module, "_read_events", damaged), pytest.raises(NotSupported):
        await archive(one.pool, one.id, tmp_path / "damaged", by="x")
    assert await rows(one, one.id) == before
    (tmp_path / f"{one.id}.json").write_text("mine")
    with pytest.raises(InvalidInput, match="without this campaign's files"):
        await archive(one.pool, one.id, tmp_path, by="x")
    await one.pool.execute(
        "UPDATE affinity.rounds SET sums = '{1,1}' WHERE campaign = $1 AND number = 0", one.id
    )
    with pytest.raises(NotSupported, match="does not follow from its trail"):
        await archive(one.pool, one.id, tmp_path / "wrong", by="x")
    assert await rows(one, one.id) == before


async def test_a_tenant_is_deleted_with_everything_and_nobody_elses(one: OneCampaign) -> None:
    stays = await one.create(ExploreThenCommit(2), 100)
    one.tenant = await create_tenant(one.pool, DELETED[0])
    one.id = await one.create(ExploreThenCommit(2), 100)
    await Webhooks(one.pool, private=True).add(one.tenant, "http://127.0.0.1:9", KINDS, "t")
    key = await make_key(one.pool, one.tenant, "k", ["read"])
    parent = key.split("_")[1]
    await make_key(one.pool, one.tenant, "session", ["read"], parent=parent)
    lease = await one.ask(4)
    await one.tell(lease, {0: 1, 1: 0, 2: 1, 3: 0})  # leaves notices
    (trail,) = await delete_tenant(one.pool, DELETED[0], by=DELETED[1])
    assert trail.events == 4
    assert await rows(one, one.id) == 0
    for table in ("api_keys", "webhooks"):
        count = f"SELECT count(*) FROM affinity.{table} WHERE tenant = $1"
        assert await one.pool.fetchval(count, one.tenant) == 0
    campaign, whole = (await removals(one.pool))[-2:]
    assert (campaign["campaign"], campaign["detail"]["digest"]) == (one.id, trail.digest)
    assert [whole[name] for name in ("tenant", "by", "campaign")] == [*DELETED, None]
    assert whole["detail"]["keys"] == [parent]
    with pytest.raises(InvalidInput, match="TENANT"):
        await delete_tenant(one.pool, DELETED[0], by="x")
    assert await rows(one, stays) > 0


@pytest.mark.slow
async def test_removing_may_take_longer_than_a_request(
    one: OneCampaign, owned: str, tmp_path: Path
) -> None:
    """With a pool that gives a request three seconds, where each removal takes four."""

    await finish(one)
    name = f"tenant {uuid4()}"
    one.tenant = await create_tenant(one.pool, name)
    await one.create(ExploreThenCommit(2), 100)
    await one.pool.execute(
        "CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN PERFORM pg_sleep(4); RETURN OLD; END $$;"
        "CREATE TRIGGER dawdle BEFORE DELETE ON affinity.heads"
        " FOR EACH ROW EXECUTE FUNCTION public.dawdle();"
        "CREATE TRIGGER dawdle BEFORE DELETE ON affinity.tenants"
        " FOR EACH ROW EXECUTE FUNCTION public.dawdle()"
    )
    hasty = await asyncpg.create_pool(owned, min_size=1, init=_prepare, command_timeout=3)
    try:
        await archive(hasty, one.id, tmp_path, by="x", now=one.now)
        assert len(await delete_tenant(hasty, name, by="x")) == 1
    finally:
        await hasty.close()
        await one.pool.execute("DROP FUNCTION public.dawdle CASCADE")


async def test_the_keys_of_a_tenant_end_before_its_campaigns_are_waited_for(
    one: OneCampaign,
) -> None:
    name = f"tenant {uuid4()}"
    one.tenant = await create_tenant(one.pool, name)
    one.id = await one.create(ExploreThenCommit(2), 100)
    await make_key(one.pool, one.tenant, "k", ["ask"])
    async with one.pool.acquire() as db, db.transaction():
        await db.execute("SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE", one.id)
        deleting = asyncio.create_task(delete_tenant(one.pool, name, by="x"))
        await one.blocked(1)
        ended = "SELECT revoked_at IS NOT NULL FROM affinity.api_keys WHERE tenant = $1"
        assert await one.pool.fetchval(ended, one.tenant)
    assert len(await deleting) == 1


async def test_nothing_else_gets_around_the_trigger(one: OneCampaign) -> None:
    await finish(one)
    another = await one.create(ExploreThenCommit(2), 100)
    delete = f"DELETE FROM affinity.events WHERE campaign = '{another}'"
    begun = f"SELECT affinity.begin_removal('{one.id}', 'x', '{{}}')"
    for first, second in (
        # After the functions, in the same transaction, the way is closed again.
        (f"{begun}; SELECT affinity.remove_rows('{one.id}', 9)", delete),
        ("SET LOCAL affinity.removing = 'yes'", "UPDATE affinity.events SET round = 0"),
        ("SET LOCAL affinity.removing = 'yes'", "TRUNCATE affinity.events"),
    ):
        async with one.pool.acquire() as db:
            with pytest.raises(asyncpg.RaiseError, match="append-only"):
                await db.execute(f"BEGIN; {first}; {second}")
            await db.execute("ROLLBACK")
    assert await rows(one, one.id) > 0


async def test_rows_of_a_campaign_in_use_are_not_removed(one: OneCampaign) -> None:
    with pytest.raises(asyncpg.RaiseError, match="has not begun"):
        await one.pool.fetchval("SELECT affinity.remove_rows($1, 9)", one.id)


async def test_a_removal_takes_bounded_batches_and_is_finished_by_the_next_command(
    one: OneCampaign, tmp_path: Path
) -> None:
    await finish(one)
    before, left = await rows(one, one.id), []
    remove = module._remove_rows

    async def killed(pool: asyncpg.Pool, campaign: UUID) -> None:
        for _ in range(2):
            assert await pool.fetchval(module.sql.remove_rows, campaign, 2) == 2
            left.append(await rows(one, campaign))
        raise RuntimeError("killed")

    with patch.object(module, "_remove_rows", killed), pytest.raises(RuntimeError):
        await archive(one.pool, one.id, tmp_path, by="x", now=one.now)
    assert left == [before - 3, before - 5]  # the head, and two rows a batch
    # Nobody sees half a campaign, nor adds to it.
    with pytest.raises(NoSuchCampaign):
        await verify(one.pool, one.id)
    with pytest.raises(NoSuchCampaign):
        await one.ask(1)
    with patch.object(module, "_remove_rows", remove), patch.object(module, "REMOVED_AT_ONCE", 2):
        done = await archive(one.pool, one.id, tmp_path / "elsewhere", by="x", now=one.now)
    assert await rows(one, one.id) == 0
    assert done.events_file.parent == tmp_path
    assert module._read_events(done.events_file) == done.trail
    gone = "SELECT count(*) FROM affinity.campaigns WHERE id = $1"
    assert await one.pool.fetchval(gone, one.id) == 0


async def test_the_deletion_of_a_tenant_goes_on_where_it_was_interrupted(one: OneCampaign) -> None:
    name = f"tenant {uuid4()}"
    one.tenant = await create_tenant(one.pool, name)
    ids = [await one.create(ExploreThenCommit(2), 100) for _ in range(2)]
    killed = patch.object(module, "_remove_rows", side_effect=RuntimeError("killed"))
    with killed, pytest.raises(RuntimeError):
        await delete_tenant(one.pool, name, by="x")
    assert [await rows(one, id_) > 0 for id_ in ids] == [True, True]
    assert len(await delete_tenant(one.pool, name, by="x")) == 1
    assert [await rows(one, id_) for id_ in ids] == [0, 0]
    assert [row["campaign"] for row in (await removals(one.pool))[-3:]] == [*ids, None]


async def test_a_finding_that_comes_at_the_last_moment_is_removed_as_well(
    one: OneCampaign, tmp_path: Path
) -> None:
    await finish(one)
    add = (
        "INSERT INTO affinity.findings"
        " VALUES ($1, 'ends', 'note', now(), '{}', 'seen', 'effect', 'advice')"
    )
    await one.pool.execute("SELECT affinity.begin_removal($1, 'x', '{}')", one.id)
    while await one.pool.fetchval("SELECT affinity.remove_rows($1, 3)", one.id) > 1:
        pass
    async with one.pool.acquire() as db:
        async with db.transaction():
            await db.execute(add, one.id)
            finishing = asyncio.create_task(module._remove_rows(one.pool, one.id))
            await one.blocked(1)
        await finishing
    assert await rows(one, one.id) == 0


@pytest.fixture
def restricted(owned: str) -> Iterator[str]:
    with service_role(owned, NAME) as found:
        yield found


async def test_another_role_does_not_pass_the_trigger_even_where_it_may_delete(
    one: OneCampaign, restricted: str
) -> None:
    await one.pool.execute(f"GRANT DELETE ON affinity.events TO {NAME}_service")
    pool = await connect(restricted)
    try:
        with pytest.raises(NotSupported, match="only the role that owns"):
            await archive(pool, uuid4(), Path("nowhere"), by="x")
        with pytest.raises(NotSupported, match="only the role that owns"):
            await delete_tenant(pool, "x", by="x")
        async with pool.acquire() as db:
            with pytest.raises(asyncpg.RaiseError, match="append-only"):
                await db.execute("SET affinity.removing = 'yes'; DELETE FROM affinity.events")
    finally:
        await pool.close()


async def test_idempotency_keys_outlive_a_finished_campaign_for_so_long(one: OneCampaign) -> None:
    count = "SELECT count(*) FROM affinity.requests WHERE campaign = $1"
    open_one = await one.create(ExploreThenCommit(2), 100)
    await finish(one)
    assert await one.pool.fetchval(count, one.id) == 3
    one.wait(3600)
    await expire_requests(one.pool, 7200, now=one.now)
    assert await one.pool.fetchval(count, one.id) == 3
    one.wait(7200)
    assert await expire_requests(one.pool, 7200, now=one.now) >= 3
    assert await one.pool.fetchval(count, one.id) == 0
    assert await rows(one, open_one) > 0
    assert (await verify(one.pool, one.id)).differences == ()
