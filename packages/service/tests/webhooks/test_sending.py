"""Notices are written with what they report, and sent in order until they are received."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

import asyncpg
import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages import check_notice
from affinity_bandits_service.core import health_checks
from affinity_bandits_service.core.health_checks import HealthChecks
from affinity_bandits_service.core.keys import create_tenant
from affinity_bandits_service.health.words import Words
from affinity_bandits_service.store.connection import connect, sql
from affinity_bandits_service.webhooks import sending
from affinity_bandits_service.webhooks.sending import KINDS, Sender
from affinity_bandits_service.webhooks.subscriptions import Webhooks
from packages.service.tests.conftest import opened_in
from packages.service.tests.webhooks.receiver import Receiver, receiving, slow
from tests.support.one_campaign import OneCampaign, opened
from tests.support.served import served, until


class Hooked:
    """A campaign of a tenant of its own, with a webhook."""

    def __init__(self, one: OneCampaign, receiver: Receiver, dsn: str) -> None:
        self.one = one
        self.receiver = receiver
        self.dsn = dsn
        self.webhooks = Webhooks(one.pool, private=True)
        self.sender = Sender(dsn, private=True, first_pause=0.0)
        self.id: UUID
        self.secret: str

    async def decide(self) -> None:
        """Play until a group is dropped and the other is left."""
        lease = await self.one.ask(4)
        await self.one.tell(lease, {0: 1, 1: 0, 2: 1, 3: 0})

    async def send(self) -> None:
        await self.sender.send_due(self.one.pool)

    async def look(self) -> dict[str, Any]:
        (found,) = await self.webhooks.list(self.one.tenant)
        return found

    async def put_in(self, count: int) -> None:
        for number in range(count):
            body = json.dumps({"kind": str(number)})
            await self.one.pool.execute(sql.add_notice, self.id, self.one.id, "decided", body)


@asynccontextmanager
async def hooked(dsn: str) -> AsyncIterator[Hooked]:
    with receiving() as receiver:
        async with opened(dsn) as one:
            await one.pool.execute("DELETE FROM affinity.notices")
            one.tenant = await create_tenant(one.pool, f"hooked {os.urandom(8).hex()}")
            one.id = await one.create(ExploreThenCommit(2), 100)
            made = Hooked(one, receiver, dsn)
            made.id, made.secret = await made.webhooks.add(one.tenant, receiver.url, KINDS, "test")
            yield made
            await made.webhooks.remove(one.tenant, made.id)


@pytest.fixture
def at(dsn: str, request: pytest.FixtureRequest) -> Iterator[Hooked]:
    with opened_in(request.node, hooked(dsn)) as found:
        yield found


async def test_a_drop_and_a_decision_are_told_once_in_order_and_signed(at: Hooked) -> None:
    await at.send()
    assert at.receiver.bodies == []
    await at.decide()
    assert (await at.look())["waiting"] == 2
    await at.send()
    await at.send()
    dropped, decided = map(json.loads, at.receiver.bodies)
    assert (dropped["kind"], dropped["groups"], dropped["round"]) == ("dropped", ["b"], 0)
    assert (decided["kind"], decided["group"], decided["status"]) == ("decided", "a", "decided")
    assert dropped["campaign"] == decided["campaign"] == str(at.one.id)
    assert dropped["notice"] != decided["notice"]
    for body, headers in zip(at.receiver.bodies, at.receiver.headers, strict=True):
        check_notice(at.secret, headers["affinity-signature"], body)
        assert headers["content-type"] == "application/json"
    assert (await at.look())["waiting"] == 0
    lease = await at.one.ask(2)  # further rounds of what is decided are no news
    await at.one.tell(lease, dict.fromkeys(range(2), 1))
    await at.send()
    assert len(at.receiver.bodies) == 2


async def test_a_notice_is_there_if_and_only_if_what_it_reports_is(at: Hooked) -> None:
    with patch.object(
        sql, "next_round", "SELECT 1 / 0, $1::uuid, $2::bool, $3::int, $4::int, $5::bool"
    ):
        await at.one.complete_but_do_not_close()
        for _ in range(2):  # a second try that fails is no news
            await at.one.campaigns.closer.close_due(now=at.one.now)
            at.one.wait(60)
    kinds = await at.one.pool.fetch("SELECT kind FROM affinity.notices ORDER BY number")
    # The drop and the decision were undone with the round's end; the fault was not.
    assert [row["kind"] for row in kinds] == ["attention"]
    at.one.wait(60)
    await at.one.campaigns.closer.close_due(now=at.one.now)
    await at.send()
    assert at.receiver.kinds == ["attention", "dropped", "decided"]


async def test_no_more_notices_are_kept_for_a_webhook_than_a_bound(at: Hooked) -> None:
    await at.put_in(2)
    with patch.object(sending, "MOST_OWED", 3):
        await at.one.complete_but_do_not_close()
        await at.one.campaigns.closer.close_due(now=at.one.now)
    await at.send()
    assert at.receiver.kinds == ["0", "1", "dropped"]  # and there was no room for "decided"


async def test_a_standstill_is_told_when_it_is_found(at: Hooked) -> None:
    found = Words("standstill", "warning", (), "no answers", "it waits", "look at raters")
    checked = health_checks.Checked((found,), 0, 0.0, 0.0)
    with patch.object(health_checks, "check_look", lambda _: checked):
        for _ in range(2):
            await HealthChecks(at.one.pool).check(at.one.id)
    await at.send()
    (told,) = map(json.loads, at.receiver.bodies)
    assert (told["kind"], told["seen"]) == ("standstill", "no answers")
    assert told["advice"] == "look at raters"


async def test_pauses_grow_and_the_reason_can_be_read(at: Hooked, dsn: str) -> None:
    at.receiver.reply = lambda _: 503
    await at.put_in(1)
    waiting = Sender(dsn, private=True)
    pauses = []
    for _ in range(4):
        await waiting.send_due(at.one.pool)
        await waiting.send_due(at.one.pool)  # too early: nothing is sent
        pause = await at.one.pool.fetchval(
            "UPDATE affinity.webhooks AS w SET retry_at = clock_timestamp()"
            " FROM affinity.webhooks AS o WHERE w.id = $1 AND o.id = w.id"
            " RETURNING extract(epoch FROM o.retry_at - clock_timestamp())::float8",
            at.id,
        )
        pauses.append(round(pause / sending.FIRST_PAUSE))
    assert pauses == [1, 2, 4, 8]
    assert len(at.receiver.bodies) == 4
    assert (await at.look())["last_failure"] == "status 503"


@pytest.mark.parametrize("failed", [False, True])
async def test_after_the_clock_is_set_back_notices_do_not_wait_for_it(
    at: Hooked, dsn: str, failed: bool
) -> None:
    at.receiver.reply = lambda number: 503 if failed and number == 1 else 200
    sender = Sender(dsn, private=True)
    await at.put_in(1)
    await sender.send_due(at.one.pool)
    assert (await at.look())["waiting"] == failed
    # What was set by a clock that was a day ahead.
    await at.one.pool.execute(
        "UPDATE affinity.webhooks SET retry_at = retry_at + '1 day' WHERE id = $1", at.id
    )
    await at.put_in(1)
    await sender.send_due(at.one.pool)
    assert (await at.look())["waiting"] == 0


async def test_after_so_many_tries_a_notice_is_dead_seen_and_can_be_revived(at: Hooked) -> None:
    at.receiver.reply = lambda number: 400 if number <= sending.MOST_TRIES else 200
    await at.put_in(2)
    await at.send()
    assert at.receiver.kinds == ["0"] * sending.MOST_TRIES + ["1"]
    found = await at.look()
    assert (found["waiting"], found["dead"]) == (0, 1)
    await at.send()
    assert len(at.receiver.bodies) == sending.MOST_TRIES + 1
    assert await at.webhooks.retry(at.one.tenant, at.id) == 1
    await at.send()
    assert at.receiver.kinds[-1] == "0"
    assert (await at.look())["dead"] == 0


async def test_dead_notices_expire_and_waiting_ones_do_not(at: Hooked) -> None:
    at.receiver.reply = lambda _: 400
    await at.put_in(2)
    await at.one.pool.execute(
        "UPDATE affinity.notices SET dead = (body LIKE '%0%'), created_at = created_at"
        " - make_interval(days => $1)",
        sending.DEAD_DAYS + 1,
    )
    await at.one.pool.execute(
        "UPDATE affinity.webhooks SET retry_at = now() + '1 day', pause = 86400"
    )
    await at.send()
    found = await at.look()
    assert (found["waiting"], found["dead"]) == (1, 0)


async def test_a_receiver_that_hangs_keeps_no_other_waiting(
    at: Hooked, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.5)
    at.receiver.reply = lambda _: slow(3)
    await at.put_in(1)
    with receiving() as other:
        second, _ = await at.webhooks.add(at.one.tenant, other.url, KINDS, "test")
        for number in range(20):
            body = json.dumps({"kind": str(number)})
            await at.one.pool.execute(sql.add_notice, second, at.one.id, "decided", body)
        await Sender(dsn, private=True).send_due(at.one.pool)
        assert other.kinds == [str(number) for number in range(20)]
        await at.webhooks.remove(at.one.tenant, second)
    assert (await at.look())["last_failure"] == "no reply within 0.5 seconds"


@pytest.mark.parametrize("locked", [True, False])
async def test_several_servers_send_to_a_webhook_one_at_a_time_and_each_notice_once(
    at: Hooked, dsn: str, monkeypatch: pytest.MonkeyPatch, locked: bool
) -> None:
    """And the control: without the lock they would not."""
    if not locked:
        unlocked = sql.next_webhook.replace("FOR NO KEY UPDATE OF w SKIP LOCKED", "")
        assert unlocked != sql.next_webhook
        monkeypatch.setattr(sql, "next_webhook", unlocked)
    at.receiver.reply = lambda _: slow(0.01)
    await at.put_in(10)
    pools = [await connect(dsn, largest=4) for _ in range(3)]
    try:
        await asyncio.gather(*(Sender(dsn, private=True).send_due(pool) for pool in pools))
    except asyncpg.PostgresError:
        assert not locked
    finally:
        for pool in pools:
            await pool.close()
    assert (at.receiver.most_at_once == 1) == locked
    assert (at.receiver.kinds == [str(number) for number in range(10)]) == locked


@pytest.mark.slow
async def test_a_server_that_is_killed_while_it_sends_loses_nothing(at: Hooked, dsn: str) -> None:
    at.receiver.reply = lambda number: slow(5) if number == 1 else 200
    await at.decide()
    with served(dsn, "--webhooks-private") as server:
        await asyncio.to_thread(until, "the first", lambda: len(at.receiver.bodies) == 1)
        os.kill(server.process.pid, signal.SIGKILL)
        server.wait()
    assert at.receiver.kinds == ["dropped"]
    with served(dsn, "--webhooks-private"):
        await asyncio.to_thread(until, "the rest", lambda: len(at.receiver.bodies) == 3)
    assert at.receiver.kinds == ["dropped", "dropped", "decided"]
    first, again = map(json.loads, at.receiver.bodies[:2])
    assert first == again  # its receiver knows it by its notice


@pytest.mark.slow
async def test_by_default_the_service_sends_nothing_to_this_machine(at: Hooked, dsn: str) -> None:
    await at.decide()
    with served(dsn):
        end = asyncio.get_running_loop().time() + 60
        while (await at.look())["last_failure"] is None:
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.1)
    assert (await at.look())["last_failure"] == "this server sends nothing to such a URL"
    assert at.receiver.bodies == []
