"""The service over HTTP: what stands before a body and should not stand there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.http.test_bad_input import with_client
from tests.support.web_site import Site, on_site, refused


@pytest.mark.parametrize(
    ("key", "good"),
    [
        (b"!", True),
        (b"~" * 200, True),
        (b"'\"\\{}%00", True),
        (b"x" * 201, False),
        (b"x" * 100_000, False),
        (b"", False),
        (b" ", False),
        (b"a b", False),
        (b"a\tb", False),
        (b"a\x7fb", False),
        ("é".encode(), False),
        ("\u200b".encode(), False),
        (b"\xff", False),
        (b"\x1b[31m", False),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_idempotency_keys_are_printable_and_short(dsn: str, key: bytes, good: bool) -> None:
    async def work(_: Site, client: httpx.AsyncClient, path: str) -> None:
        headers = [(b"idempotency-key", key)]
        for where in (f"{path}/ask", f"{path}/stop"):
            body = b"{}" if where.endswith("ask") else b""
            answer = await client.post(where, content=body, headers=headers)
            if good:
                assert answer.headers["idempotency-key"].encode() == key
            else:
                said = refused(answer, 422, "invalid")
                assert said.startswith("Idempotency-Key must be 1 to 200 printable ASCII")
                assert len(said) < 300
        twice = await client.post(f"{path}/ask", content=b"{}", headers=[*headers, *headers])
        assert "Idempotency-Key must be sent once" in refused(twice, 422, "invalid")

    with_client(dsn, work)


def test_of_two_authorization_headers_none_counts(dsn: str) -> None:
    async def work(at: Site, client: httpx.AsyncClient, _: str) -> None:
        good = client.headers["authorization"].encode()
        async with at.client() as bare:
            for two in ((good, good), (good, b"Bearer x"), (b"Bearer x", good), (b"", good)):
                headers = [(b"authorization", one) for one in two]
                answer = await bare.get("/v1/campaigns", headers=headers)
                assert "one header Authorization" in refused(answer, 401, "no_key")
            for one in (good.replace(b"Bearer", b"bEARER"), good.replace(b" ", b"   ")):
                answer = await bare.get("/v1/campaigns", headers=[(b"authorization", one)])
                assert answer.status_code == 200
            long = [(b"authorization", good + b"0" * 1_000_000)]
            refused(await bare.get("/v1/campaigns", headers=long), 401, "no_key")

    with_client(dsn, work)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "X" * 99])
def test_other_methods_are_refused_before_anything_else(dsn: str, method: str) -> None:
    async def work(_: Site, client: httpx.AsyncClient, path: str) -> None:
        for where in (
            "/v1/campaigns",
            path,
            f"{path}/ask",
            f"{path}/tells",
            "/healthz",
            "/metrics",
        ):
            answer = await client.request(method, where, content=b"\xff")
            refused(answer, 405, "wrong_method")
            assert set(answer.headers["allow"].split(", ")) <= {"GET", "POST"}

    with_client(dsn, work)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/campaigns/../../etc/passwd",
        "/v1/campaigns/..%2f..%2fetc%2fpasswd",
        "/ui/../v1/campaigns",
        "/ui/%2e%2e/v1/campaigns",
        "/ui/..%5c..%5cstyle.css",
        "/ui/style.css%00.html",
        "//v1/campaigns",
        "/v1/campaigns%2f",
        "/v1/campaigns;x=1",
        "/./v1/campaigns",
        "/%76%31/campaigns/",
        "/" + "a" * 60_000,
        "/" + "a/" * 30_000,
    ],
    ids=lambda path: path[:40],
)
def test_no_path_leads_around_the_guard(dsn: str, path: str) -> None:
    async def work(at: Site) -> None:
        statuses: list[int] = []
        body = b""

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            nonlocal body
            statuses.append(message.get("status", 0))
            body += message.get("body", b"")

        # By hand, since httpx would tidy the path up.
        raw = path.encode()
        for sent in (path, httpx.URL("http://x" + path).path if "%" in path else path):
            scope = {"type": "http", "method": "GET", "path": sent, "raw_path": raw}
            scope |= {"query_string": b"", "headers": [], "scheme": "http", "root_path": ""}
            await at.app(scope, receive, send)
        assert set(statuses) - {0} <= {404, 401, 303}, statuses
        assert b"root:" not in body
        assert b"items" not in body

    on_site(dsn, work, quiet=True)
