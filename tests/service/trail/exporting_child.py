"""A process that exports, and prints by how many bytes each export made it grow."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from uuid import UUID

from affinity_bandits.service.store.connection import connect, transaction
from affinity_bandits.service.trail.answers import answers_of
from affinity_bandits.service.trail.export import export
from affinity_bandits.service.trail.table_files import Target


def most() -> int:
    """The most memory since the last call, in bytes; `getrusage` would begin with the parent's."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    Path("/proc/self/clear_refs").write_text("5")
    return int(found[1]) * 1024


async def main(dsn: str, short: str, long: str, folder: str) -> None:
    """Export to CSV and to Parquet, then hold all answers at once, which is the control."""
    pool = await connect(dsn, largest=1)
    for ending in ("csv", "parquet"):  # so that whatever is imported is there
        await export(pool, UUID(short), Target(Path(folder, f"short.{ending}")))
    for ending in ("csv", "parquet"):
        most()
        before = most()
        await export(pool, UUID(long), Target(Path(folder, f"long.{ending}")))
        print(most() - before)
    most()
    before = most()
    async with transaction(pool) as db:
        held = [told async for told in answers_of(db, UUID(long), 2)]
    print(most() - before if held else 0)
    await pool.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
