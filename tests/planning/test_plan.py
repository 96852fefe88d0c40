"""A plan is the same whenever it is made, and its verdict is what its runs say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import affinity_bandits.base.workers as workers_module
from affinity_bandits.planning import (
    Plan,
    enough,
    make_plan,
    making,
    otherwise,
    reach,
    target,
    worst_worlds,
)
from affinity_bandits.planning.files import plan_to_toml, remembered_plan

from .assumed import SMALL, TINY, TOO_SHORT


@pytest.mark.slow
def test_no_run_is_used_for_two_purposes(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[str, int]] = []

    def record(module: Any, name: str) -> None:
        real = getattr(module, name)

        def recorded(worlds: Any, policy: Any, horizon: int, runs: int, seed: int, *rest: Any):
            used.append((f"{module.__name__}.{name}", seed))
            return real(worlds, policy, horizon, runs, seed, *rest)

        monkeypatch.setattr(module, name, recorded)

    for module in (making, target, worst_worlds):
        record(module, "hardest_outcomes")
    for module in (enough, target, reach, otherwise):
        record(module, "run_hardest")
    given = replace(TOO_SHORT, bonus=0.5, steepness=None)
    make_plan(given, progress=False, seed=6)
    first = set(used)
    # How far to look, two for the target and two for sifting, the verdict, the picture, what
    # suffices, and what it takes otherwise.
    assert len(first) == len({seed for _, seed in first}) == 9
    used.clear()
    make_plan(given, progress=False, seed=8)
    assert not {seed for _, seed in used} & {seed for _, seed in first}


@pytest.mark.slow
def test_a_plan_is_the_same_to_the_bit_whatever_the_number_of_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pools: list[int] = []

    def pool(workers: int) -> ThreadPoolExecutor:
        pools.append(workers)
        return ThreadPoolExecutor(workers)

    monkeypatch.setattr(workers_module, "ThreadPoolExecutor", pool)
    made = []
    for processors in (1, 4):
        monkeypatch.setattr(workers_module.os, "cpu_count", lambda n=processors: n)
        made.append(make_plan(SMALL, seed=3, progress=False))
    assert max(pools) == 4  # one thread needs no pool
    texts = [plan_to_toml(plan) for plan in made]  # numbers to the last digit
    assert all(plan_to_toml(plan) == texts[0] for plan in made)
    assert made[0].seed == 3


@pytest.mark.slow
def test_the_failure_probability_is_the_tolerated_one_and_no_run_contradicts_it(
    tiny: Plan,
) -> None:
    assert tiny.enough
    assert tiny.sufficient is None
    assert tiny.detectable is not None
    assert tiny.detectable <= TINY.smallest_difference
    assert tiny.failure == tiny.policy.failure == TINY.failure
    worst = tiny.most_wrong
    assert worst.wrong_rate[1] <= tiny.failure
    assert worst.wrong == max(one.wrong for one in tiny.hardest)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.0, 0.8])
def test_an_interrupt_while_planning_is_an_interrupt_and_leaves_nothing(
    part: float, tmp_path: Path
) -> None:
    seen: list[float] = []

    def interrupting(done: float) -> None:
        seen.append(done)
        if done >= part:
            raise KeyboardInterrupt

    cache = tmp_path / "plans"
    with pytest.raises(KeyboardInterrupt):
        remembered_plan(TINY, progress=interrupting, cache=cache)
    assert seen[-1] >= part
    assert not cache.exists() or list(cache.iterdir()) == []


def test_an_interrupt_just_when_the_bar_appears_is_still_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_: Console, show: bool = True) -> None:
        if not show:  # the bar begins by hiding the cursor and ends by showing it
            raise KeyboardInterrupt

    monkeypatch.setattr(Console, "show_cursor", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_plan(TINY, progress=True)
