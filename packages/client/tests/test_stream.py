"""Streams against a real server: decisions from memory, answers in bulk, nothing lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import httpx2
import pytest

from affinity_bandits_client import (
    AsyncClient,
    Client,
    DecisionStream,
    LocalDecision,
    NoDecision,
    Rater,
    StreamFull,
)
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.journal import Answer, Batch, Journal
from affinity_bandits_client.messages.base import LONGEST_LINE
from affinity_bandits_client.stream import StreamState, bulk_parts
from tests.support.clients import EVERYTHING, NOBODY, Service, new_campaign, no
from tests.support.declared import DECLARED


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def run(stream: DecisionStream, score: Callable[[str], float], decisions: int) -> int:
    """Decide and tell; return how many decisions were from leased slots."""
    made = 0
    while made < decisions and stream.wait() and stream.ended is None:
        decision = stream.next()
        stream.tell(decision, score(decision.arm))
        made += not decision.is_fallback
    return made


def test_a_stream_runs_a_campaign_to_its_decision(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client)
        with client.stream(campaign, fallback="a") as stream:
            run(stream, lambda arm: float(arm == "b"), 300)
        stats = stream.stats()
        assert stats.decided == stats.told == stats.sent == stats.counted >= 300
        assert (stats.waiting, stats.dropped, stats.late, stats.duplicate) == (0, 0, 0, 0)
        found = client.campaign(campaign)
        assert (found.status, found.recommended) == ("decided", "b")
        assert sum(arm.answers for arm in found.arms) == stats.counted
        # Unused slots were given back: whoever comes next need not wait for them.
        assert client.ask(campaign).status == "leased"
    assert service.differences(campaign) == ()


def test_a_fallback_is_marked_and_never_counts(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client)
        client.stop(campaign)
        with client.stream(campaign, fallback=lambda: "b") as stream:
            until(lambda: stream.ended == "stopped")
            decision = stream.next()
            assert (decision.arm, decision.is_fallback) == ("b", True)
            stream.tell(decision, 1.0)
        assert stream.stats()[:4] == (0, 1, 0, 0)
        with client.stream(campaign) as stream:
            until(lambda: stream.ended == "stopped")
            with pytest.raises(NoDecision, match="stopped"):
                stream.next()


def test_a_fallback_that_is_no_group_is_refused(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client)
        with client.stream(campaign, fallback="refferals") as stream:
            for call in (stream.wait, stream.next):
                with pytest.raises(InvalidInput, match=r"one of \['a', 'b'\], got 'refferals'"):
                    call()
            assert "refferals" in str(stream.problem)
        assert ["refferals" in text for text in logged(caplog)] == [True]
        client.stop(campaign)
        with client.stream(campaign, fallback=lambda: "refferals") as stream:
            until(lambda: stream.ended == "stopped")
            with pytest.raises(InvalidInput, match="fallback"):
                stream.next()


@pytest.mark.parametrize(
    ("scopes", "wrong", "said"),
    [
        (("ask", "tell"), {}, "scope 'read'.* needs .* scopes ask, tell and read"),
        (EVERYTHING, {"key": NOBODY}, "check the API key"),
        (EVERYTHING, {"campaign": str(UUID(int=7))}, "no campaign .* check the id"),
    ],
)
def test_a_refusal_is_said_at_once_and_logged_once(
    service: Service,
    caplog: pytest.LogCaptureFixture,
    scopes: tuple[str, ...],
    wrong: dict[str, str],
    said: str,
) -> None:
    tenant = uuid4().hex
    with Client(service.url, service.key(tenant=tenant)) as client:
        campaign = new_campaign(client)
    given = {"key": service.key(*scopes, tenant=tenant), "campaign": campaign} | wrong
    caplog.clear()
    with (
        Client(service.url, given["key"], sleep=no_pause) as client,
        client.stream(given["campaign"], fallback="a") as stream,
    ):
        assert not stream.wait()
        until(lambda: bool(logged(caplog)), 1.0)
        assert stream.next().arm == "a"
        assert re.search(said, str(stream.problem))
        time.sleep(0.2)
    assert logged(caplog) == [f"stream of campaign {given['campaign']}: {stream.problem}"]


def no_pause(seconds: float) -> None:
    raise AssertionError(f"waited for {seconds} s")


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name.endswith("client.stream")]


def test_an_answer_told_as_the_stream_closes_is_sent(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=1000)
        stream = client.stream(campaign)
        assert stream.wait()
        state, decision = stream._state, stream.next()
        real = state.batch

        def batch(*, closing: bool) -> Batch | None:
            found = real(closing=closing)
            if not stream._closing.is_set():
                stream.tell(decision, 1.0)
                stream._closing.set()
            return found

        state.batch = batch  # type: ignore[method-assign]
        stream._threads[state.send].join()
        assert (stream.stats().told, stream.stats().sent) == (1, 1)


def test_a_lease_that_the_service_lost_keeps_no_stream_from_closing(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=1000)
        stream = client.stream(campaign)
        assert stream.wait()
        real = stream._state.close
        stream._state.close = lambda: [10**6, *real()]  # type: ignore[method-assign]
        stream.close()
        kinds = [one.kind for one in client.events(campaign)]
        assert kinds.count("release") == kinds.count("ask") > 0


class Away(httpx2.BaseTransport):
    """A service that can be away."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.away = False
        self.tries = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.away:
            self.tries += 1
            raise httpx2.ConnectError("nobody there", request=request)
        return self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


