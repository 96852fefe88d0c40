"""Request ids, and cookies that follow the scheme."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.web_site import Site, on_site, refused


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ([b"trace-1/2"], True),
        ([b"x" * 129], False),
        ([b"a b"], False),
        (["é".encode()], False),
        ([b"one", b"two"], False),
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


@pytest.mark.parametrize(
    ("settings", "scheme", "secure"),
    [({}, "http", False), ({}, "https", True), ({"secure_cookies": True}, "http", True)],
)
def test_the_cookie_is_secure_where_the_browser_came_by_https(
    dsn: str, settings: dict[str, Any], scheme: str, secure: bool
) -> None:
    async def work(at: Site) -> None:
        async with at.client() as client:
            form = {"key": await at.key()}
            answer = await client.post(f"{scheme}://test/ui/login", data=form)
            assert ("; Secure" in answer.headers["set-cookie"]) == secure

    on_site(dsn, work, quiet=True, **settings)
