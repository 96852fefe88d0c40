"""Idempotency keys: what makes a request the same request when it is sent again."""

from __future__ import annotations

import uuid

from affinity_bandits.errors import InvalidInput

LONGEST_KEY = 200


def check_key(key: object) -> None:
    """Check an idempotency key."""
    rule = f"1 to {LONGEST_KEY} printable ASCII characters without spaces"
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY:
        raise InvalidInput("Idempotency-Key", rule, key)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("Idempotency-Key", rule, key)


def new_key() -> str:
    """Return an idempotency key for a request that came without one."""
    return uuid.uuid4().hex
