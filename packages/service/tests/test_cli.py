"""`affinity serve`: keys, migrations, verification, and processes that die and are replaced."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from affinity_bandits.cli import main
from affinity_bandits.policies import POLICIES, register
from tests.support.one_campaign import opened
from tests.support.own_policies import DropLowest
from tests.support.served import PATIENCE, served, until

SHAPE = re.compile(r"ab_([0-9a-f]{16})_([0-9a-f]{64})")


class Runner:
    """Runs the command in this process."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dsn: str
    ) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("AFFINITY_DSN", dsn)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["affinity", "serve", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        code = ended.value.code
        return (0 if code is None else int(code)), said.out, said.err


@pytest.fixture
def run(dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    return Runner(monkeypatch, capsys, dsn)


@pytest.mark.slow
def test_keys_are_shown_once_listed_without_secrets_and_revoked(run: Runner) -> None:
    tenant = f"tenant-{time.time_ns()}"
    status, out, _ = run(
        *("keys", "add", "--tenant", tenant, "--name", "shop", "--scopes", "ask, tell"),
        *("--rate", "5", "--body", "2048", "--days", "1"),
    )
    assert status == 0
    key = SHAPE.fullmatch(out.strip())
    assert key is not None
    _, listed, _ = run("keys", "list", "--tenant", tenant)
    (line,) = listed.splitlines()
    for word in (key[1], tenant, "shop", "ask,tell", "5/s", "2,048 bytes", "expires"):
        assert word in line
    assert key[2] not in listed
    # The whole key, as somebody will paste it.
    assert run("keys", "revoke", key[0], "--by", "operator")[0] == 0
    assert "revoked by operator" in run("keys", "list", "--tenant", tenant)[1]
    status, out, err = run("keys", "revoke", key[0])
    assert status == 2
    assert key[1] in err
    assert key[2] not in out + err


def test_a_key_in_a_file_is_for_its_owner_alone(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "key"
    add = ("keys", "add", "--tenant", "filed", "--name", "n", "--scopes", "ask", "--out", str(out))
    os.umask(os.umask(0o022))  # whatever it is, the file's mode does not depend on it
    assert run(*add) == (0, "", "")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert SHAPE.fullmatch(out.read_text().strip())
    key = out.read_text()
    status, _, err = run(*add)
    assert (status, len(err.splitlines())) == (2, 1)
    assert "--out must be a file that can be written and is not there yet" in err
    assert out.read_text() == key
    status, _, _ = run(*add[:-1], str(tmp_path / "other"), "--rate", "nan")
    assert status == 2
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("keys", "add", "--tenant", "t", "--name", "n", "--scopes", "asc"), "scopes"),
        (("keys", "add", "--tenant", "t", "--name", "n", "--scopes", ","), "scopes"),
        (("keys", "add", "--tenant", "", "--name", "n", "--scopes", "ask"), "tenant"),
        (
            ("keys", "add", "--tenant", "t", "--name", "n", "--scopes", "ask", "--rate", "nan"),
            "requests_per_second",
        ),
        (
            ("keys", "add", "--tenant", "t", "--name", "n", "--scopes", "ask", "--days", "0"),
            "days",
        ),
        (
            ("keys", "add", "--tenant", "t", "--name", "n", "--scopes", "ask", "--days", "1e9"),
            "days",
        ),
        (("keys", "revoke", "nobody"), "ID"),
        (("verify", "x"), "CAMPAIGN"),
        (("verify", "00000000-0000-0000-0000-000000000000"), "no campaign"),
        (("--port", "65536"), "port"),
        (("--admin-port", "-1"), "admin_port"),
        (("--pool-size", "0"), "pool_size"),
    ],
)
def test_a_mistake_ends_in_one_line(run: Runner, arguments: tuple[str, ...], word: str) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert word in err
    assert len(err.splitlines()) == 1


def test_what_this_version_cannot_replay_is_said_and_not_called_a_difference(
    run: Runner, dsn: str
) -> None:
    async def made() -> UUID:
        async with opened(dsn) as one:
            return await one.create(DropLowest(2), 100)

    with patch.dict(POLICIES):
        register(DropLowest)
        id_ = asyncio.run(made())
        assert run("verify", str(id_)) == (0, "1 events and 0 closed rounds: no difference\n", "")
    status, out, err = run("verify", str(id_))
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "cannot be replayed by this version, which has no policy of the name" in err


@pytest.mark.slow
def test_an_old_schema_is_an_error_that_names_the_command(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Runner(monkeypatch, capsys, empty_dsn)
    for arguments in ((), ("keys", "list")):
        status, _, err = run(*arguments)
        assert status == 2
        assert "affinity serve migrate" in err
    assert run("migrate")[0] == 0
    assert run("migrate")[0] == 0
    assert run("keys", "list") == (0, "", "")


class Relay:
    """A way to the database that can be cut and laid again at the same port."""

    def __init__(self, dsn: str) -> None:
        parts = urlsplit(dsn)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._port = 0
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.lay()
        user, at, _ = parts.netloc.rpartition("@")
        self.dsn = parts._replace(netloc=f"{user}{at}127.0.0.1:{self._port}").geturl()

    def lay(self) -> None:
        listening = socket.create_server(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self._open.append(listening)
        self._start(self._accept, listening)

    def cut(self) -> None:
        # The listener first: once its thread has ended, no connection is added any more.
        for sockets, threads in ((self._open[:1], self._threads[:1]), (self._open, self._threads)):
            for one in sockets:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(PATIENCE)
        self._threads.clear()
        while self._open:
            self._open.pop().close()

    def _start(self, work: Callable[..., None], *sockets: socket.socket) -> None:
        thread = threading.Thread(target=work, args=sockets)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):  # the end, where it is shut down
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                self._start(self._pump, near, far)
                self._start(self._pump, far, near)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@pytest.mark.slow
def test_the_service_starts_without_its_database_and_outlives_it(dsn: str) -> None:
    relay = Relay(dsn)
    relay.cut()
    try:
        with served(relay.dsn) as server:
            for _ in range(2):
                until("up", lambda: server.probe("/healthz").status_code == 200)
                until("not ready", lambda: server.probe().status_code == 503)
                assert server.probe().headers["retry-after"] == "1"
                relay.lay()
                until("ready", server.is_ready)
                relay.cut()
    finally:
        relay.cut()
