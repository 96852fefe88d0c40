"""Databases of every released schema come up to date with what is in them, and go on."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import asyncpg
import pytest

from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.service.core.campaign_spec import CampaignSpec, open_round
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.judging import Judges, Naming
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.store.migrate import MOVED, migrate, newest_revision
from affinity_bandits.service.store.migrations import FIRST, STEPS
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.service.ui.campaign_text import order_of_answers
from affinity_bandits.wire import Finished, Wait
from affinity_bandits.wire.values import new_key

from .golden import make

NOW = make.LATER + timedelta(hours=1)


EVERY_REVISION = [FIRST, *STEPS]


def test_every_schema_that_was_released_has_a_golden_dump() -> None:
    assert sorted(path.stem for path in make.HERE.glob("*.sql")) == EVERY_REVISION


@pytest.mark.slow
def test_an_empty_database_is_brought_to_the_newest_schema(empty_dsn: str) -> None:
    migrate(empty_dsn)
    assert query(empty_dsn, "SELECT version_num FROM affinity.affinity_schema") == [
        newest_revision()
    ]
    assert newest_revision() == EVERY_REVISION[-1]


@pytest.mark.slow
def test_migrating_again_changes_nothing(empty_dsn: str) -> None:
    migrate(empty_dsn)
    asyncio.run(make.fill(empty_dsn))
    before = contents(empty_dsn)
    migrate(empty_dsn)
    assert contents(empty_dsn) == before


@pytest.mark.slow
def test_servers_that_start_together_may_all_migrate(empty_dsn: str) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as servers:
        for done in [servers.submit(migrate, empty_dsn) for _ in range(3)]:
            done.result()
    assert query(empty_dsn, "SELECT version_num FROM affinity.affinity_schema") == [
        newest_revision()
    ]


@pytest.mark.slow
def test_a_migration_that_fails_leaves_nothing_behind(empty_dsn: str) -> None:
    query(empty_dsn, "CREATE SCHEMA affinity")  # somebody else's, in the way
    with pytest.raises(NotSupported, match="nothing says of which revision it is"):
        migrate(empty_dsn)
    assert query(empty_dsn, "SELECT count(*) FROM pg_tables WHERE schemaname = 'affinity'") == [0]
    query(empty_dsn, "DROP SCHEMA affinity")
    migrate(empty_dsn)


@pytest.mark.slow
def test_a_database_of_a_later_version_is_refused_and_nothing_changes(empty_dsn: str) -> None:
    migrate(empty_dsn)
    query(empty_dsn, "UPDATE affinity.affinity_schema SET version_num = '9999'")
    before = schema_of(empty_dsn)
    with pytest.raises(NotSupported, match="the database's schema is 9999, and this version knows"):
        migrate(empty_dsn)
    assert schema_of(empty_dsn) == before


@pytest.mark.parametrize(
    ("dsn", "problem", "said"),
    [
        ("postgresql://127.0.0.1:1/test", Unavailable, "did not answer"),
        ("no dsn", InvalidInput, "of the form postgresql://"),
    ],
)
def test_a_database_that_is_not_there_is_said_to_be(
    dsn: str, problem: type[Exception], said: str
) -> None:
    with pytest.raises(problem, match=said):
        migrate(dsn)


def test_a_database_that_does_not_exist_is_named(empty_dsn: str) -> None:
    with pytest.raises(InvalidInput, match=r'database "[a-z_0-9]*_not" does not exist'):
        migrate(f"{empty_dsn}_not")


@pytest.mark.slow
@pytest.mark.parametrize("revision", EVERY_REVISION)
def test_a_database_of_each_schema_is_upgraded_and_goes_on(empty_dsn: str, revision: str) -> None:
    dump = (make.HERE / f"{revision}.sql").read_text(encoding="utf-8")
    query(empty_dsn, dump)
    place = "public" if revision < MOVED else "affinity"
    assert query(empty_dsn, f"SELECT version_num FROM {place}.affinity_schema") == [revision]
    migrate(empty_dsn)
    assert query(empty_dsn, "SELECT version_num FROM affinity.affinity_schema") == [
        newest_revision()
    ]
    strange = (
        "SELECT count(*) FROM affinity.requests AS r LEFT JOIN affinity.events AS e"
        " ON e.campaign = r.campaign AND e.number = r.event WHERE e.actor IS DISTINCT FROM r.actor"
    )
    assert query(empty_dsn, strange) == [0]
    asyncio.run(goes_on(empty_dsn, revision))


@pytest.mark.slow
@pytest.mark.parametrize("revision", EVERY_REVISION)
def test_all_migrations_together_give_exactly_the_current_text(
    empty_dsn: str, other_empty_dsn: str, revision: str
) -> None:
    query(empty_dsn, (make.HERE / f"{revision}.sql").read_text(encoding="utf-8"))
    migrate(empty_dsn)
    migrate(other_empty_dsn)
    assert schema_of(empty_dsn) == schema_of(other_empty_dsn)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE affinity.heads ALTER COLUMN oldest DROP DEFAULT",
        "ALTER TABLE affinity.heads DROP CONSTRAINT heads_in_flight_check",
        "ALTER TABLE affinity.sums RESET (fillfactor)",
        "DROP INDEX affinity.api_keys_of_tenant",
        "DROP TRIGGER append_only ON affinity.events",
        "DROP TRIGGER append_only ON affinity.events_7",
        "ALTER TABLE affinity.events DETACH PARTITION affinity.events_3",
        "ALTER FUNCTION affinity.tell RESET enable_seqscan",
    ],
)
def test_a_schema_that_differs_in_anything_is_told_apart(empty_dsn: str, change: str) -> None:
    migrate(empty_dsn)
    before = schema_of(empty_dsn)
    query(empty_dsn, change)
    assert schema_of(empty_dsn) != before


def schema_of(dsn: str) -> list[str]:
    """Everything that a schema consists of, as PostgreSQL itself spells it."""
    return query(
        dsn,
        """SELECT t.line FROM (
  SELECT format('%s.%s %s %s %s %s', c.relname, a.attnum, a.attname,
      format_type(a.atttypid, a.atttypmod), a.attnotnull::text || a.attidentity::text,
      pg_get_expr(d.adbin, d.adrelid)) AS line
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'affinity'::regnamespace AND c.relkind IN ('r', 'p')
  UNION ALL SELECT format('%s %s %s', c.relname, c.reloptions,
      pg_get_expr(c.relpartbound, c.oid)) FROM pg_class AS c
    WHERE c.relnamespace = 'affinity'::regnamespace
  UNION ALL SELECT format('%s %s', n.conname, pg_get_constraintdef(n.oid))
    FROM pg_constraint AS n WHERE n.connamespace = 'affinity'::regnamespace
  UNION ALL SELECT pg_get_indexdef(i.indexrelid) FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relnamespace = 'affinity'::regnamespace
  UNION ALL SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p
    WHERE p.pronamespace = 'affinity'::regnamespace
  UNION ALL SELECT pg_get_triggerdef(g.oid) FROM pg_trigger AS g
    JOIN pg_class AS c ON c.oid = g.tgrelid
    WHERE c.relnamespace = 'affinity'::regnamespace AND NOT g.tgisinternal
) AS t ORDER BY 1""",
    )


async def goes_on(dsn: str, revision: str) -> None:
    pool = await connect(dsn)
    try:
        campaigns = Campaigns(pool)
        there = [id_ for id_ in make.POLICIES if make.SINCE.get(id_, "") <= revision]
        if make.IN_ORDER in there and revision < "0004":
            # Its policy is another one now: nothing is said against the record, or decided by it.
            there.remove(make.IN_ORDER)
            with pytest.raises(NotSupported, match="its state was saved by version 1"):
                await verify(pool, make.IN_ORDER)
        verdicts = {id_: await verify(pool, id_) for id_ in there}
        assert {id_: one.differences for id_, one in verdicts.items() if one.differences} == {}
        assert verdicts[make.RUNNING].rounds == 2

        marked = make.MARKED in there
        assert await pool.fetchval("SELECT count(*) FROM affinity.faults") == marked
        # The one whose process had died, and the one that this server can read again.
        assert await campaigns.close_due(now=NOW) == 1 + marked
        assert await pool.fetchval("SELECT count(*) FROM affinity.faults") == 0
        for id_ in (make.RUNNING, make.DECIDED, make.COMPLETE, *([make.MARKED] * marked)):
            for _ in range(3):
                lease = await asked(campaigns, id_)
                assert isinstance(lease, Lease)
                slots = tuple(slot for slot, _ in lease.slots)
                tell = SlotTell(lease.number, new_key(), "t", slots, (10**8,) * len(slots))
                (told,) = await campaigns.tell(make.TENANT, id_, [tell], now=NOW)
                assert told.counted == len(slots)
        assert await asked(campaigns, make.EXHAUSTED) == Finished(status="exhausted")
        assert await asked(campaigns, make.STOPPED) == Finished(status="stopped")
        if make.IN_ORDER in there:
            owed = await asked(campaigns, make.IN_ORDER)  # what expired leases still owe
            assert len(owed.slots) == 2
            assert isinstance(await asked(campaigns, make.IN_ORDER), Wait)
        if make.COUNTED in there:
            for _ in range(3):
                lease = await asked(campaigns, make.COUNTED)
                slots = tuple(slot for slot, _ in lease.slots)
                tell = SlotTell(lease.number, new_key(), "t", slots, (2 * 10**9 + 7,) * len(slots))
                await campaigns.tell(make.TENANT, make.COUNTED, [tell], now=NOW)
            assert (await verify(pool, make.COUNTED)).rounds > verdicts[make.COUNTED].rounds
        for id_ in {make.SEATED, make.JOINED} & set(there):
            assert isinstance(await asked(campaigns, id_), Wait)
            naming = Naming(Judges((4, 4, 4)), None, new_key(), "t")
            await campaigns.name_judges(make.TENANT, id_, naming, now=NOW)
            assert isinstance(await asked(campaigns, id_), Lease)
        after = {id_: await verify(pool, id_) for id_ in there}
        assert {id_: one.differences for id_, one in after.items() if one.differences} == {}
        assert after[make.RUNNING].events > verdicts[make.RUNNING].events
        assert after[make.RUNNING].rounds > verdicts[make.RUNNING].rounds
    finally:
        await pool.close()


# What 0001 wrote and 0002 reads.


def restored_0001(dsn: str) -> None:
    query(dsn, (make.HERE / "0001.sql").read_text(encoding="utf-8"))
    query(dsn, "SET search_path = public")


@pytest.mark.slow
def test_campaigns_whose_sums_were_not_mapped_are_refused_and_nothing_changes(
    empty_dsn: str,
) -> None:
    restored_0001(empty_dsn)
    query(
        empty_dsn,
        f"UPDATE affinity.campaigns SET highest = 5000000000 WHERE id = '{make.RUNNING}'",
    )
    before = contents(empty_dsn)
    with pytest.raises(NotSupported, match=rf"do not go from 0 to 1, .*\({make.RUNNING}\)"):
        migrate(empty_dsn)
    assert query(empty_dsn, "SELECT version_num FROM public.affinity_schema") == ["0001"]
    assert contents(empty_dsn) == before


@pytest.mark.slow
def test_a_handicap_that_knew_no_window_goes_on_without_one_and_says_so(empty_dsn: str) -> None:
    restored_0001(empty_dsn)
    asyncio.run(made_by_0001(empty_dsn))
    migrate(empty_dsn)
    asyncio.run(has_no_window(empty_dsn))


OLD = make.IN_ORDER


async def made_by_0001(dsn: str) -> None:
    """Make a campaign as 0001 did, and have slots of its round answered last first."""
    pool = await connect(dsn)
    try:
        policy = HandicapElimination(head_start=96, sigma=0.3, failure=0.05)
        about = CampaignSpec("old", ("a", "b"), policy, 500)
        state = policy.start(2, 500)
        first = open_round(policy, state, 500, 0)
        data, saved = about.to_json(), policy.save(state, 2, 500)
        del data["policy"]["in_flight"], saved["policy"]["in_flight"]
        await pool.execute(
            "INSERT INTO affinity.campaigns (id, tenant, name, arms, policy, horizon,"
            " lease_seconds, lowest, highest, saved, created_at, created_by, key, digest)"
            " VALUES ($1, 1, 'old', '{a,b}', $2, 500, 3600, 0, 1000000000, $3, $4, 'g', 'k', '')",
            *(OLD, data["policy"], saved, make.BEGIN),
        )
        await pool.execute(
            "INSERT INTO affinity.heads (campaign, tenant, status, round, width, size, next_slot,"
            " answered, events, lease_seconds, lowest, highest)"
            " VALUES ($1, 1, 'open', 0, 2, $2, 0, 0, 1, 3600, 0, 1000000000)",
            *(OLD, first.size),
        )
        await pool.execute(
            "INSERT INTO affinity.rounds (campaign, number, arms, repetitions, size, before,"
            " opened_at) VALUES ($1, 0, $2, $3, $4, 0, $5)",
            *(OLD, first.arms, first.repetitions, first.size, make.BEGIN),
        )
        await pool.execute(
            "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, detail)"
            " VALUES ($1, 1, $2, 'create', 'g', 0, $3)",
            *(OLD, make.BEGIN, {"description": data, "version": "0", "state": saved["state"]}),
        )
        await answered_last_first_in_0001(pool)
    finally:
        await pool.close()


async def answered_last_first_in_0001(pool: asyncpg.Pool[Any]) -> None:
    """By the functions of that schema, which took one campaign."""
    for number in range(3):
        await pool.execute(
            "SELECT count(*) FROM affinity.ask(1, $1, $2, '{t}', $3, '{4}')",
            OLD,
            make.BEGIN,
            [f"a{number}"],
        )
    for number in (2, 1, 0):
        slots = list(range(4 * number, 4 * number + 4))
        tell = SlotTell(number + 2, f"t{number}", "t", tuple(slots), (10**8,) * 4)
        await pool.execute(
            "SELECT count(*) FROM affinity.tell(1, $1, $2, '{t}', $3, $4, $5, $6, '{4}', $7,"
            " '{0,0,0,0}', $8)",
            *(OLD, make.BEGIN, [tell.key], [tell.digest], [tell.lease], ["answers"], slots),
            list(tell.units),
        )


async def answered_last_first(campaigns: Campaigns, asks: int, size: int, now: Any) -> None:
    leases = []
    for _ in range(asks):
        (lease,) = await campaigns.ask(1, OLD, [Ask(size, new_key(), "t")], now=now)
        assert isinstance(lease, Lease)
        assert len(lease.slots) == size
        leases.append(lease)
    for lease in leases[::-1]:
        slots = tuple(slot for slot, _ in lease.slots)
        tell = SlotTell(lease.number, new_key(), "t", slots, (10**8,) * size)
        await campaigns.tell(1, OLD, [tell], now=now)


async def has_no_window(dsn: str) -> None:
    pool = await connect(dsn)
    try:
        assert (await verify(pool, OLD)).differences == ()
        await answered_last_first(Campaigns(pool), 2, 2, NOW)
        verdict = await verify(pool, OLD)
        assert (verdict.differences, verdict.rounds) == ((), 1)
        found = await CampaignQueries(pool).campaign(1, OLD)
        assert found.in_flight is None
        assert "holds if answers came in the order" in order_of_answers(found)
    finally:
        await pool.close()


async def asked(campaigns: Campaigns, id_: Any) -> Any:
    ask = Ask(100, new_key(), "t")
    return (await campaigns.ask(make.TENANT, id_, [ask], now=NOW))[0]


def test_dumps_name_nobody_and_need_no_psql() -> None:
    for path in make.HERE.glob("*.sql"):
        text = path.read_text(encoding="utf-8")
        assert "OWNER TO" not in text
        assert not [
            line for line in text.splitlines() if line.startswith(("\\", "GRANT", "REVOKE"))
        ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="only who makes a dump needs pg_dump")
def test_the_newest_dump_is_what_its_maker_makes() -> None:
    stored = (make.HERE / f"{newest_revision()}.sql").read_text(encoding="utf-8")
    assert data_of(make.made()) == data_of(stored)


def data_of(dump: str) -> list[str]:
    """The rows, sorted: a table has no order, and pg_dump's versions spell the rest differently."""
    return sorted(line for line in dump.splitlines() if line.startswith("INSERT INTO affinity."))


def contents(dsn: str) -> list[Any]:
    tables = query(dsn, "SELECT tablename FROM pg_tables WHERE schemaname = 'affinity' ORDER BY 1")
    assert "events" in tables
    return [query(dsn, f"SELECT t::text FROM affinity.{one} AS t ORDER BY 1") for one in tables]


def query(dsn: str, sql: str) -> list[Any]:
    """Run SQL; return the first column of what a single statement returns."""

    async def run() -> list[Any]:
        connection = await asyncpg.connect(dsn)
        try:
            if not sql.startswith("SELECT"):
                await connection.execute(sql)
                return []
            return [row[0] for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return asyncio.run(run())
