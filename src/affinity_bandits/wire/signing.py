"""How notices of webhooks are signed, and how whoever receives one checks that."""

from __future__ import annotations

import hashlib
import hmac
import re
import time

from affinity_bandits.errors import InvalidInput

__all__ = ["SIGNATURE", "check_notice", "signature"]

SIGNATURE = "Affinity-Signature"
"""The header that has the signature: t=<seconds since 1970>,v1=<hexadecimal digits>."""
OLDEST_SECONDS = 300.0
_FORM = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")


def signature(secret: str, body: bytes, at: float) -> str:
    """Return the signature of a notice that is sent at a time: HMAC-SHA256 of time and body."""
    moment = str(int(at))
    return f"t={moment},v1={_digest(secret, moment, body)}"


def check_notice(
    secret: str,
    header: str,
    body: bytes,
    *,
    oldest: float = OLDEST_SECONDS,
    now: float | None = None,
) -> None:
    """Check that a notice was sent by the service, a short while ago, as it is.

    Args:
        secret: what the service gave when the webhook was made.
        header: the value of the header `Affinity-Signature`.
        body: the body, byte for byte, before it is parsed.
        oldest: seconds for which a notice is taken, against those that send an old one again.
        now: the time, in seconds since 1970; the clock's if None.

    Raises:
        InvalidInput: it was not.
    """
    found = _FORM.fullmatch(header)
    if found is None:
        raise InvalidInput(SIGNATURE, "of the form t=...,v1=...", header)
    if not hmac.compare_digest(_digest(secret, found[1], body), found[2]):
        raise InvalidInput(SIGNATURE, "that of this body, by this secret", header)
    age = (time.time() if now is None else now) - int(found[1])
    if abs(age) > oldest:
        raise InvalidInput(SIGNATURE, f"of the last {oldest:g} seconds", header)


def _digest(secret: str, moment: str, body: bytes) -> str:
    signed = moment.encode() + b"." + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
