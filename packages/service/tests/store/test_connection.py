"""Connections are encrypted unless the DSN says otherwise, and every named query is used."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from pathlib import Path

import pytest

import affinity_bandits_service as service
from affinity_bandits.base.errors import AffinityError
from affinity_bandits_service.store.connection import SQL, connect, connected, queries_in, sql

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


SOURCE = Path(service.__file__).parent


def used_in(text: str) -> set[str]:
    return set(re.findall(r"\bsql\.(\w+)", text))


def complaints(defined: list[str], used: set[str]) -> list[str]:
    twice = {name for name in defined if defined.count(name) > 1}
    return (
        [f"{name} stands twice" for name in sorted(twice)]
        + [f"{name} is used by nobody" for name in sorted(set(defined) - used)]
        + [f"there is no {name}" for name in sorted(used - set(defined))]
    )


def test_queries_and_their_uses_are_the_same() -> None:
    defined = [name for file in SQL.glob("*.sql") for name, _ in queries_in(file)]
    used = used_in("\n".join(file.read_text() for file in SOURCE.rglob("*.py")))
    assert "ask" in used  # the controls below are of the same kind
    assert not complaints(defined, used)


def test_each_kind_of_mistake_is_found(tmp_path: Path) -> None:
    file = tmp_path / "some.sql"
    file.write_text("-- name: one\nSELECT 1;\n\n-- name: two\nSELECT 2;\n-- name: one\nSELECT 3;\n")
    found = queries_in(file)
    assert found == [("one", "SELECT 1;"), ("two", "SELECT 2;"), ("one", "SELECT 3;")]
    used = used_in("db.fetch(sql.one); db.fetch(sql.three, 1)")
    assert complaints([name for name, _ in found], used) == [
        *("one stands twice", "two is used by nobody", "there is no three"),
    ]
    with pytest.raises(AttributeError):
        _ = sql.three
