"""The messages of the hot path in pydantic and in msgspec: `python -m bench.wire --json`.

One ask and one tell as a server and a client see them together: each message is made, encoded and
decoded once. msgspec is no dependency of the package; where it is not installed, only pydantic is
measured. A whole request takes a process a few hundred microseconds (`bench.service`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from types import GenericAlias
from typing import Annotated, Any
from uuid import uuid4

from pydantic import TypeAdapter

from affinity_bandits import wire
from bench.measure import best_of_interleaved, main

REPETITIONS = 300
EACH = 20
"""Short slices, since others share the machine."""
CAMPAIGN = str(uuid4())
EXPIRES = datetime(2026, 1, 1, tzinfo=UTC)
ARMS = ("referrals", "open call", "agency")


def run() -> dict[str, float]:
    """Return microseconds a step, by library and by slots of a lease."""
    figures: dict[str, float] = {}
    sides: dict[str, Callable[[int], dict[str, Callable[[], object]]]] = {"pydantic": in_pydantic}
    twin = in_msgspec()
    if twin is not None:
        sides["msgspec"] = twin
    for slots in (1, 100):
        steps: dict[str, Callable[[], object]] = {
            f"{step}, {slots} slots, {side}": partial(_often, task)
            for side, made in sides.items()
            for step, task in made(slots).items()
        }
        best = best_of_interleaved(steps, REPETITIONS)
        figures |= {name: seconds / EACH * 1e6 for name, seconds in best.items()}
        for side in sides:
            both = [value for name, value in figures.items() if f"{slots} slots, {side}" in name]
            figures[f"all of it, {slots} slots, {side}"] = sum(both)
    return figures


def in_pydantic(slots: int) -> dict[str, Callable[[], object]]:
    """Return the steps with the messages that the package has."""
    lease, body = _lease(slots).encoded(), _tell(slots).encoded()
    ask = wire.Ask(count=slots, listed=True).encoded()
    told = wire.Told(counted=slots, late=0, duplicate=0).encoded()
    asked = TypeAdapter(wire.Asked)
    return {
        "client encodes ask": lambda: wire.Ask(count=slots, listed=True).encoded(),
        "server decodes ask": lambda: wire.Ask.model_validate_json(ask),
        "server encodes lease": lambda: _lease(slots).encoded(),
        "client decodes lease": lambda: asked.validate_json(lease),
        "client encodes tell": lambda: _tell(slots).encoded(),
        "server decodes tell": lambda: wire.Tell.model_validate_json(body),
        "server encodes told": lambda: wire.Told(counted=slots, late=0, duplicate=0).encoded(),
        "client decodes told": lambda: wire.Told.model_validate_json(told),
    }


def _lease(slots: int) -> wire.Lease:
    return wire.Lease(
        status="leased",
        number=2,
        round=0,
        arms=ARMS,
        runs=((0, slots),),
        listed=[{"slot": slot, "arm": ARMS[slot % 3]} for slot in range(slots)],
        expires_at=EXPIRES,
        campaign=CAMPAIGN,
    )


def _tell(slots: int) -> wire.Tell:
    return wire.Tell(lease=2, answers=[{"slot": slot, "score": 0.5} for slot in range(slots)])


def in_msgspec() -> Callable[[int], dict[str, Callable[[], object]]] | None:
    """Return the same steps with twins of the messages in msgspec; None where it is missing."""
    try:
        import msgspec
    except ImportError:
        return None
    least, most = msgspec.Meta(ge=-1e5, le=1e5), msgspec.Meta(ge=0, le=2**63 - 2)
    struct = partial(msgspec.defstruct, frozen=True, forbid_unknown_fields=True)
    ask_ = struct("Ask", [("count", int, 1), ("listed", bool, True)])
    slot_ = struct("ListedSlot", [("slot", int), ("arm", str)])
    lease_ = struct(
        "Lease",
        [
            *(("lease", int), ("round", int), ("arms", tuple[str, ...])),
            *(("runs", tuple[tuple[int, int], ...]), ("slots", GenericAlias(list, (slot_,)))),
            *(("expires_at", datetime), ("campaign", str)),
        ],
        tag_field="status",
        tag="leased",
    )
    wait_ = struct(
        "Wait", [("outstanding", int), ("retry_after", float)], tag_field="status", tag="wait"
    )
    score_ = struct(
        "SlotScore",
        [("slot", Annotated[int, most]), ("score", Annotated[float, least])],
    )
    tell_ = struct(
        "Tell", [("lease", Annotated[int, most]), ("answers", GenericAlias(list, (score_,)))]
    )
    told_ = struct("Told", [("counted", int), ("late", int), ("duplicate", int)])
    encode = msgspec.json.Encoder().encode
    read_ask, read_tell = msgspec.json.Decoder(ask_).decode, msgspec.json.Decoder(tell_).decode
    read_asked = msgspec.json.Decoder(lease_ | wait_).decode
    read_told = msgspec.json.Decoder(told_).decode

    def lease(slots: int) -> Any:
        listed = [slot_(slot, ARMS[slot % 3]) for slot in range(slots)]
        return lease_(2, 0, ARMS, ((0, slots),), listed, EXPIRES, CAMPAIGN)

    def tell(slots: int) -> Any:
        return tell_(2, [score_(slot, 0.5) for slot in range(slots)])

    def steps(slots: int) -> dict[str, Callable[[], object]]:
        leased, body, ask = encode(lease(slots)), encode(tell(slots)), encode(ask_(slots, True))
        told = encode(told_(slots, 0, 0))
        return {
            "client encodes ask": lambda: encode(ask_(slots, True)),
            "server decodes ask": lambda: read_ask(ask),
            "server encodes lease": lambda: encode(lease(slots)),
            "client decodes lease": lambda: read_asked(leased),
            "client encodes tell": lambda: encode(tell(slots)),
            "server decodes tell": lambda: read_tell(body),
            "server encodes told": lambda: encode(told_(slots, 0, 0)),
            "client decodes told": lambda: read_told(told),
        }

    return steps


def _often(task: Callable[[], object]) -> None:
    for _ in range(EACH):
        task()


if __name__ == "__main__":
    sys.exit(main(run))
