"""The soak test of the service.

python -m checks.soak.service [--short] [--json] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from dataclasses import replace

from checks.soak.service import cases, controls, faults
from checks.soak.service.rows import Row, table
from checks.soak.service.scenario import Scenario, run

# The service as it is; with a standby that takes over at every stop, and servers whose parents
# are killed; behind PgBouncer; and with a migration halfway.
SOUND, FAILOVER, POOLED, UPGRADED = "service", "failover", "pooled", "upgraded"


def sound(seed: int, *, short: bool, keep: bool = False) -> Row:
    """Disturb the service; no fault is allowed."""
    amounts = faults.SHORT if short else faults.FULL
    scenario = Scenario(SOUND, amounts, cases.SHORT if short else cases.FULL)
    return _undamaged(scenario, seed, keep=keep)


def failover(seed: int, *, short: bool, keep: bool = False) -> Row:
    """Disturb it with failovers and killed parents, too; no fault is allowed."""
    amounts = faults.SHORT if short else faults.FAILOVERS
    scenario = Scenario(FAILOVER, amounts, cases.SHORT, standby=True)
    return _undamaged(scenario, seed, keep=keep)


def pooled(seed: int, *, short: bool, keep: bool = False) -> Row:
    """Disturb it behind PgBouncer in transaction mode; no fault is allowed."""
    amounts = faults.SHORT if short else replace(faults.FAILOVERS, stops=10)
    return _undamaged(Scenario(POOLED, amounts, cases.SHORT, pooled=True), seed, keep=keep)


def upgraded(seed: int, *, short: bool, keep: bool = False) -> Row:
    """Disturb it, and migrate halfway: processes of the former release go on and start again."""
    amounts = faults.SHORT if short else replace(faults.FAILOVERS, stops=10)
    return _undamaged(Scenario(UPGRADED, amounts, cases.SHORT, upgraded=True), seed, keep=keep)


def _undamaged(scenario: Scenario, seed: int, *, keep: bool) -> Row:
    row = run(scenario, seed, keep=keep)
    for kind, complaints in row.verdict.complaints.items():
        row.violations += [f"{kind}: {complaint}" for complaint in complaints]
    row.expect(row.verdict["rounds"] > 0, "no round was closed")
    row.expect(row.verdict["late"] + row.verdict["late_counted"] > 0, "no answer was late")
    return row


def main() -> int:
    """Run the scenario and its controls, print the table, and return 1 if anything was violated."""
    sounds = {SOUND: sound, FAILOVER: failover, POOLED: pooled, UPGRADED: upgraded}
    names = [*sounds, *controls.CONTROLS]
    parser = argparse.ArgumentParser(prog="python -m checks.soak.service", description=__doc__)
    parser.add_argument("--short", action="store_true", help="few faults, one control")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep the directory of a failure")
    given = parser.parse_args()
    chosen = given.only or ([*sounds, *controls.SHORT_NAMES] if given.short else names)
    began = time.perf_counter()
    rows = []
    for name in chosen:
        if name in sounds:
            row = sounds[name](given.seed, short=given.short, keep=given.keep)
        else:
            row = controls.run_control(name, given.seed)
        verdict = "FAILED" if row.violations else "ok"
        print(f"{row.seconds:7.1f} s  {name}: {verdict}", file=sys.stderr, flush=True)
        rows.append(row)
    failed = sum(bool(row.violations) for row in rows)
    if given.json:
        print(json.dumps([row.to_json() for row in rows], indent=1))
    else:
        print(table(rows))
        print(
            f"{len(rows) - failed} of {len(rows)} scenarios as they should be, "
            f"{time.perf_counter() - began:.0f} s"
        )
    return 1 if failed else 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):  # so that nothing we started outlives us
        signal.signal(number, _interrupt)
    try:
        raise SystemExit(main())
    except KeyboardInterrupt:
        raise SystemExit("interrupted; everything that was started is stopped") from None
