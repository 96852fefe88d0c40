"""The bare engine of `checks.bench.service`: a FastAPI endpoint that inserts one row."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from fastapi import FastAPI
from pydantic import BaseModel

TABLE = "CREATE TABLE IF NOT EXISTS bare (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), count int)"


class Body(BaseModel):
    """The body of a request, as large as that of an ask."""

    count: int


async def _leave_as_it_is(_: asyncpg.Connection[Any]) -> None:
    """Skip the query with which asyncpg resets a session, as the service does."""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold a pool of connections while the app runs."""
    async with asyncpg.create_pool(
        os.environ["AFFINITY_DSN"], min_size=1, max_size=10, reset=_leave_as_it_is
    ) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/insert")
async def insert(body: Body) -> dict[str, Any]:
    """Insert one row and say which."""
    id_ = await app.state.pool.fetchval(
        "INSERT INTO bare (count) VALUES ($1) RETURNING id", body.count
    )
    return {"id": str(id_)}
