"""What the application refuses, whatever page it is about, and how it is started."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from affinity_bandits.app import plan as plan_page
from affinity_bandits.planning.assumptions import Assumptions

pytestmark = pytest.mark.slow

OWN = {"sec-fetch-site": "same-origin"}
ELSEWHERE = {"sec-fetch-site": "cross-site"}
OPENED = ELSEWHERE | {"sec-fetch-mode": "navigate"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, 200),
        ("GET", "/", {"host": "localhost"}, 200),
        ("GET", "/", {"host": "[::1]:8400"}, 200),
        ("GET", "/", {"host": "LOCALHOST:1"}, 200),
        ("GET", "/", {"host": "rebound.example.org"}, 421),
        ("GET", "/", {"host": "127.0.0.1.example.org"}, 421),
        ("GET", "/", {"host": "localhost@example.org"}, 421),
        ("GET", "/", {"host": "[::"}, 421),
        ("GET", "/", {"host": ""}, 421),
        ("GET", "/see", OPENED, 200),  # a link in a letter
        ("GET", "/see/course", ELSEWHERE, 403),
        ("GET", "/plan/answer", ELSEWHERE, 403),
        ("GET", "/plan/answer", {"sec-fetch-site": "same-site"}, 403),
        ("POST", "/plan", OWN, 404),  # the guard lets it through; there is no such form
        ("POST", "/plan", {}, 403),
        ("POST", "/plan", OPENED, 403),
        ("POST", "/plan", {"origin": "http://example.org"}, 403),
        ("POST", "/plan", {"origin": "null"}, 403),
        ("POST", "/plan", OWN | {"transfer-encoding": "chunked"}, 411),
        ("GET", "/static/../application.py", {}, 404),
        ("GET", "/static/%2e%2e/application.py", {}, 404),
        ("GET", "/static/..%2fapplication.py", {}, 404),
        ("GET", "/static//etc/passwd", {}, 404),
        ("GET", "/docs", {}, 404),
        ("GET", "/openapi.json", {}, 404),
        ("DELETE", "/plan", OWN | {"content-length": "0"}, 404),
    ],
)
def test_requests_are_let_in_or_refused(
    address: str, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    with httpx.Client(base_url=address) as client:
        request = client.build_request(method, "/", headers=headers)
        request.url = request.url.copy_with(raw_path=path.encode())
        answer = client.send(request)
    assert answer.status_code == status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_an_origin_of_its_own_may_send_a_form(address: str) -> None:
    answer = httpx.post(f"{address}/plan", headers={"origin": address}, data={"a": "b"})
    assert answer.status_code == 404
    other = httpx.post(f"{address}/plan", headers={"origin": "http://127.0.0.1:1"}, data={"a": "b"})
    assert other.status_code == 403
    for size, status in ((2**20, 404), (2**20 + 1, 413)):
        large = httpx.post(f"{address}/plan", headers={"origin": address}, content=b"x" * size)
        assert large.status_code == status


def test_too_many_are_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_page, "MOST_WAITING", 0)

    async def ask() -> None:
        async for _ in plan_page.Plans(1).make([Assumptions(2, 100, 0.5)]):
            raise AssertionError("a plan was begun")

    with pytest.raises(plan_page.NotSupported, match="try again"):
        asyncio.run(ask())
