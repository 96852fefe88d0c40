"""A process of the service that is killed after its n-th statement of a request about a block.

Run as a program with a JSON list of tries; it prints how each child ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits_service.core import campaigns
from affinity_bandits_service.core.blocks import BlockAsk, BlockTell
from affinity_bandits_service.core.campaigns import Campaigns
from affinity_bandits_service.store.connection import connect

METHODS = ("execute", "fetch", "fetchrow", "fetchval")


def kill_after(statements: int) -> None:
    """Make this process kill itself once it has sent so many statements and had their replies."""
    left = [statements]

    def counting(method: Any) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            found = await method(*args, **kwargs)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return call

    for name in METHODS:
        setattr(asyncpg.Connection, name, counting(getattr(asyncpg.Connection, name)))


@asynccontextmanager
async def without_transaction(pool: asyncpg.Pool[Any], **_: Any) -> AsyncIterator[Any]:
    """The control: every statement is committed by itself."""
    async with pool.acquire() as db:
        yield db


async def request(dsn: str, one: dict[str, Any]) -> None:
    pool = await connect(dsn, largest=1)
    service = Campaigns(pool)
    kill_after(one["statements"])
    campaign, actor = UUID(one["campaign"]), "t"
    if one["lease"] is None:
        ask = BlockAsk("a", "r1", one["key"], actor)
        await service.ask_block(one["tenant"], campaign, ask)
    else:
        tell = BlockTell(one["lease"], tuple(one["units"]), one["key"], actor)
        await service.tell_block(one["tenant"], campaign, tell)


def main(dsn: str, tries: list[dict[str, Any]], *, atomic: bool) -> None:
    if not atomic:
        vars(campaigns)["transaction"] = without_transaction
    for one in tries:
        child = os.fork()
        if child == 0:
            asyncio.run(request(dsn, one))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), atomic=sys.argv[3] == "atomic")
