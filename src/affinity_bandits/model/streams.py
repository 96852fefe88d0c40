"""Random streams keyed by their purpose, independent of the order of requests.

A stream is a Philox generator. Its 128-bit key is a hash of (seed, role, policy), and its counter
starts at the replicate's number shifted by 128 bits, so replicates under one key read disjoint
parts of one cycle, 2**130 numbers each.

Roles: "noise" (the true values), "gate" (the coin B of the gated mechanism), "round" (sums of whole
rounds), "policy" (a randomized policy's own draws), "join" and "leave" (the committee's changes),
"unchosen noise" and "unchosen gate" (scores of the other candidates), "type" (the types of arrivals
in a study). Only the role "policy" depends on the policy, so policies are compared on common random
numbers, whichever others are compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import StateMismatch, shown

WORDS = {"counter": (4,), "key": (2,), "buffer": (4,)}
"""The arrays of a saved Philox generator, with their shapes."""
ROLES = (
    *("noise", "gate", "policy", "round", "join", "leave"),
    *("unchosen noise", "unchosen gate", "type"),
)


def stream_key(seed: int, role: str, policy: Mapping[str, Any] | None = None) -> tuple[int, int]:
    """Return the two 64-bit words of the key for a role of a seed."""
    checks.integer("seed", seed, low=0, high=2**128 - 1)
    checks.choice("role", role, ROLES)
    text = json.dumps([int(seed), role, policy], sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=16, person=b"affinity-bandits").digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def generator(key: tuple[int, int], replicate: int) -> np.random.Generator:
    """Return numpy's generator at the start of a replicate's stream."""
    checks.integer("replicate", replicate, low=0, high=2**63 - 1)
    return np.random.Generator(
        np.random.Philox(
            key=np.array(key, dtype=np.uint64),
            counter=np.array([0, 0, replicate, 0], dtype=np.uint64),
        )
    )


def policy_generator(seed: int, policy: Mapping[str, Any], replicate: int) -> np.random.Generator:
    """Return the stream of a policy's own randomness in one replicate."""
    return generator(stream_key(seed, "policy", policy), replicate)


def stream_starts(
    seed: int, policy: Mapping[str, Any], first: int, count: int
) -> list[dict[str, Any]]:
    """Return the states of `policy_generator` at the start of replicates `first`, `first` + 1, ...

    Setting one takes a tenth of the time of making a generator.
    """
    start: Mapping[str, Any] = policy_generator(seed, policy, first).bit_generator.state
    counters = np.zeros((count, 4), dtype=np.uint64)
    counters[:, 2] = np.arange(count, dtype=np.uint64) + np.uint64(first)
    key = start["state"]["key"]
    return [{**start, "state": {"counter": counter, "key": key}} for counter in counters]


def stream_to_json(rng: np.random.Generator) -> dict[str, Any]:
    """Return where a generator stands in its stream, as JSON-ready data."""
    state: Mapping[str, Any] = rng.bit_generator.state
    return {
        "counter": [int(word) for word in state["state"]["counter"]],
        "key": [int(word) for word in state["state"]["key"]],
        "buffer": [int(word) for word in state["buffer"]],
        "buffer_pos": int(state["buffer_pos"]),
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def resume_stream(rng: np.random.Generator, data: object) -> None:
    """Put a generator where `stream_to_json` says that it stood.

    Raises:
        StateMismatch: the data is not what `stream_to_json` returned.
    """
    try:
        rng.bit_generator.state = _philox_state(dict(data))  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError, OverflowError):
        rule = "the saved run has no place in its random numbers, or a damaged one"
        raise StateMismatch(f"{rule}: {shown(data)}") from None


def _philox_state(given: Mapping[str, Any]) -> dict[str, Any]:
    words = {
        name: np.array(given[name], dtype=np.uint64).reshape(shape) for name, shape in WORDS.items()
    }
    places = {name: int(given[name]) for name in ("buffer_pos", "has_uint32", "uinteger")}
    state = {name: words[name] for name in ("counter", "key")}
    return {"bit_generator": "Philox", "state": state, "buffer": words["buffer"], **places}
