"""Neutral blocks from Python: both clients, refusals, and a rater whose program is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from affinity_bandits_client import (
    AsyncClient,
    Block,
    Client,
    Finished,
    InvalidInput,
    Lease,
    NoDecision,
    RequestRefused,
    Told,
    Wait,
)
from tests.support.clients import Losing, Service
from tests.support.declared import DECLARED

GROUPS = ("referrals", "open call", "agency")
BLOCKS = {"name": "neutral-elimination", "failure": 0.05}


def new_blocks(client: Client, lease_seconds: float = 3600.0, **more: object) -> str:
    return client.create_campaign(
        "blocks",
        GROUPS,
        {**BLOCKS, **more},
        horizon=10_000,
        lowest=1,
        highest=5,
        lease_seconds=lease_seconds,
        declaration=DECLARED.to_json(),
    ).id


@pytest.mark.slow
def test_a_client_asks_for_blocks_and_tells_them_to_a_decision(service: Service) -> None:
    merit = {"referrals": 2, "open call": 5, "agency": 1}
    with Client(service.url, service.key()) as client:
        campaign = new_blocks(client)
        found = client.campaign(campaign)
        while found.status == "open":
            for own in found.round.blocks or ():
                assert own.rater_group is not None
                rater = f"rater-{GROUPS.index(own.rater_group)}"
                block = client.ask_block(campaign, own.rater_group, rater=rater)
                if isinstance(block, Block):
                    assert client.tell_block(
                        block, {group: merit[group] for group in block.groups}
                    ).counted == len(block.groups)
            found = client.campaign(campaign)
        assert found.recommended == "open call"
        assert client.ask_block(campaign, "agency") == Finished(status="decided")
    assert service.differences(campaign) == ()


@pytest.mark.slow
def test_lost_replies_give_and_count_once(service: Service) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_blocks(client)
        with Client(service.url, key, transport=Losing(2), sleep=lambda _: None) as lossy:
            block = lossy.ask_block(campaign, "agency", rater="r1")
        assert isinstance(block, Block)
        with Client(service.url, key, transport=Losing(2), sleep=lambda _: None) as lossy:
            assert lossy.tell_block(block, [3, 4]) == Told(counted=2, late=0, duplicate=0)
        with pytest.raises(RequestRefused, match="answered before with other scores") as refused:
            client.tell_block(block, [4, 3])
        assert refused.value.code == "block_answered"
        kinds = [event.kind for event in client.events(campaign)]
        assert kinds == ["create", "ask_block", "tell_block"]
        # The control: with a new key for each try, three blocks are given.
        transport = Losing(2, fresh_keys=True)
        with Client(service.url, key, transport=transport, sleep=lambda _: None) as careless:
            careless.ask_block(campaign, "agency")
        kinds = [event.kind for event in client.events(campaign)]
        assert kinds.count("ask_block") == 4


@pytest.mark.slow
def test_an_asynchronous_client_does_the_same(service: Service) -> None:
    key = service.key()

    async def run() -> None:
        async with AsyncClient(service.url, key) as client:
            made = await client.create_campaign(
                "two",
                GROUPS[:2],
                {**BLOCKS, "outsiders": True},
                horizon=1000,
                declaration=DECLARED.to_json(),
            )
            block = await client.ask_block(made, rater="r1")
            assert isinstance(block, Block)
            assert (block.rater_group, block.rater) == (None, "r1")
            assert (await client.release(made, block)).released == 2
            assert (await client.tell_block(block, [1, 0])).late == 2
            with pytest.raises(RequestRefused, match="only people who belong to none"):
                await client.ask_block(made, "referrals")

    asyncio.run(run())


@pytest.mark.slow
def test_two_groups_streams_and_single_slots_are_refused_in_words(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        with pytest.raises(RequestRefused, match=r"Two groups: .*outsiders=True"):
            client.create_campaign(
                "two", GROUPS[:2], BLOCKS, horizon=1000, declaration=DECLARED.to_json()
            )
        campaign = new_blocks(client)
        with pytest.raises(RequestRefused, match="hands out blocks, each of which one rater"):
            client.ask(campaign)
        with client.stream(campaign) as stream:
            assert not stream.wait()
            with pytest.raises(NoDecision, match="ask-block and tell its scores with tell-block"):
                stream.next()
        wait = client.ask_block(campaign, "agency")
        assert not isinstance(wait, Wait)


def a_block() -> Block:
    return Block(
        status="given",
        number=2,
        round=0,
        rater_group="agency",
        rater=None,
        groups=("open call", "referrals"),
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
        campaign=str(uuid4()),
    )


def test_scores_are_told_by_group_or_in_order() -> None:
    block = a_block()
    assert block.in_order({"referrals": 1, "open call": 2}) == [2.0, 1.0]
    assert block.in_order([2, 1]) == [2.0, 1.0]
    for scores, said in (
        ([2], "scores must be 2 of them, one for each group of the block, got 1"),
        ({"referrals": 1}, "scores must be a score for each of open call, referrals"),
        ({"referrals": 1, "open call": 2, "agency": 3}, "a score for each of open call, referrals"),
        ([2, float("nan")], "score of referrals must be"),
        ("21", "scores must be a list of scores, or scores by group"),
    ):
        with pytest.raises(InvalidInput, match=said):
            block.in_order(scores)  # type: ignore[arg-type]


RATER = """
import os, sys, time
from affinity_bandits_client import Client

way, url, key, campaign = sys.argv[1:]
with Client(url, key) as client:
    if way == "blocks":
        block = client.ask_block(campaign, "agency")
        scores = []
        for group in block.groups:
            scores.append(5.0)  # of the first candidate; the second takes long
            print(block.number, flush=True)
            time.sleep(600)
        client.tell_block(block, scores)
    lease = client.ask(campaign, 2)
    for slot in lease.slots:
        client.tell(lease, {slot.slot: 5.0})
        print(lease.number, flush=True)
        time.sleep(600)
"""


def killed_in_the_middle(service: Service, way: str, key: str, campaign: str) -> int:
    """Run a program that rates two candidates, and kill it after the first; return its lease."""
    command = [sys.executable, "-c", RATER, way, service.url, key, campaign]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    return number


@pytest.mark.slow
def test_a_rater_killed_in_the_middle_of_a_block_counts_nothing(service: Service) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_blocks(client, lease_seconds=0.5)
        for _ in range(4):
            killed_in_the_middle(service, "blocks", key, campaign)
        assert client.campaign(campaign).round.answered == 0
        time.sleep(0.6)
        again = client.ask_block(campaign, "agency")
        assert isinstance(again, Block)
        first = next(event for event in client.events(campaign) if event.number == 2)
        assert [GROUPS[arm] for arm in first.data["arms"]] == list(again.groups)
        assert client.tell_block(again, [3, 3]).counted == 2
        assert client.campaign(campaign).round.answered == 2
        # The control: the same program, killed at the same place, leaves half of what are slots.
        slots = client.create_campaign(
            "slots", GROUPS, "uniform", horizon=100, highest=5, declaration=DECLARED.to_json()
        )
        killed_in_the_middle(service, "slots", key, slots.id)
        assert client.campaign(slots).round.answered == 1
        assert isinstance(client.ask(slots), Lease)
    assert service.differences(campaign) == ()
