"""Where the machine's campaigns live: a database, its processes, and what is read back of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from unittest.mock import AsyncMock

import asyncpg

from affinity_bandits_service.core.campaigns import Campaigns

STATE = """
SELECT json_build_object(
  'head', (SELECT to_json(h) FROM affinity.heads AS h WHERE campaign = $1),
  'state', (SELECT saved -> 'state' FROM affinity.campaigns WHERE id = $1),
  'due', EXISTS (SELECT FROM affinity.due WHERE campaign = $1),
  'pending', (SELECT coalesce(json_agg(json_build_array(l.lease, g.slot) ORDER BY 1), '[]')
              FROM affinity.leases AS l, unnest(l.pending) AS run,
                generate_series(lower(run), upper(run) - 1) AS g (slot)
              WHERE l.campaign = $1),
  'sums', (SELECT coalesce(json_agg(json_build_array(place, answers, total, tallies)
             ORDER BY place), '[]')
           FROM affinity.sums WHERE campaign = $1),
  'rounds', (SELECT json_agg(json_build_array(
                 arms, repetitions, size, before, counts, sums, dropped) ORDER BY number)
             FROM affinity.rounds WHERE campaign = $1),
  'judges', (SELECT json_agg(judges ORDER BY number) FROM affinity.rounds WHERE campaign = $1),
  'named', (SELECT json_build_array(judges, standing) FROM affinity.named_judges
            WHERE campaign = $1),
  'events', (SELECT json_agg(json_build_array(
                 number, kind, key, round, counted, late, duplicate) ORDER BY number)
             FROM affinity.events WHERE campaign = $1))::text
"""


class Dying(Campaigns):
    """A process that dies after it has committed answers, and closes no round."""

    def __init__(self, pool: Any) -> None:
        super().__init__(pool)
        self.closer.close = AsyncMock(return_value=False)  # type: ignore[method-assign]


@dataclass
class World:
    """One event loop, one database, two processes with connections of their own."""

    runner: asyncio.Runner
    dsn: str
    pools: list[asyncpg.Pool[Any]]
    tenant: int
    created: int = 0

    def run(self, coroutine: Any) -> Any:
        return self.runner.run(coroutine)
