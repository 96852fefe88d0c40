"""Two replicas behind the documented nginx, with a login that stands for oauth2-proxy."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response

from affinity_bandits.app.application import LOOPBACK, Settings, create_local_app
from tests.deploy.test_nginx import MAIN, free_port
from tests.support.environments import ROOT
from tests.support.in_process import serve_here
from tests.support.served import until

pytestmark = pytest.mark.slow

CONF = ROOT / "deploy" / "nginx" / "app.conf"
NAME = "fair.example.org"
LOGGED_IN = {"cookie": "_oauth2_proxy=somebody"}
QUERY = {
    "groups_are": "teams", "protected": "no", "responsible": "us", "purpose": "a test",
    "groups": "a,b", "scale": "1..5", "difference": "0.3", "budget": "2000", "judges": "panels",
    "favor_gap": "same",
}  # fmt: skip


class Counted:
    """An application that counts its requests."""

    def __init__(self) -> None:
        self.app = create_local_app(Settings(hosts=(*LOOPBACK, NAME), warm=False))
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += scope["type"] == "http"
        await self.app(scope, receive, send)


def login() -> FastAPI:
    """What oauth2-proxy answers: 202 for those who logged in, else 401 and a page to do so."""
    app = FastAPI()

    @app.get("/oauth2/auth")
    async def check(request: Request) -> Response:
        return Response(status_code=202 if "_oauth2_proxy" in request.cookies else 401)

    return app


@pytest.fixture(scope="module")
def replicas() -> list[Counted]:
    return [Counted(), Counted()]


@pytest.fixture(scope="module")
def client(
    replicas: list[Counted], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx)")
    place, port = tmp_path_factory.mktemp("nginx"), free_port()
    with ExitStack() as stack:
        text = "\n".join(
            line for line in CONF.read_text("utf-8").splitlines() if "ssl_" not in line
        )
        started = [stack.enter_context(serve_here(one)) for one in (*replicas, login())]
        printed = [f"127.0.0.1:{one}" for one in (8400, 8401, 4180)]
        replaced = {"listen 443 ssl": f"listen 127.0.0.1:{port}"}
        replaced |= dict(
            zip(printed, (url.removeprefix("http://") for url in started), strict=True)
        )
        for before, after in replaced.items():
            assert before in text, before
            text = text.replace(before, after)
        Path(place, "affinity.conf").write_text(text, encoding="utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        Path(place, "nginx.conf").write_text(MAIN.format(place=place, user=user), encoding="utf-8")
        command = [nginx, "-e", f"{place}/error.log", "-p", str(place), "-c", f"{place}/nginx.conf"]
        process = stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE))
        stack.callback(process.terminate)
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, headers={"host": NAME}, timeout=60) as client:
            until("nginx", lambda: client.get("/").status_code == 302)
            yield client


def test_only_those_who_logged_in_get_through(
    client: httpx.Client, replicas: list[Counted]
) -> None:
    for path in ("/", "/plan?groups=a,b", "/static/style.css", "/plan/answer"):
        answer = client.get(path)
        assert answer.status_code == 302
        assert "/oauth2/sign_in?rd=/" in answer.headers["location"]
    assert [one.requests for one in replicas] == [0, 0]
    assert client.get("/", headers=LOGGED_IN).status_code == 200
    assert client.get("/", headers=LOGGED_IN | {"host": "other.example.org"}).status_code == 421
    foreign = LOGGED_IN | {"origin": "https://other.example.org"}
    assert client.post("/audit", headers=foreign, content=b"x").status_code == 403


def test_any_replica_answers_and_progress_is_handed_on(
    client: httpx.Client, replicas: list[Counted]
) -> None:
    before = [one.requests for one in replicas]
    texts = {client.get("/plan/check", params=QUERY, headers=LOGGED_IN).text for _ in range(4)}
    assert len(texts) == 1
    assert [one.requests - was for one, was in zip(replicas, before, strict=True)] == [2, 2]
    with client.stream("GET", "/plan/answer", params=QUERY, headers=LOGGED_IN) as answer:
        lines = answer.iter_lines()
        assert "Trying it out" in next(lines)  # long before the plan is there
        assert "html" not in next(lines)
