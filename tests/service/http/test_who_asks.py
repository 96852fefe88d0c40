"""Request ids, trusted proxies, and cookies that follow the scheme."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.http import create_app
from affinity_bandits.service.http.proxies import Proxies
from tests.support.web_site import Site, on_site, refused


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ([b"trace-1/2"], True),
        ([b"!" * 128], True),
        ([b"x" * 129], False),
        ([b""], False),
        ([b"a b"], False),
        ([b"a\tb"], False),
        (["é".encode()], False),
        ([b"\x1b[31m"], False),
        ([b"one", b"two"], False),
        ([b"one", b"one"], False),
        ([b"ab_" + b"0" * 16 + b"_" + b"0" * 64], False),  # a key is in no log
        ([], False),
    ],
)
def test_a_request_id_is_taken_over_if_it_is_a_good_one(
    dsn: str, sent: list[bytes], taken: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work(at: Site) -> None:
        async with at.client() as client:
            headers = [(b"x-request-id", one) for one in sent]
            answer = await client.get("/v1/campaigns", headers=headers)
            refused(answer, 401, "no_key")  # which looks at the body's request_id too
            found = answer.headers["x-request-id"]
            assert (found.encode("latin-1") in sent) == taken
            assert taken or len(found) == 16

    on_site(dsn, work)
    lines = [json.loads(one) for one in capsys.readouterr().err.splitlines()]
    (line,) = [one for one in lines if one.get("route") == "/v1/campaigns"]
    assert (line["request"].encode() in sent) == taken


async def logged_in(at: Site, peer: str, headers: dict[str, str]) -> str:
    """Log in from an address; return the cookie that is set."""
    key = await at.key()
    body = f"key={key}".encode()
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/ui/login", "raw_path": b"/ui/login"}
    scope |= {"query_string": b"", "scheme": "http", "root_path": "", "client": (peer, 1)}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
    await at.app(scope, receive, send)
    assert sent[0]["status"] == 303, sent
    return dict(sent[0]["headers"])[b"set-cookie"].decode()


@pytest.mark.parametrize(
    ("settings", "peer", "proto", "secure"),
    [
        ({}, "10.0.0.7", "https", False),  # nobody is believed
        ({"trusted_proxies": ["10.0.0.0/8"]}, "10.0.0.7", "https", True),
        ({"trusted_proxies": ["10.0.0.0/8"]}, "10.0.0.7", "http, HTTPS", True),
        ({"trusted_proxies": ["10.0.0.0/8"]}, "10.0.0.7", "https, http", False),
        ({"trusted_proxies": ["10.0.0.0/8"]}, "10.0.0.7", "gopher", False),
        ({"trusted_proxies": ["10.0.0.0/8"]}, "192.0.2.1", "https", False),
        ({"trusted_proxies": ["2001:db8::/32"]}, "2001:db8::9", "https", True),
        ({"secure_cookies": True}, "192.0.2.1", "http", True),
    ],
)
def test_the_cookie_is_secure_where_the_browser_came_by_https(
    dsn: str, settings: dict[str, Any], peer: str, proto: str, secure: bool
) -> None:
    async def work(at: Site) -> None:
        cookie = await logged_in(at, peer, {"x-forwarded-proto": proto})
        assert ("; Secure" in cookie) == secure

    on_site(dsn, work, quiet=True, **settings)


def test_the_client_is_the_last_that_no_trusted_proxy_is() -> None:
    proxies = Proxies(["10.0.0.0/8", "2001:db8::1"])
    for text, client in [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.66, 192.0.2.1", "192.0.2.1"),  # the first was made up
        ("192.0.2.1, 10.1.1.1", "192.0.2.1"),
        ("192.0.2.1:4711, [2001:db8::1]:443", "192.0.2.1"),
        ("10.1.1.1, 10.1.1.2", "10.1.1.1"),
        ("nonsense", None),
        ("nonsense, 10.1.1.2", "10.1.1.2"),
        ("", None),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("x" * 60_000, None),
    ]:
        assert proxies.client(text) == client, text
    assert proxies.trust("10.1.1.1")
    assert proxies.trust("::ffff:10.1.1.1")
    assert not Proxies().trust("127.0.0.1")
    for bad in (["proxy"], ["10.0.0.0/33"], "10.0.0.1", [""]):
        with pytest.raises(InvalidInput, match="trusted_proxies"):
            create_app("postgresql://127.0.0.1:1/none", trusted_proxies=bad)


def test_bad_keys_are_counted_by_the_address_that_a_trusted_proxy_names(dsn: str) -> None:
    async def work(at: Site) -> None:
        ring = at.app.state.backend.parts.keys
        async with at.client() as client:  # from 127.0.0.1
            for _ in range(3):
                await client.get("/v1/campaigns", headers={"x-forwarded-for": "192.0.2.1"})
        assert set(ring._refused._left) == {"192.0.2.1"}

    on_site(dsn, work, quiet=True, trusted_proxies=["127.0.0.1"])

    async def without(at: Site) -> None:
        ring = at.app.state.backend.parts.keys
        async with at.client() as client:
            await client.get("/v1/campaigns", headers={"x-forwarded-for": "192.0.2.1"})
        assert set(ring._refused._left) == {"127.0.0.1"}

    on_site(dsn, without, quiet=True)