def test_decisions_go_on_while_the_service_is_away(service: Service) -> None:
    between = Away()
    with Client(service.url, service.key(), transport=between, attempts=1) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=10_000)
        with client.stream(campaign, fallback="a") as stream:
            assert stream.wait()
            between.away = True
            ready = stream.stats().ready
            longest = 0.0
            for _ in range(ready + 10):
                began = time.perf_counter()
                stream.tell(stream.next(), 0.5)
                longest = max(longest, time.perf_counter() - began)
            assert (stream.stats().fallback, stream.stats().counted) == (10, 0)
            assert longest < 0.5  # far above the microseconds that it takes: machines are busy
            until(lambda: "nobody there" in str(stream.problem))
            assert "give key=" not in str(stream.problem)
            assert str(stream.problem).endswith("(the stream tries again by itself)")
            tries, end = between.tries, time.monotonic() + 0.5
            while time.monotonic() < end:
                stream.next()
            # Both threads try once a second, however often a decision is wanted.
            assert between.tries - tries <= 2
            between.away = False
            until(lambda: stream.stats().counted >= ready)
            until(lambda: stream.problem is None)
        assert stream.stats().waiting == 0


def test_what_a_killed_process_told_is_sent_by_the_next(service: Service, tmp_path: Path) -> None:
    key, journal = service.key(), tmp_path / "answers"
    with Client(service.url, key) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=10_000)
        script = (
            "import sys, time\nfrom affinity_bandits_client import Client, stream\n"
            "stream.FLUSH_SECONDS = 1e9\n"  # nothing is sent before it is killed
            f"client = Client({service.url!r}, {key!r})\n"
            f"s = client.stream({campaign!r}, journal={str(journal)!r})\n"
            "assert s.wait()\nfor _ in range(7): s.tell(s.next(), 0.25)\n"
            "print('told', flush=True)\ntime.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"told\n"
            os.kill(process.pid, signal.SIGKILL)
        assert sum(arm.answers for arm in client.campaign(campaign).arms) == 0
        with client.stream(campaign, journal=journal) as stream:
            until(lambda: stream.stats().counted == 7)
        assert sum(arm.answers for arm in client.campaign(campaign).arms) == 7
        assert not journal.exists()


def test_a_batch_that_lost_its_reply_is_sent_again_and_counts_once(
    service: Service, tmp_path: Path
) -> None:
    between = Away()
    with Client(service.url, service.key(), transport=between, attempts=1) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=10_000)
        lease = client.ask(campaign, 3)
        told = [Answer(lease.number, slot.slot, 1.0, "r1", slot.arm) for slot in lease.slots]
        journal = Journal(tmp_path / "j", campaign)
        for answer in told:
            journal.append(answer)
        journal.begin(Batch("the-key", tuple(told)))
        journal._opened.close()  # as a crash does: the batch is on record as sent
        for _ in range(2):  # and again, as if the first reply had been lost as well
            copy = (tmp_path / "j").read_bytes()
            with client.stream(campaign, journal=tmp_path / "j") as stream:
                until(lambda s=stream: s.stats().sent == 3)
            assert stream.stats().counted == 3
            (tmp_path / "j").write_bytes(copy)
        assert sum(arm.answers for arm in client.campaign(campaign).arms) == 3


def test_answers_that_the_key_may_not_give_are_kept_for_one_that_may(
    service: Service, tmp_path: Path
) -> None:
    path = tmp_path / "j"
    tenant = uuid4().hex
    keys = [service.key(tenant=tenant), service.key(tenant=tenant)]
    with Client(service.url, keys[0]) as first, Client(service.url, keys[1]) as second:
        campaign = new_campaign(first, policy={"name": "uniform"}, horizon=1000)
        lease = first.ask(campaign, 5)
        journal = Journal(path, campaign)
        for slot in lease.slots:
            journal.append(Answer(lease.number, slot.slot, 1.0))
        journal.close()
        with Client(service.url, NOBODY) as nobody, nobody.stream(campaign, journal=path) as stream:
            until(lambda: "HTTP 401" in str(stream.problem))
        assert stream.stats().waiting == 5
        for _ in range(2):  # as often as it is tried
            with second.stream(campaign, journal=path) as stream:
                until(lambda s=stream: "another API key" in str(s.problem))
                assert "scope" not in str(stream.problem)
                assert stream.wait()
                stream.tell(stream.next(), 1.0)  # its own answers count
            assert stream.stats()[3:10] == (6, 1, 1, 0, 0, 0, 5)
        with first.stream(campaign, journal=path) as stream:
            until(lambda: stream.stats().sent == 5)
        assert (stream.stats().counted, stream.problem) == (5, None)
    assert [*tmp_path.iterdir()] == []


