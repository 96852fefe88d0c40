"""Send one notice by HTTP and learn whether it was received; nothing else of the reply is kept.

By hand and not by an HTTP client: the connection is made to the very address that was checked, no
redirect is followed, no proxy is asked, and the service needs no more packages.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from affinity_bandits._version import __version__
from affinity_bandits.service.webhooks.addresses import AddressRefused, Target, addresses_of

SECONDS = 10.0
"""How long a receiver may take, from its name to its status."""
LONGEST_LINE = 8192
MOST_LINES = 100
"""Of the heads of informational replies that may come before the final one."""


class Undelivered(Exception):  # noqa: N818 - reads as the fact it states
    """A notice was not received; says why in fixed words, and quotes nothing of the reply."""


async def post(target: Target, body: bytes, headers: Mapping[str, str], *, private: bool) -> None:
    """Send a notice.

    Raises:
        Undelivered: no status from 200 to 299 came back in time.
    """
    try:
        async with asyncio.timeout(SECONDS):
            status = await _exchange(target, body, headers, private)
    except TimeoutError:
        raise Undelivered(f"no reply within {SECONDS:g} seconds") from None
    except AddressRefused:
        raise Undelivered("the host's address is not of the public internet") from None
    except ssl.SSLError:
        raise Undelivered("no connection by TLS could be made") from None
    except OSError:
        raise Undelivered("no connection could be made") from None
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise Undelivered("the reply was no HTTP") from None
    if 300 <= status < 400:
        raise Undelivered(f"status {status}: redirects are not followed")
    if not 200 <= status < 300:
        raise Undelivered(f"status {status}")


async def _exchange(target: Target, body: bytes, headers: Mapping[str, str], private: bool) -> int:
    failure: OSError = ConnectionError()
    for address in await addresses_of(target, private=private):
        try:
            reader, writer = await asyncio.open_connection(
                address,
                target.port,
                ssl=_context() if target.tls else None,
                server_hostname=target.host if target.tls else None,
                limit=LONGEST_LINE,
            )
        except ssl.SSLError:
            raise
        except OSError as error:
            failure = error
            continue
        try:
            writer.write(_head(target, len(body), headers) + body)
            await writer.drain()
            return await _status(reader)
        finally:
            writer.transport.abort()  # what else it says is of no interest
            with suppress(OSError):
                await writer.wait_closed()
    raise failure


def _head(target: Target, length: int, headers: Mapping[str, str]) -> bytes:
    lines = {
        "Host": target.authority,
        "User-Agent": f"affinity-bandits/{__version__}",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.path} HTTP/1.1\r\n{head}\r\n".encode("ascii")


async def _status(reader: asyncio.StreamReader) -> int:
    """Return the status of the final reply; what comes before it is skipped."""
    informed = False
    for _ in range(MOST_LINES):
        line = await reader.readuntil(b"\n")
        if informed:
            informed = line.strip() != b""
            continue
        version, status = line.split(maxsplit=2)[:2]
        if not version.startswith(b"HTTP/1.") or len(status) != 3:
            raise ValueError
        if not status.startswith(b"1"):
            return int(status)
        informed = True
    raise ValueError


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()
