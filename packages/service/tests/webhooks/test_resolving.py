"""Names of webhooks under a silent name server delay nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits_service.webhooks import resolving
from affinity_bandits_service.webhooks.resolving import NameNotFound, Resolver

SILENT = """
import asyncio, contextlib, socket, sys, time
import uvloop
from affinity_bandits_service.webhooks.subscriptions import addresses_of, target_of

name_server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
name_server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
name_server.bind(("127.0.0.77", 53))  # and says nothing

async def webhook(number):
    with contextlib.suppress(Exception):
        if sys.argv[1] == "loop":
            await asyncio.get_running_loop().getaddrinfo(f"host-{number}.example", 443)
        else:
            target = target_of(f"https://host-{number}.example/", private=False)
            await addresses_of(target, private=False)

async def main():
    webhooks = [asyncio.create_task(webhook(number)) for number in range(8)]
    await asyncio.sleep(0.2)
    start = time.monotonic()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(4):
            await asyncio.get_running_loop().getaddrinfo("localhost", 5432)  # as for the database
    print(time.monotonic() - start, flush=True)
    await asyncio.wait(webhooks, timeout=8)
    print(sum(one.done() for one in webhooks), flush=True)
    import os; os._exit(0)

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main())
"""


def under_a_silent_name_server(how: str, folder: Path) -> tuple[float, int]:
    """How long another name takes meanwhile, and how many webhooks' names are given up in 8 s."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("a name server of one's own takes root and unshare")
    (folder / "resolv.conf").write_text("nameserver 127.0.0.77\n")
    inside = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
    command = [unshare, "--mount", "sh", "-c", inside, "sh", str(folder / "resolv.conf")]
    done = subprocess.run(
        [*command, sys.executable, "-c", SILENT, how],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    assert done.returncode == 0, done.stderr
    seconds, given_up = done.stdout.split()
    return float(seconds), int(given_up)


@pytest.mark.slow
def test_a_silent_name_server_delays_no_other_name(tmp_path: Path) -> None:
    seconds, given_up = under_a_silent_name_server("webhooks", tmp_path)
    assert seconds < 1
    assert given_up == 8


@pytest.mark.slow
def test_it_would_if_the_loop_were_asked(tmp_path: Path) -> None:
    seconds, _ = under_a_silent_name_server("loop", tmp_path)
    assert seconds > 3


def test_a_name_that_took_too_long_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    ends = threading.Event()

    def getaddrinfo(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        if host.startswith("silent"):
            ends.wait(30)
            return []
        return [(0, 0, 0, "", ("192.0.2.7", 0))]

    async def run() -> None:
        resolver = Resolver()
        with pytest.raises(NameNotFound):
            await resolver.addresses("silent.example")
        with pytest.raises(NameNotFound):
            await resolver.addresses("silent.example")
        assert asked == ["silent.example"]
        assert await resolver.addresses("other.example") == ["192.0.2.7"]
        # No more than so many at once, and others at once again when these have ended.
        for number in range(resolving.MOST_AT_ONCE - 1):
            with pytest.raises(NameNotFound):
                await resolver.addresses(f"silent-{number}.example")
        with pytest.raises(NameNotFound):
            await resolver.addresses("other.example")
        ends.set()
        async with asyncio.timeout(30):
            found: list[str] = []
            while not found:
                await asyncio.sleep(0.01)
                with contextlib.suppress(NameNotFound):
                    found = await resolver.addresses("other.example")
            assert found == ["192.0.2.7"]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(resolving, "SECONDS", 0.02)
    monkeypatch.setattr(resolving, "MOST_AT_ONCE", 3)
    asyncio.run(run())
