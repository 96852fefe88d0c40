"""Where a page begins, as an opaque cursor."""

from __future__ import annotations

import base64
import binascii

from affinity_bandits.errors import InvalidInput


def to_cursor(position: int | None) -> str | None:
    """Return a position as a cursor.

    >>> to_cursor(17)
    'AAAAAAAAABE'
    """
    if position is None:
        return None
    return base64.urlsafe_b64encode(position.to_bytes(8, "big")).decode().rstrip("=")


def from_cursor(cursor: str | None) -> int | None:
    """Return the position that a cursor stands for.

    >>> from_cursor("AAAAAAAAABE")
    17
    """
    if cursor is None:
        return None
    try:
        data = base64.b64decode(cursor + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    position = int.from_bytes(data, "big")
    if len(data) != 8 or position >= 2**63:
        raise InvalidInput("cursor", "one that this service gave as 'next'", cursor)
    return position
