"""Notices reach nothing but the public internet, unless whoever runs the service says otherwise."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_service.webhooks.sending import Undelivered, post
from affinity_bandits_service.webhooks.subscriptions import (
    AddressRefused,
    addresses_of,
    is_public,
    target_of,
)
from packages.service.tests.webhooks.receiver import receiving

INSIDE = [
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
    *("169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "198.18.0.1"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("2002:7f00:1::", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    # Azure's host, the relays of 6to4, and documentation, which Python calls global.
    *("168.63.129.16", "::ffff:168.63.129.16", "192.88.99.1", "3fff::1", "3fff:fff:ffff::1"),
    "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo of 127.0.0.1
    # Of no use on the public internet: a local NAT64, translated IPv4, site-local, segment routing.
    *("64:ff9b:1::a00:1", "::ffff:0:10.0.0.1", "fec0::1", "5f00::1", "100::1", "4000::1"),
]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "2606:4700::1111",
        "2a00::1",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "3ffe::1",
    ],
)
def test_an_address_outside_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("", "x", "http://example.org/", "ftp://example.org/", "https://", "https:///x"),
        *("https://user@example.org/", "https://user:pass@example.org/", "https://e.org/#f"),
        *("https://example.org:99999/", "https://e.org/a b", "https://e.org/\r\nX: y"),
        *("https://e\u00e9.org/", "https://e.org/" + "x" * 2000, "https://[::1", "//e.org/"),
    ],
)
def test_a_url_that_is_none_of_ours_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="url must be"):
        target_of(url, private=False)


def test_a_url_is_taken_apart() -> None:
    found = target_of("https://example.org:8443/a/b?c=d", private=False)
    assert (found.tls, found.host, found.port, found.path) == (
        *(True, "example.org", 8443, "/a/b?c=d"),
    )
    assert found.authority == "example.org:8443"
    assert target_of("http://[::1]/", private=True).authority == "[::1]"


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f000001", "127.1", "0"]
)
async def test_no_spelling_of_this_machine_is_connected_to(host: str) -> None:
    with receiving() as receiver:
        port = receiver.url.rpartition(":")[2]
        target = target_of(f"https://{host}:{port}/", private=False)
        with pytest.raises(Undelivered, match="public internet"):
            await post(target, b"{}", {}, private=False)
        assert receiver.bodies == []


async def test_a_name_is_resolved_once_so_that_it_cannot_be_another_in_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = ["93.184.216.34", "127.0.0.1"]

    loop = asyncio.get_running_loop()
    connected: list[Any] = []

    def getaddrinfo(host: str, port: int | None, **_: Any) -> list[Any]:
        # asyncio asks again for what it connects to: of an address that is itself.
        address = answers.pop(0) if host == "rebinding.example" else host
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    async def sock_connect(_: object, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "sock_connect", sock_connect)
    target = target_of("https://rebinding.example/", private=False)
    with pytest.raises(Undelivered, match="no connection"):
        await post(target, b"{}", {}, private=False)
    assert {address for address, _ in connected} <= {"93.184.216.34"}
    assert answers == ["127.0.0.1"]
    with pytest.raises(AddressRefused):
        await addresses_of(target, private=False)


async def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def getaddrinfo(host: str, port: int | None, **_: Any) -> list[Any]:
        return [(0, 0, 0, "", (one, port)) for one in ("1.1.1.1", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    target = target_of("https://both.example/", private=False)
    with pytest.raises(AddressRefused):
        await addresses_of(target, private=False)
    assert await addresses_of(target, private=True) == ["1.1.1.1", "10.0.0.1"]


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 429, 500, 503])
async def test_whatever_is_no_success_is_a_failure_and_no_redirect_is_followed(status: int) -> None:
    with receiving() as receiver:
        receiver.reply = lambda _: status
        target = target_of(receiver.url, private=True)
        with pytest.raises(Undelivered, match=f"status {status}"):
            await post(target, b"{}", {}, private=True)
        assert len(receiver.bodies) == 1


@pytest.mark.parametrize(
    "said",
    [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 2\r\n", b"x" * 100_000, b"HTTP/1.1 100 C\r\n" * 999],
)
async def test_a_reply_that_is_no_http_is_a_failure(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        target = target_of(f"http://127.0.0.1:{port}/", private=True)
        with pytest.raises(Undelivered):
            await post(target, b"{}", {}, private=True)