def test_asyncio_programs_have_streams(service: Service) -> None:
    async def work(key: str) -> int:
        async with AsyncClient(service.url, key) as client:
            made = await client.create_campaign(
                "c", ["a", "b"], {"name": "uniform"}, horizon=1000, declaration=DECLARED.to_json()
            )
            async with client.stream(made) as stream:
                while not stream.stats().ready:
                    await asyncio.sleep(0.01)
                stream.tell(stream.next(), 1, rater=Rater("r7", "a"))
            return stream.stats().counted

    assert asyncio.run(work(service.key())) == 1


def test_a_wrong_answer_is_refused_when_it_is_told(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=1000)
        with client.stream(campaign) as stream:
            assert stream.wait()
            decision = stream.next()
            for score, rater in (
                (7.0, None),
                (float("nan"), None),
                (1, Rater("a@b.example")),
                (1, Rater("")),
            ):
                with pytest.raises(InvalidInput):
                    stream.tell(decision, score, rater=rater)
            with pytest.raises(InvalidInput, match="group of the campaign"):
                stream.tell(decision, 1, rater=Rater("r1", "nobody"))
            stream.tell(decision, 1)
            # Told twice, it would be refused together with all answers of the same lease.
            with pytest.raises(InvalidInput, match="no score yet"):
                stream.tell(decision, 1)
        assert (stream.stats().told, stream.stats().dropped, stream.stats().counted) == (1, 0, 1)


def test_no_line_is_longer_than_the_service_reads() -> None:
    answers = [Answer(lease % 2, lease, 0.5, "r" * 64, "\u00e4" * 200) for lease in range(10_000)]
    parts = bulk_parts(str(UUID(int=1)), Batch("k", tuple(answers)))
    lines = [line for part in parts for line in (part.request.content or b"").splitlines()]
    assert max(map(len, lines)) < LONGEST_LINE
    assert sum(len(json.loads(line)["answers"]) for line in lines) == len(answers)


def test_decisions_that_are_never_told_are_forgotten_after_two_leases(service: Service) -> None:
    now = [0.0]
    with Client(service.url, service.key()) as client:
        limits = client.campaign(new_campaign(client, policy={"name": "uniform"}, horizon=1000))
        state = StreamState(None, None, lambda: now[0])
        state.limits = limits
        decisions = []
        for _ in range(3):
            found = client.ask(limits, 10)
            state.take(found, 10, now[0] + limits.lease_seconds)
            decisions.append(state.next())
            now[0] += 0.7 * limits.lease_seconds
    state.tell(decisions[1], 0.5, None)  # after the end of its lease, it may still count
    now[0] += limits.lease_seconds
    state.take(found, 10, now[0] + limits.lease_seconds)
    with pytest.raises(InvalidInput, match="not older than two leases"):
        state.tell(decisions[0], 0.5, None)


def test_a_full_disk_does_not_stop_what_is_sent(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=1000)
        with client.stream(campaign, journal=tmp_path / "j") as stream:
            assert stream.wait()
            told = [stream.next() for _ in range(3)]
            for decision in told:
                stream.tell(decision, 1)

            def full(self: Journal, line: bytes = b"") -> None:
                raise StreamFull("no space left")

            monkeypatch.setattr(Journal, "_write", full)
            with pytest.raises(StreamFull):
                stream.tell(stream.next(), 1)
            until(lambda: stream.stats().counted == 3)
            monkeypatch.undo()
        assert stream.stats().told == 3


class Failing(httpx2.BaseTransport):
    """A service that fails, or refuses everything."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.status = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return no(self.status) if self.status else self.inner.handle_request(request)

    def close(self) -> None:
        self.inner.close()


def test_a_failure_is_borne_and_a_refusal_is_said(service: Service) -> None:
    between = Failing()
    with Client(service.url, service.key(), transport=between, attempts=1) as client:
        campaign = new_campaign(client, policy={"name": "uniform"}, horizon=1000)
        with client.stream(campaign, fallback="a") as stream:
            assert stream.wait()
            between.status = 500
            stream.tell(stream.next(), 1)
            time.sleep(1.5)
            assert (stream.stats().counted, stream.problem) == (0, None)
            between.status = 0
            until(lambda: stream.stats().counted == 1)
            between.status = 401
            for _ in range(stream.stats().ready):
                stream.next()
            until(lambda: stream.problem is not None)
            assert "HTTP 401" in str(stream.problem)
            between.status = 0


def test_wrong_arguments_are_named(service: Service, tmp_path: Path) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client)
        for wrong in (
            {"fallback": 3},
            {"journal": tmp_path},
            {"journal": tmp_path / "j", "sync": "x"},
        ):
            with pytest.raises(InvalidInput, match=next(reversed(wrong))):
                client.stream(campaign, **wrong)
        with client.stream(campaign) as stream:
            pass
        with pytest.raises(InvalidInput, match="decision"):
            stream.tell(LocalDecision("a", 1, 0, 0.0), 1.0)
