"""What the client does where an answer is lost, late or a refusal that passes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from contextlib import closing
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from affinity_bandits_client import (
    AsyncClient,
    Client,
    Lease,
    NoReply,
    RequestRefused,
    ServiceError,
    Told,
    core,
)
from affinity_bandits_client.errors import AffinityError
from affinity_bandits_client.exchange import LONGEST_PAUSE, Exchange
from tests.support.clients import (
    NOBODY,
    Losing,
    Pauses,
    Service,
    a_lease,
    begun,
    canned,
    new_campaign,
    no,
    told,
)


@pytest.mark.slow
@pytest.mark.parametrize(("fresh_keys", "leased"), [(False, 1), (True, 3)])
def test_an_ask_whose_answer_is_lost_leaks_no_slot(
    service: Service, fresh_keys: bool, leased: int
) -> None:
    # The second case is the control: with a new key for each try, each try leases a slot.
    key, pauses = service.key(), Pauses()
    with Client(service.url, key) as calm:
        campaign = begun(calm)
        transport = Losing(2, fresh_keys=fresh_keys)
        with Client(service.url, key, transport=transport, sleep=pauses) as client:
            lease = client.ask(campaign)
        assert isinstance(lease, Lease)
        assert len(transport.keys) == 3
        assert len(set(transport.keys)) == leased
        asks = [one for one in calm.events(campaign) if one.kind == "ask" and one.round == 1]
        assert len(asks) == leased
        assert calm.campaign(campaign).round.handed_out == leased
        if not fresh_keys:
            assert lease.number == asks[0].number
    assert len(pauses) == 2


def test_writes_whose_answers_are_lost_are_done_once(service: Service) -> None:
    key = service.key()
    transport = Losing(0)
    with Client(service.url, key, transport=transport, sleep=Pauses()) as client:
        transport.left = 2
        campaign = new_campaign(client)
        assert [one.id for one in client.campaigns()] == [campaign]
        leases = [client.ask(campaign) for _ in range(2)]
        first, second = (one for one in leases if isinstance(one, Lease))
        transport.left = 2
        assert client.tell(first, [1.0]) == Told(counted=1, late=0, duplicate=0)
        transport.left = 2
        (line,) = client.tell_many([(second, [0.5])])
        assert line.told == Told(counted=1, late=0, duplicate=0)
        transport.left = 2
        client.stop(campaign)
        kinds = [one.kind for one in client.events(campaign)]
        assert sorted(kinds) == ["ask", "ask", "close", "create", "stop", "tell", "tell"]
    assert service.differences(campaign) == ()


def test_the_asynchronous_client_repeats_with_the_same_key_too() -> None:
    seen: list[str | None] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("Idempotency-Key"))
        if len(seen) == 1:
            raise httpx2.ConnectError("nobody there", request=request)
        return no(503) if len(seen) == 2 else told()

    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def work() -> Told:
        transport = httpx2.MockTransport(answer)
        async with AsyncClient("http://h", NOBODY, transport=transport, sleep=sleep) as client:
            return await client.tell(a_lease(), [1.0])

    assert asyncio.run(work()) == Told(counted=1, late=0, duplicate=0)
    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert len(pauses) == 2


@pytest.mark.parametrize("status", [301, 400, 409, 500])
def test_any_other_status_is_not_repeated(status: int) -> None:
    with canned(no(status, "some_code")) as (client, (transport, pauses)):
        with pytest.raises(ServiceError) as caught:
            client.tell(a_lease(), [1.0])
        assert len(transport.requests) == 1
        assert pauses == []
    error = caught.value
    assert isinstance(error, AffinityError)
    assert isinstance(error, RequestRefused) == (400 <= status < 500)
    assert (error.status, error.code, error.detail) == (status, "some_code", "said some_code")


def test_tries_are_bounded_and_the_error_says_how_to_go_on() -> None:
    with canned(httpx2.ConnectError("refused"), attempts=4) as (client, (transport, pauses)):
        with pytest.raises(NoReply, match=r"no reply after 4 tries.*ConnectError") as caught:
            client.tell(a_lease(), [1.0], key="mine")
        assert len(transport.requests) == 4
    assert len(pauses) == 3
    for tried, pause in enumerate(pauses):
        assert 0.05 * 2**tried <= pause <= 0.1 * 2**tried
    assert caught.value.idempotency_key == "mine"
    assert "key='mine'" in str(caught.value)
    assert caught.value.status is None


@pytest.mark.parametrize(
    ("asked", "spread", "pauses"),
    [
        (None, min, [0.05, 0.1, 0.2]),
        (None, max, [0.1, 0.2, 0.4]),
        ("7", min, [7.0, 7.0, 7.0]),
        ("soon", min, [0.05, 0.1, 0.2]),
        ("nan", min, [0.05, 0.1, 0.2]),
        (None, max, [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, None]),
        (str(LONGEST_PAUSE + 1), min, [None]),
    ],
)
def test_pauses_grow_and_heed_what_the_service_asks_for(
    asked: str | None, spread: Any, pauses: list[float | None]
) -> None:
    exchange = Exchange(core.campaign(str(uuid4())), 10, lambda *ends: spread(ends))
    busy = no(503, **({} if asked is None else {"Retry-After": asked}))
    assert [exchange.pause_after(busy) for _ in pauses] == pauses


def test_a_limited_key_is_slowed_down_and_not_refused(service: Service) -> None:
    pauses = Pauses()
    with Client(service.url, service.key(requests_per_second=1.0), sleep=pauses) as client:
        list(client.campaigns())
        with pytest.raises(NoReply, match="1 requests a second") as caught:
            list(client.campaigns())
    assert (caught.value.status, caught.value.idempotency_key) == (429, None)
    assert "send fewer requests" in str(caught.value)
    assert all(1.0 <= pause <= 11.0 for pause in pauses)


def test_lines_that_found_no_database_are_sent_again() -> None:
    def body(*statuses: int) -> httpx2.Response:
        good = {"counted": 1, "late": 0, "duplicate": 0}
        bad = {"code": "unavailable", "detail": "the database did not answer"}
        lines = [
            {"line": n, "status": one} | (good if one == 200 else bad)
            for n, one in enumerate(statuses, start=1)
        ]
        return httpx2.Response(200, text="\n".join(map(json.dumps, lines)) + "\n")

    lease = a_lease()
    tells = [(lease, [0.5])] * 2
    with canned(body(200, 503), body(200, 200)) as (client, (transport, pauses)):
        lines = client.tell_many(tells)
    assert [one.status for one in lines] == [200, 200]
    first, second = transport.requests
    assert first.content == second.content
    assert len(pauses) == 1
    with canned(body(200)) as (client, _), pytest.raises(ServiceError, match="not one of the"):
        client.tell_many(tells)


def test_a_server_that_hangs_up_is_asked_again() -> None:
    # A real socket, because only it shows what httpx2 makes of a connection that just ends.
    reply = b'{"counted": 1, "late": 0, "duplicate": 0}'
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(reply)
    seen: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        for answer in (b"", head + reply[:9], head + reply):
            connection, _ = listener.accept()
            with connection:
                text = b""
                while b"]}" not in text:
                    text += connection.recv(65536)
                seen.append(text)
                connection.sendall(answer)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Client(url, NOBODY, sleep=Pauses()) as client:
            assert client.tell(a_lease(), [1.0]) == Told(counted=1, late=0, duplicate=0)
        thread.join()
    sent = {line for text in seen for line in text.split(b"\r\n") if b"idempotency" in line.lower()}
    assert len(seen) == 3
    assert len(sent) == 1


@pytest.mark.slow
def test_a_server_that_says_nothing_is_given_up_in_time() -> None:
    pauses = Pauses()
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            Client(url, NOBODY, timeout=0.05, attempts=2, sleep=pauses) as client,
            pytest.raises(NoReply, match=r"no whole reply within 0.05 s"),
        ):
            client.campaign(str(uuid4()))
    assert len(pauses) == 1
