"""Nothing goes to a database elsewhere in plain, unless the DSN says so."""

from __future__ import annotations

import asyncio
import contextlib
import os

import pytest

from affinity_bandits.base.errors import AffinityError
from affinity_bandits.service.store.connection import connect, connected

ASKS_FOR_TLS = (8).to_bytes(4, "big") + (80_877_103).to_bytes(4, "big")


async def said_in_plain(host: str, more: str = "") -> bytes:
    """What is sent to a server that says it has no TLS, or to somebody in between who says so."""
    heard, handled = [b""], []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(8)
        if first == ASKS_FOR_TLS:
            writer.write(b"N")
            first = b""
        heard.append(first + await reader.read(1000))
        writer.close()
        handled.append(asyncio.create_task(writer.wait_closed()))

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        dsn = f"postgresql://somebody:secret@{host.format(port)}/affinity{more}"
        with contextlib.suppress(AffinityError, OSError):
            async with asyncio.timeout(10), connected(dsn):
                pass
        with contextlib.suppress(AffinityError, OSError):
            await (await connect(dsn)).close()
        await asyncio.sleep(0)
        await asyncio.gather(*handled, return_exceptions=True)
    return b"".join(heard)


# To Linux, 0.0.0.0 is this machine, and to us it is a host like any other.
@pytest.mark.parametrize(
    ("host", "more"),
    [
        ("0.0.0.0:{}", ""),
        ("0.0.0.0:{}", "?sslmode=verify-full"),
        ("127.0.0.1:{0},0.0.0.0:{0}", ""),
    ],
)
def test_nothing_is_said_in_plain_to_another_machine(
    host: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGSSLMODE", raising=False)
    assert asyncio.run(said_in_plain(host, more)) == b""


@pytest.mark.parametrize(
    ("host", "more"),
    [("127.0.0.1:{}", ""), ("localhost:{}", ""), ("0.0.0.0:{}", "?sslmode=prefer")],
)
def test_it_is_to_this_machine_or_where_the_dsn_allows_it(host: str, more: str) -> None:
    if "PGSSLMODE" in os.environ:
        pytest.skip("PGSSLMODE is set")
    assert b"somebody" in asyncio.run(said_in_plain(host, more))
