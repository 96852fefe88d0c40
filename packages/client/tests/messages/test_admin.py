"""The signature of a notice: whoever changes, forges or repeats one is found out."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from affinity_bandits_client import InvalidInput
from affinity_bandits_client.messages import check_notice, signature

BODY = b'{"kind": "decided"}'
NOW = 1_900_000_000.0


def test_the_signature_is_hmac_sha256_of_time_and_body() -> None:
    by_hand = hmac.new(b"secret", b"1900000000." + BODY, hashlib.sha256).hexdigest()
    assert signature("secret", BODY, NOW) == f"t=1900000000,v1={by_hand}"
    check_notice("secret", signature("secret", BODY, NOW), BODY, now=NOW + 200)


GOOD = signature("secret", BODY, NOW)


@pytest.mark.parametrize(
    ("secret", "header", "body", "now"),
    [
        ("other", GOOD, BODY, NOW),
        ("secret", GOOD, BODY + b" ", NOW),
        ("secret", GOOD.replace("t=19", "t=18"), BODY, NOW - 10**8),
        ("secret", GOOD[:-1] + ("0" if GOOD[-1] != "0" else "1"), BODY, NOW),
        ("secret", GOOD, BODY, NOW + 301),
        ("secret", GOOD, BODY, NOW - 301),
        ("secret", "", BODY, NOW),
        ("secret", GOOD.upper(), BODY, NOW),
    ],
)
def test_anything_else_is_refused(secret: str, header: str, body: bytes, now: float) -> None:
    with pytest.raises(InvalidInput):
        check_notice(secret, header, body, now=now)
