"""The client against a real server on the loopback: what it does, says and refuses."""

from __future__ import annotations

import asyncio
import inspect
import re
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from affinity_bandits_client import (
    AsyncClient,
    Client,
    Finished,
    Lease,
    RequestRefused,
    ServiceError,
    Told,
    Wait,
    run_campaign,
)
from affinity_bandits_client.errors import AffinityError, InvalidInput
from tests.support.clients import (
    NOBODY,
    ROUNDS,
    Answering,
    Pauses,
    Service,
    a_lease,
    canned,
    new_campaign,
    no,
    told,
)
from tests.support.declared import DECLARED
from tests.support.environments import ROOT


@pytest.mark.slow
def test_a_campaign_from_its_first_ask_to_its_end(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = new_campaign(client, lowest=-1)
        lease = client.ask(campaign, 2)
        assert isinstance(lease, Lease)
        assert [slot.arm for slot in lease.slots] == ["a", "b"]
        assert [slot.slot for slot in lease.slots] == [0, 1]
        assert lease.expires_at - datetime.now(UTC) < timedelta(hours=1, minutes=1)
        assert client.tell(lease, [0.25, -1]) == Told(counted=2, late=0, duplicate=0)
        found = run_campaign(client, campaign, lambda arm: 1.0 if arm == "b" else 0.0, count=50)
        assert (found.status, found.recommended) == ("decided", "b")
        assert [arm.active for arm in found.arms] == [False, True]
        first, *_ = rounds = list(client.rounds(campaign))
        assert first.sums == ("0.25", "-1")
        assert first.means == (0.25, -1.0)
        assert rounds[-1].dropped == ("a",)
        assert sum(sum(one.counts) for one in rounds) == sum(arm.answers for arm in found.arms)
        events = list(client.events(campaign))
        assert [one.number for one in events] == list(range(1, len(events) + 1))
        assert events[0].kind == "create"
        assert client.stop(campaign).status == "stopped"
        assert client.ask(campaign) == Finished(status="stopped")
    assert service.differences(campaign) == ()


def test_the_asynchronous_client_does_the_same(service: Service) -> None:
    async def work(key: str) -> str:
        async with AsyncClient(service.url, key) as client:
            made = await client.create_campaign(
                "c", ["a", "b"], policy=ROUNDS, horizon=10_000, declaration=DECLARED.to_json()
            )
            lease = await client.ask(made, 2)
            assert isinstance(lease, Lease)
            told = await client.tell_totals(lease, lease.totals([0.5, 1]))
            assert told == Told(counted=2, late=0, duplicate=0)
            more = await client.ask(UUID(made.id), 4)
            assert isinstance(more, Lease)
            (line,) = await client.tell_many([(more, [0.1, 0.2, 0.3, 0.4])])
            assert line.told == Told(counted=4, late=0, duplicate=0)
            assert [one.id async for one in client.campaigns()] == [made.id]
            assert [one.sums async for one in client.rounds(made)] == [("0.5", "1")]
            assert (await client.stop(made)).status == "stopped"
            assert repr(client) == f"AsyncClient('{service.url}')"
            return made.id

    assert service.differences(asyncio.run(work(service.key()))) == ()


@pytest.mark.slow
def test_both_clients_have_the_same_methods_and_each_is_documented_in_both() -> None:
    def public(kind: type) -> dict[str, tuple[list[inspect.Parameter], str]]:
        found = {name: one for name, one in vars(kind).items() if not name.startswith("_")}
        return {
            name: (list(inspect.signature(one).parameters.values()), one.__doc__.partition("\n")[0])
            for name, one in found.items()
        }

    assert public(Client) == public(AsyncClient)
    assert len(public(Client)) == 17
    assert all(words for _, words in public(Client).values())


def test_defaults_are_those_that_the_pages_state() -> None:
    said = (ROOT / "docs" / "reference" / "live-reference.md").read_text(encoding="utf-8")
    for kind in (Client, AsyncClient):
        made = inspect.signature(kind).parameters
        assert f"within its `timeout` ({made['timeout'].default:g} seconds)" in said
        assert f"up to {made['attempts'].default} times with growing" in said
    client = ROOT / "clients" / "typescript"
    said = (client / "README.md").read_text(encoding="utf-8")
    source = (client / "src" / "index.ts").read_text(encoding="utf-8")
    (seconds,) = re.findall(r"\{ timeout = (\d+) \} = options", source)
    assert f"A request ends after {seconds} seconds" in said


def every_text(error: BaseException) -> str:
    """Whatever of an error a log or a report might show."""
    parts = ["".join(traceback.format_exception(error)), repr(error), repr(vars(error))]
    chained: BaseException | None = error
    while chained is not None:
        parts += [str(chained), repr(chained), repr(vars(chained))]
        chained = chained.__cause__ or chained.__context__
    return "\n".join(parts)


FAILING: list[Callable[[Client], object]] = [
    lambda client: client.campaign(str(uuid4())),
    lambda client: client.create_campaign(
        "c", ["a"], policy="elimination", horizon=9, declaration=DECLARED.to_json()
    ),
    lambda client: client.ask(str(uuid4()), 10**9),
]


def test_the_key_is_shown_nowhere(
    service: Service, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    key = service.key()
    secret = key.rpartition("_")[2]
    seen = []
    with Client(service.url, key) as client:
        seen.append(repr(client) + str(client))
        for fails in FAILING:
            with pytest.raises(AffinityError) as caught:
                fails(client)
            seen.append(every_text(caught.value))
    for lost in (httpx2.ConnectError("x"), no(401, "no_key"), httpx2.Response(200, text="<html>")):
        transport = Answering(lost)
        with Client(service.url, key, transport=transport, sleep=Pauses()) as client:
            with pytest.raises(ServiceError) as caught:
                client.tell(a_lease(), [1.0])
            seen.append(every_text(caught.value))
        assert secret in transport.requests[0].headers["Authorization"]
    Client(service.url, f" {key}\r\n").close()  # as a file has it
    for wrong in (f"{key}\n{key}", f"{key[:-1]}\n", key + "é"):
        with pytest.raises(InvalidInput, match="key must be an API key") as refused:
            Client(service.url, wrong)
        seen.append(str(refused.value))
    seen += [caplog.text, *capfd.readouterr()]
    assert not [text for text in seen if secret in text]


def test_a_wrong_address_is_said_before_anything_is_sent() -> None:
    for wrong in ("service.test", "ftp://h", "http://", "http://h:99999", "http://h?a=1", 7):
        with pytest.raises(InvalidInput, match="url must be an address"):
            Client(wrong, NOBODY)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="url must be") as caught:
        Client("http://me:secret@h", NOBODY)
    assert "secret" not in str(caught.value)


def test_redirects_do_not_take_the_key_elsewhere() -> None:
    away = httpx2.Response(302, headers={"Location": "http://elsewhere.test/"})
    with (
        canned(away) as (client, (transport, _)),
        pytest.raises(ServiceError, match="HTTP 302"),
    ):
        client.campaign(str(uuid4()))
    assert [one.url.host for one in transport.requests] == ["service.test"]


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"\xff"])
def test_an_answer_of_somebody_else_is_said_to_be_one(body: bytes) -> None:
    with (
        canned(httpx2.Response(200, content=body)) as (client, _),
        pytest.raises(ServiceError, match="not one of the service") as caught,
    ):
        client.tell(a_lease(), [1.0])
    assert caught.value.code == "not_understood"
    with (
        canned(httpx2.Response(404, content=body)) as (client, _),
        pytest.raises(RequestRefused, match="is this its address") as refused,
    ):
        client.tell(a_lease(), [1.0])
    assert refused.value.code == "http_404"


