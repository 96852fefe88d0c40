"""Sweeps whose workers or driver are killed, and two drivers on one store."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path

from affinity_bandits.experiments import processes, ray_executor
from soak.cases import CASES, reference
from soak.checker import check, shard_files
from soak.driver import GRACE, PATIENCE, Driver
from soak.processes import kill, workers
from soak.rows import Row

SECONDS_A_KILL = 30.0
"""Most that a kill may take on average; a soak that gets nowhere ends."""
STARTING = {"processes": 3.0, "ray": 7.0}
"""About how long a driver takes to get to work."""


def workers_killed(executor: str, kills: int, seed: int, scratch: Path) -> Row:
    """Kill random workers while sweeps run, which must then finish by themselves.

    A kill waits for some shards to be finished after the one before, because a task whose worker
    dies again and again is run alone and then given up, as promised; then the moment is random.
    """
    row = Row(f"workers killed, {executor}")
    chance = random.Random(seed)
    truth = reference("long")
    until = time.monotonic() + SECONDS_A_KILL * (kills + 4)
    rounds = 0
    while row.kills < kills and time.monotonic() < until:
        store = scratch / f"workers-{executor}-{rounds}"
        driver = Driver("long", executor, store, scratch)
        try:
            row.kills += kill_workers(driver, store, kills - row.kills, chance)
            answer = driver.answer()
            row.expect(answer["failed"] == 0, f"shards were given up: {answer}")
        except RuntimeError as error:
            row.violations.append(str(error))
        finally:
            driver.stop(GRACE)
        row.add(check(store, truth))
        rounds += 1
    row.expect(row.kills >= kills, f"only {row.kills} of {kills} kills")
    row.note = f"{rounds} sweeps"
    return row


def kill_workers(driver: Driver, store: Path, most: int, chance: random.Random) -> int:
    """Kill workers of a driver until it ends or so many are dead; return how many are."""
    until = time.monotonic() + PATIENCE
    enough = chance.randint(0, 3)
    killed = 0
    at_once = itertools.cycle((2, 2, 1))
    while killed < most and time.monotonic() < until and not driver.ended(0.02):
        if len(shard_files(store)) < enough:
            continue
        time.sleep(chance.uniform(0.0, 0.3))
        found = workers(driver.process.pid)
        if not found:
            continue
        victims = chance.sample(found, min(len(found), most - killed, next(at_once)))
        killed += sum(kill(victim) for victim in victims)
        enough = len(shard_files(store)) + chance.randint(1, 6)
    return killed


def drivers_killed(executor: str, kills: int, seed: int, scratch: Path) -> Row:
    """Kill drivers at random times and start them again, until one may finish."""
    row = Row(f"driver killed, {executor}")
    chance = random.Random(seed)
    truth = reference("long")
    until = time.monotonic() + SECONDS_A_KILL * (kills + 4)
    rounds = 0
    left_behind: list[str] = []
    while row.kills < kills and time.monotonic() < until:
        store = scratch / f"drivers-{executor}-{rounds}"
        before: Driver | None = None
        while True:
            driver = Driver("long", executor, store, scratch)
            last = row.kills >= kills
            if not last and not _ended_before_its_time(driver, store, STARTING[executor], chance):
                row.kills += driver.kill()
                # What it leaves behind lives on beside the next driver, which must not mind.
                if before is not None:
                    left_behind += before.stop(GRACE)
                before = driver
                row.restarts += 1
                continue
            try:
                driver.answer()
            except RuntimeError as error:
                row.violations.append(str(error))
            break
        for one in (before, driver):
            if one is not None:
                left_behind += one.stop(GRACE)
        row.add(check(store, truth))
        rounds += 1
    row.expect(row.kills >= kills, f"only {row.kills} of {kills} kills")
    # Ray's agents look for their parent only now and then, and do no work.
    working = [name for name in left_behind if not name.endswith("Agent")]
    row.expect(not working, f"still there {GRACE:.0f} s after their driver: {working}")
    row.note = f"{rounds} sweeps"
    return row


def _ended_before_its_time(
    driver: Driver, store: Path, starting: float, chance: random.Random
) -> bool:
    """Wait for a random moment, of the start or of the work; return whether the driver has ended.

    The clock alone would find a driver on a busy machine always at its start.
    """
    if chance.random() < 0.3:
        return driver.ended(chance.uniform(0.2, starting))
    before = len(shard_files(store))
    until = time.monotonic() + PATIENCE
    while len(shard_files(store)) <= before and time.monotonic() < until:
        if driver.ended(0.02):
            return True
    return driver.ended(chance.uniform(0.0, 0.5))


def two_drivers(rounds: int, scratch: Path) -> Row:
    """Let two drivers work on one store at once."""
    row = Row("two drivers at once")
    row.note = f"{rounds} sweeps"
    for round_ in range(rounds):
        store = scratch / f"two-{round_}"
        both = [Driver("long", name, store, scratch) for name in ("processes", "serial")]
        try:
            answers = [driver.answer() for driver in both]
            row.expect(not any(answer["failed"] for answer in answers), f"failures: {answers}")
        except RuntimeError as error:
            row.violations.append(str(error))
        finally:
            for driver in both:
                driver.stop(GRACE)
        row.add(check(store, reference("long")))
    return row


def hopeless_cell(case: str, executor: str, retries: int | None, scratch: Path) -> Row:
    """Run a sweep with a cell that fails or kills its worker: the others must be there."""
    row = Row(f"{case} cell, {executor}")
    store = scratch / f"{case}-{executor}"
    options = () if retries is None else ("--retries", str(retries))
    driver = Driver(case, executor, store, scratch, *options)
    expected = CASES[case]().hopeless
    try:
        answer = driver.answer()
        row.expect(answer["failed"] == expected, f"not {expected} failures: {answer}")
        row.note = f"{answer['failed']} shards given up: {answer['error'][:60]}"
    except RuntimeError as error:
        row.violations.append(str(error))
    finally:
        driver.stop(GRACE)
    row.faults = len(list((store / "failures").glob("*.json")))
    row.expect(row.faults == expected, f"{row.faults} of {expected} failures are written down")
    row.add(check(store, reference(case)))
    if case == "poisonous":
        deaths = Driver.deaths_file(store)
        row.kills = deaths.stat().st_size if deaths.exists() else 0
        tries = ray_executor.RETRIES + 1 if retries is None else retries + 1
        if executor == "processes":
            tries = processes.MAX_SHARED_CRASHES
        fewest, most = (
            processes.MAX_SOLO_CRASHES * expected,
            (tries + processes.MAX_SOLO_CRASHES) * expected,
        )
        row.expect(fewest <= row.kills <= most, f"{row.kills} deaths, not {fewest} to {most}")
    return row
