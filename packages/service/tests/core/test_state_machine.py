"""Random sequences of everything that can happen to a campaign, against the model.

AFFINITY_SEQUENCES=10000 makes it that many sequences.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest
from hypothesis import Phase

from affinity_bandits.policies import RoundPolicy
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.scores import Scale, from_units
from affinity_bandits_service.problems import NeedsAttention
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.migrate import migrate
from tests.support.databases import made_database

from .machine import run_machine
from .machine_policies import COUNTING, POLICIES, SEATED
from .machine_world import World

SEQUENCES = int(os.environ.get("AFFINITY_SEQUENCES", "150"))
SEQUENCES_OF_A_CONTROL, TIMES = 20, 15
"""Whatever the variable says: this is what the suite must be able to notice."""


@pytest.fixture(scope="module")
def world(worker: str) -> Iterator[World]:
    # A database of its own: close_due closes whatever other tests left to be closed.
    with (
        made_database(f"affinity_test_{worker}_{os.getpid()}_machine") as dsn,
        asyncio.Runner() as r,
    ):
        migrate(dsn)
        fast = f"{dsn}?synchronous_commit=off"
        pools = [r.run(connect(fast, smallest=1, largest=2)) for _ in range(2)]
        yield World(r, dsn, pools, r.run(keys.create_tenant(pools[0], "machine")))
        for pool in pools:
            r.run(pool.close())


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    "policies", [POLICIES, COUNTING, SEATED], ids=["sums", "tallies", "panels"]
)
def test_whatever_happens_the_database_does_as_the_model(
    world: World, policies: list[RoundPolicy]
) -> None:
    run_machine(world, SEQUENCES, (Phase.generate, Phase.shrink), policies)


MUTATIONS = {
    "a key with another count": ("ask", " AND v_event.asked = p_counts[i]", ""),
    "a key with other answers": ("tell", " AND v_event.digest = p_digests[i]", ""),
    "a key is forgotten": ("tell", "IF v_before[i] IS NOT NULL", "IF false"),
    "a stopped campaign goes on": ("ask", "IN ('exhausted', 'stopped')", "IN ('exhausted')"),
    "a lease lasts a moment too long": (
        "ask",
        "OR affinity.is_past(v_lease.expires_at, v_now,",
        "OR affinity.is_past(v_lease.expires_at + interval '1 microsecond', v_now,",
    ),
    "a lease never ends": (
        "ask",
        "EXIT WHEN NOT (v_lease.released",
        "EXIT WHEN true OR NOT (v_lease.released",
    ),
    "a slot is offered to two": ("ask", "l.pending - v_part", "l.pending"),
    "one slot too many is offered": ("first_slots", "(v_run) + v_left", "(v_run) + v_left + 1"),
    "what is given back waits": ("ask", "EXIT WHEN NOT (v_lease.released", "EXIT WHEN NOT (false"),
    "the youngest debt first": ("ask", "ORDER BY l.lease) LOOP", "ORDER BY l.lease DESC) LOOP"),
    "an answered slot is still owed": ("tell", "l.pending - v_new", "l.pending"),
    "nothing is late": (
        "tell",
        "OR affinity.is_past(v_ask.expires_at, v_now, v_head.lease_seconds) THEN",
        "THEN",
    ),
    "late answers never count": ("tell", "AND l.pending && (v_slots - v_new)", "AND false"),
    "the round of an answer": ("tell", "IF v_ask.round = v_head.round", "IF true"),
    "totals taken apart": ("tell", "FOUND AND v_lease.pending = v_ask.slots", "FOUND"),
    "the highest slots of a total": ("tell", "ORDER BY g.slot)", "ORDER BY g.slot DESC)"),
    "too many answers in a total": ("tell", "affinity.slots_in(v_slots) <> v_answers", "false"),
    "slots of another lease": ("tell", "NOT v_slots <@ v_ask.slots", "false"),
    "scores above the highest": (
        "tell",
        "v_units[1] BETWEEN v_head.lowest AND v_head.highest",
        "v_units[1] >= v_head.lowest",
    ),
    "totals above the highest": (
        "tell",
        "u / n NOT BETWEEN v_head.lowest AND v_head.highest",
        "u / n < v_head.lowest",
    ),
    "sums that are replaced": ("tell", "total = s.total + excluded.total", "total = s.total"),
    "a full round that nobody closes": (
        "tell",
        "AND v_head.status <> 'exhausted' THEN",
        "AND false THEN",
    ),
    "no window": ("ask", "v_head.in_flight IS NOT NULL", "false"),
    "a window that is one too wide": (
        "ask",
        "v_limit, v_head.oldest + v_head.in_flight",
        "v_limit, v_head.oldest + v_head.in_flight + 1",
    ),
    "a window that does not move on": ("ask", "IF NOT v_looked AND", "IF false AND"),
    "a window behind the newest": ("ask", "min(lower(l.pending))", "max(lower(l.pending))"),
    "slots awaited that nobody has": (
        "ask",
        "v_head.next_slot - v_head.answered",
        "v_head.size - v_head.answered",
    ),
    "a tenant who asks another's": ("ask", " <> p_tenants[", " < 0 * p_tenants["),
    "a tenant who tells another's": ("tell", " <> p_tenants[", " < 0 * p_tenants["),
}
"""What is broken: the function, a piece of its text, and what stands there instead."""
MUTATIONS_OF_TALLIES = {
    "tallies that are replaced": ("tell", "a.there + a.more", "a.more"),
    "a score counted as one node": ("tell", "v_range - way % v_range", "v_range"),
    "a part for the wrong node": ("tell", "way / v_range + 1", "way / v_range"),
    "a score counted once for many": ("tell", "n * (way % v_range)", "way % v_range"),
    "a scale that begins at 0": ("tell", "a.u / a.n - v_head.lowest", "a.u / a.n"),
    "one score of an arm for all": ("tell", "sum(o.n) AS n", "max(o.n) AS n"),
}
"""The same, where scores are counted."""
MUTATIONS_OF_PANELS = {
    "a round without a panel that is over": ("ask", "'awaits_judges';", "'exhausted';"),
    "a round without a panel that is due": ("tell", "AND NOT v_head.awaits_judges\n", "\n"),
}
"""The same, where a panel is named for each round."""
FOUND_SOONER = {
    "a key with another count": 2,
    "a key with other answers": 3,
    "a lease lasts a moment too long": 1,
    "a slot is offered to two": 2,
    "one slot too many is offered": 2,
    "the youngest debt first": 2,
    "the round of an answer": 3,
    "totals taken apart": 3,
    "scores above the highest": 1,
    "slots awaited that nobody has": 4,
    "tallies that are replaced": 3,
    "a round without a panel that is due": 4,
}
"""Seeds with which one of the first sequences notices it; later ones do with others."""
NOTICED = (AssertionError, asyncpg.PostgresError, NeedsAttention, pytest.fail.Exception)


CONTROLS = [
    pytest.param(broken, mutation, policies, id=broken)
    for mutations, policies in (
        (MUTATIONS, POLICIES),
        (MUTATIONS_OF_TALLIES, COUNTING),
        (MUTATIONS_OF_PANELS, SEATED),
    )
    for broken, mutation in mutations.items()
]


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "mutation", "policies"), CONTROLS)
def test_the_machine_notices_a_broken_rule(
    world: World, broken: str, mutation: tuple[str, str, str], policies: list[RoundPolicy]
) -> None:
    with mutated(world, *mutation), pytest.raises(NOTICED):
        run_control(world, broken, policies)


@pytest.mark.slow
def test_the_machine_notices_sums_that_are_not_mapped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scale, "to_policy", lambda self, total, answers: from_units(total))
    with pytest.raises(AssertionError):
        run_control(world, "sums that are not mapped", POLICIES)


def run_control(world: World, broken: str, policies: list[RoundPolicy]) -> None:
    first = FOUND_SOONER.get(broken, 0)
    for begin in range(first, first + TIMES):
        run_machine(world, SEQUENCES_OF_A_CONTROL, (Phase.generate,), policies, begin)


@contextmanager
def mutated(world: World, function: str, text: str, instead: str) -> Iterator[None]:
    """Have another text in a function of the database, for a while."""
    source = world.run(
        world.pools[0].fetchval("SELECT pg_get_functiondef($1::regproc)", f"affinity.{function}")
    )
    assert text in source, "the function has changed, so this control controls nothing"
    try:
        world.run(world.pools[0].execute(source.replace(text, instead)))
        yield
    finally:
        world.run(world.pools[0].execute(source))
