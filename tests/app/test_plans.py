"""What is told of plans while they are made: how far they are, and what a first run waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from affinity_bandits.app import plan
from affinity_bandits.base.progress import delay
from affinity_bandits.planning import Assumptions

GIVEN = Assumptions(groups=2, horizon=300, smallest_difference=0.5, bonus=0.1, judges="panel")
COMPILING = "compiling once for this machine"


def test_a_first_plan_is_said_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step of the work waits until it has been told."""
    told: list[tuple[float, str]] = []
    more = threading.Condition()

    def wait_until_told(expected: tuple[float, str]) -> None:
        with more:
            assert more.wait_for(lambda: expected in told, timeout=60.0)

    def make_plan(one: Assumptions, *, progress: Callable[[float], None]) -> Assumptions:
        words = f"Trying it out: {plan.WAYS[one.judges][0]}"
        number = 0.0 if one.judges == "panel" else 1.0
        with delay(COMPILING):
            wait_until_told((number / 2.0, f"{words}; {COMPILING}"))
        progress(0.5)
        wait_until_told(((number + 0.5) / 2.0, words))
        return one

    async def ask() -> None:
        async for one in plan.Plans(1).make([GIVEN, replace(GIVEN, judges="recused")]):
            with more:
                told.append(one)
                more.notify_all()

    monkeypatch.setattr(plan, "make_plan", make_plan)
    monkeypatch.setattr(plan, "POLL_SECONDS", 0.01)
    asyncio.run(ask())
    assert len(set(told)) >= 4
