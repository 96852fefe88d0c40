"""Makes the client for programs that wait from the one for event loops.

python -m tests.service.sync_client
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import affinity_bandits

HERE = Path(affinity_bandits.__file__).parent / "client"
SOURCE, MADE = HERE / "async_client.py", HERE / "client.py"
HEADING = (
    '"""The client for programs that wait; made from `async_client.py`, where changes belong."""'
)
CHANGES = [
    (
        "import AsyncIterator, Awaitable, Callable, Iterable, Sequence",
        "import Callable, Iterable, Iterator, Sequence",
    ),
    ("Callable[[float], Awaitable[object]]", "Callable[[float], object]"),
    ("AsyncBaseTransport", "BaseTransport"),
    ("AsyncClient", "Client"),
    ("AsyncIterator", "Iterator"),
    ("asyncio", "time"),
    ("aclose", "close"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    ("an `async with` block", "a `with` block"),
    ("async def", "def"),
    ("await ", ""),
    ("for item in found.items:\n                yield item\n", "yield from found.items\n"),
]


def made_from(source: str) -> str:
    """Return the source of the one client from that of the other."""
    text = HEADING + source[source.index('"""', 3) + 3 :]
    for old, new in CHANGES:
        text = text.replace(old, new)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(MADE), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    MADE.write_text(made_from(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
