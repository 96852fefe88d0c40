"""Negative controls: with a guard taken out, the checker that passes the service must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from checks.soak.service.cases import SHORT, Case
from checks.soak.service.faults import CONTROL
from checks.soak.service.rows import Row
from checks.soak.service.scenario import Scenario, run

MOST_TRIES = 5  # runs of a control whose damage depends on luck
PATIENCE = 15.0  # a campaign without its guard may never end, and need not
MANY_ROUNDS = tuple(Case(f"rejects-{n}", "successive-rejects", 12, 200) for n in range(12))
NO_LOCK = ("locked: FOR UPDATE SKIP LOCKED -> ", "locked: FOR UPDATE -> ")
NUMBERS_NOT_UNIQUE = (
    "ALTER TABLE affinity.events DROP CONSTRAINT events_pkey",
    "ALTER TABLE affinity.leases DROP CONSTRAINT leases_pkey",
    "ALTER TABLE affinity.heads DROP CONSTRAINT heads_check",
)
KEYS_NOT_LOOKED_UP = (
    "events_before: r.key = a.key -> r.key = a.key AND false",
    "ALTER TABLE affinity.requests DROP CONSTRAINT requests_pkey",
)


@dataclass(frozen=True)
class Control:
    """A guard that is taken out, and what the checker must see then."""

    scenario: Scenario
    caught: str
    what: str


def _control(name: str, damage: tuple[str, ...]) -> Scenario:
    return Scenario(name, CONTROL, SHORT, PATIENCE, damage=damage)


def _stopped(name: str, stops: int, settings: dict[str, str], *, standby: bool) -> Scenario:
    amounts = replace(CONTROL, stops=stops)
    return Scenario(name, amounts, SHORT, PATIENCE, settings, standby=standby)


CONTROLS = {
    "no-flush": Control(
        # Whatever was acknowledged since the log was last written is gone after a crash.
        _stopped("no-flush", 4, {"synchronous_commit": "off"}, standby=False),
        "lost",
        "acknowledged requests are lost",
    ),
    "no-wait-for-standby": Control(
        # What was acknowledged after the standby was cut off is gone when it takes over.
        _stopped("no-wait-for-standby", 2, {"synchronous_standby_names": ""}, standby=True),
        "lost",
        "acknowledged requests are lost",
    ),
    "no-lock": Control(
        # Two at once number their events alike; the primary key turns one of them away.
        _control("no-lock", NO_LOCK),
        "refused",
        "requests fail",
    ),
    "no-lock-no-key": Control(
        _control("no-lock-no-key", NO_LOCK + NUMBERS_NOT_UNIQUE),
        "wrong",
        "slots are leased twice",
    ),
    "no-idempotency": Control(
        _control("no-idempotency", KEYS_NOT_LOOKED_UP),
        "doubled",
        "repeats are taken for new requests",
    ),
    "no-slot-check": Control(
        _control(
            "no-slot-check",
            ("tell: v_slots * v_lease.pending -> v_slots",),
        ),
        "wrong",
        "slots are counted twice",
    ),
    "no-window": Control(
        _control("no-window", ("ask: v_head.in_flight IS NOT NULL -> false",)),
        "wrong",
        "choices go out too far ahead of the oldest without an answer",
    ),
    "no-round-check": Control(
        # An answer to a closed round finds the same slot number in the open one.
        Scenario(
            "no-round-check",
            replace(CONTROL, seconds=15.0),
            MANY_ROUNDS,
            PATIENCE,
            damage=("tell: IF v_ask.round = v_head.round -> IF true",),
        ),
        "wrong",
        "answers to closed rounds are counted in the open one",
    ),
}
SHORT_NAMES = ("no-idempotency",)


def run_control(name: str, seed: int) -> Row:
    """Run a control until the checker has caught it; the note says how many runs it took."""
    control = CONTROLS[name]
    for tries in range(1, MOST_TRIES + 1):
        row = run(control.scenario, seed + tries)
        # What the guard's absence breaks besides is of no interest.
        row.violations.clear()
        if row.verdict[control.caught]:
            row.note = f"caught in the last of {tries} runs: {control.what}"
            return row
    row.violations.append(f"not caught in {MOST_TRIES} runs, though {control.what}")
    return row
