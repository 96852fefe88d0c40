"""Request ids; cookies, forms and sessions of browsers."""

from __future__ import annotations

import json

import pytest

from tests.support.web_site import Site, refused, site


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
async def test_a_request_id_is_taken_over_if_it_is_a_good_one(
    sent: list[bytes], taken: bool, capsys: pytest.CaptureFixture[str], at: Site
) -> None:
    async with at.client() as client:
        headers = [(b"x-request-id", one) for one in sent]
        answer = await client.get("/v1/campaigns", headers=headers)
        refused(answer, 401, "no_key")  # which looks at the body's request_id too
        found = answer.headers["x-request-id"]
        assert (found.encode("latin-1") in sent) == taken
        assert taken or len(found) == 16
    lines = [json.loads(one) for one in capsys.readouterr().err.splitlines()]
    (line,) = [one for one in lines if one.get("route") == "/v1/campaigns"]
    assert (line["request"].encode() in sent) == taken


@pytest.mark.site(quiet=True)
async def test_the_cookie_is_of_this_host_alone_and_never_sent_in_plain(at: Site) -> None:
    async with at.client() as client:
        answer = await client.post("/ui/login", data={"key": await at.key()})
        name, *rules = answer.headers["set-cookie"].split("; ")
        assert name.startswith("__Host-")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(rules)
        assert not any(one.startswith("Domain") for one in rules)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 400),
        ({"origin": "null"}, 400),
        ({"origin": "https://test.evil.example", "sec-fetch-site": "same-origin"}, 400),
        ({"origin": "http://test", "sec-fetch-site": "cross-site"}, 400),
        ({"sec-fetch-site": "same-site"}, 400),
        ({"origin": "http://test"}, 303),
        ({"origin": "https://test"}, 303),  # TLS ends at the proxy
        ({"origin": "http://test", "sec-fetch-site": "same-origin"}, 303),
        ({}, 303),
    ],
)
@pytest.mark.site(quiet=True)
async def test_no_other_site_logs_somebody_in(
    at: Site, headers: dict[str, str], status: int
) -> None:
    async with at.client() as client:
        form = {"key": await at.key()}
        answer = await client.post("/ui/login", data=form, headers=headers)
        assert answer.status_code == status
        assert ("set-cookie" in answer.headers) == (status == 303)


@pytest.mark.site(quiet=True, key_cache_ttl=60.0)
async def test_a_session_ends_everywhere_with_its_logout(at: Site, dsn: str) -> None:
    async with site(dsn, quiet=True) as other:  # a second process
        key = await at.key()
        async with at.client() as here, other.client() as there:
            answer = await here.post("/ui/login", data={"key": key})
            cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
            for client in (here, there):
                assert (await client.get("/ui", headers=cookie)).status_code == 200
            assert (await here.post("/ui/logout", headers=cookie)).status_code == 303
            for client in (here, there):
                gone = await client.get("/ui", headers=cookie)
                assert (gone.status_code, gone.headers["location"]) == (303, "/ui/login?ended")
