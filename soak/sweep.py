"""The soak test of sweeps: python -m soak.sweep [--short] [--json] [--only NAME ...]."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from soak import controls, damage, faults, kills
from soak.rows import Row, table

Scenario = Callable[[Path], Row]
PATIENCE = 1800.0
"""Longest wait for another soak's clusters."""


@dataclass(frozen=True)
class Amounts:
    """How many faults there are of each kind.

    Attributes:
        workers: kills of workers, for processes and for Ray.
        drivers: kills of drivers with processes.
        ray_drivers: kills of drivers under Ray, each of which starts a cluster; and sweeps that
            two drivers run at once.
        damages: truncations and bit flips.
        ray_retries: None for as many as the executor's own.
    """

    workers: int
    drivers: int
    ray_drivers: int
    damages: int
    ray_retries: int | None


FULL = Amounts(workers=100, drivers=100, ray_drivers=20, damages=1000, ray_retries=None)
SHORT = Amounts(workers=4, drivers=4, ray_drivers=1, damages=50, ray_retries=1)


def alone(amounts: Amounts, seed: int) -> dict[str, Scenario]:
    """Return the scenarios that patch this process, by name; they are run alone."""
    return {
        "write-call": lambda at: faults.every_write_call(False, at),
        "write-calls": lambda at: faults.every_write_call(True, at),
        "damage": lambda at: damage.damaged_files(amounts.damages, seed, at),
        "control-checksums": controls.checksums_not_checked,
        "control-labels": controls.labels_not_checked,
        "control-straight": controls.written_straight,
        "control-done": controls.failures_taken_for_done,
    }


def in_drivers(amounts: Amounts, seed: int) -> dict[str, Scenario]:
    """Return the scenarios that run in drivers of their own, by name.

    Those with Ray are run beside the others, but not beside each other.
    """
    workers = amounts.workers
    retries = amounts.ray_retries
    return {
        "workers-processes": lambda at: kills.workers_killed("processes", workers, seed, at),
        "workers-ray": lambda at: kills.workers_killed("ray", workers, seed, at),
        "driver-processes": lambda at: kills.drivers_killed("processes", amounts.drivers, seed, at),
        "driver-ray": lambda at: kills.drivers_killed("ray", amounts.ray_drivers, seed, at),
        "poison-ray": lambda at: kills.hopeless_cell("poisonous", "ray", retries, at),
        "poison-processes": lambda at: kills.hopeless_cell("poisonous", "processes", None, at),
        "control-ray": lambda at: controls.work_not_queued_again("ray", at),
        "control-processes": lambda at: controls.work_not_queued_again("processes", at),
        "two-drivers": lambda at: kills.two_drivers(amounts.ray_drivers, at),
        "full-disk-serial": lambda at: faults.full_disk("serial", at),
        "full-disk-processes": lambda at: faults.full_disk("processes", at),
        "file-limit": lambda at: faults.limited_files("serial", at),
        "uneven-serial": lambda at: kills.hopeless_cell("uneven", "serial", None, at),
        "uneven-processes": lambda at: kills.hopeless_cell("uneven", "processes", None, at),
    }


ALONE = tuple(alone(SHORT, 0))
IN_DRIVERS = tuple(in_drivers(SHORT, 0))
LEFT_OUT = ("poison-ray", "control-ray", "full-disk-processes", "file-limit", "uneven-serial")
"""What the short form does not do: it differs little from what is done, or takes long."""
SHORT_NAMES = tuple(name for name in (*ALONE, *IN_DRIVERS) if name not in LEFT_OUT)


def run(name: str, amounts: Amounts = SHORT, seed: int = 0) -> Row:
    """Run a scenario in a directory of its own, which is removed."""
    with _only_cluster() if name.endswith("-ray") else contextlib.nullcontext():
        return _run(name, amounts, seed)


def _run(name: str, amounts: Amounts, seed: int) -> Row:
    began = time.perf_counter()
    # Not a test's directory: Ray's sockets need a short name.
    scratch = Path(tempfile.mkdtemp(prefix="soak-", dir="/tmp"))
    try:
        row = (alone(amounts, seed) | in_drivers(amounts, seed))[name](scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    row.seconds = round(time.perf_counter() - began, 1)
    return row


@contextlib.contextmanager
def _only_cluster() -> Iterator[None]:
    """Keep other soaks of this machine from starting a cluster: their ports may be the same.

    See https://github.com/ray-project/ray/issues/53906.
    """
    until = time.monotonic() + PATIENCE
    with Path(f"/tmp/soak-ray-{os.getuid()}.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)
        yield


def main() -> int:
    """Run scenarios, print the table, and return 1 if anything was violated."""
    names = [*ALONE, *IN_DRIVERS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="few kills and damages")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chosen = given.only or (SHORT_NAMES if given.short else names)
    amounts = SHORT if given.short else FULL

    def told(name: str) -> Row:
        row = run(name, amounts, given.seed)
        verdict = "FAILED" if row.violations else "ok"
        print(f"{row.seconds:7.1f} s  {name}: {verdict}", file=sys.stderr, flush=True)
        return row

    began = time.perf_counter()
    rows = [told(name) for name in ALONE if name in chosen]
    with ThreadPoolExecutor(1) as with_ray, ThreadPoolExecutor(2) as others:
        pending = [
            (with_ray if name.endswith("-ray") else others).submit(told, name)
            for name in IN_DRIVERS
            if name in chosen
        ]
        rows += [future.result() for future in pending]
    failed = [row for row in rows if row.violations]
    if given.json:
        print(json.dumps([row.to_json() for row in rows], indent=1))
    else:
        caught = sum(row.name.startswith("control") and not row.violations for row in rows)
        meant = sum(row.name.startswith("control") for row in rows)
        print(table(rows))
        print(
            f"{len(rows) - len(failed)} of {len(rows)} scenarios as they should be, "
            f"{caught} of {meant} controls caught, {time.perf_counter() - began:.0f} s"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