TWO = a_lease(2)
SOME = str(uuid4())
MISTAKES: list[tuple[Callable[[Client], object], str]] = [
    (lambda client: client.tell(TWO, [1.0]), "2 of them, one a slot, got 1"),
    (lambda client: client.tell(TWO, {9: 1.0}), "for slots of lease 2"),
    (lambda client: client.tell(TWO, {}), "one or more"),
    (lambda client: client.tell(TWO, [0.5, float("nan")]), "score of slot 5"),
    (lambda client: client.tell(TWO, [0.5, True]), "score of slot 5"),
    (lambda client: client.tell(TWO, "ab"), "a list of scores"),  # type: ignore[arg-type]
    (lambda _: TWO.totals([1.0]), "2 of them, one a slot, got 1"),
    (lambda client: client.ask("../../metrics"), "campaign must be a campaign or its id"),
    (lambda client: client.ask(SOME, 0), "count must be"),
    (lambda client: client.ask(SOME, 10_001), "count must be"),
    (lambda client: client.ask(SOME, 1.5), "count must be"),  # type: ignore[arg-type]
    (lambda client: client.ask(SOME, key=""), "key must be"),
    (lambda client: client.ask(SOME, key="two words"), "key must be"),
    (lambda client: client.ask(SOME, key="é"), "key must be"),
    (lambda client: client.tell_many([(TWO, [0, 1])], key="k" * 181), "key must be 1 to 180"),
    (lambda client: client.tell_many([(TWO, [0, 1]), (a_lease(), [1])]), "must be of one campaign"),
    (
        lambda client: client.create_campaign("c", ["a", "b"], declaration=DECLARED.to_json()),
        "given, or else plan",
    ),
    (
        lambda client: client.create_campaign(
            "c", ["a"], "x", plan="x", declaration=DECLARED.to_json()
        ),
        "given, or else plan",
    ),
    (
        lambda client: client.create_campaign(
            "c", ["a", "b"], {"name": "x", "y": {1}}, declaration=DECLARED.to_json()
        ),
        "what JSON can say",
    ),
]


def test_mistakes_are_said_before_anything_is_sent() -> None:
    with canned(told()) as (client, (transport, _)):
        for call, words in MISTAKES:
            with pytest.raises(InvalidInput, match=words):
                call(client)
        assert client.tell_many([]) == []
        assert transport.requests == []


def test_a_run_waits_for_what_others_owe_and_ends_with_its_horizon(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        short = new_campaign(client, horizon=25)
        found = run_campaign(client, short, lambda _: 0.5, count=4)
        assert (found.status, found.recommended) == ("exhausted", None)
        assert client.ask(short) == Finished(status="exhausted")
        campaign = new_campaign(client)
        lease = client.ask(campaign, 2)
        assert isinstance(lease, Lease)
        wait = client.ask(campaign)
        assert isinstance(wait, Wait)
        assert (wait.outstanding, 3500 < wait.retry_after <= 3600) == (2, True)
        assert client.tell(lease, {1: 0.75}) == Told(counted=1, late=0, duplicate=0)
        waits = []

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            assert client.tell(lease, [0.0, 0.75]) == Told(counted=1, late=0, duplicate=1)

        found = run_campaign(
            client, campaign, lambda arm: float(arm == "a"), count=100, sleep=sleep
        )
    assert found.recommended == "a"
    assert waits == [1.0]
