"""Rules that messages share: what may be a key."""

from __future__ import annotations

from typing import Any

import pytest

from affinity_bandits_client import InvalidInput
from affinity_bandits_client.messages.base import check_key


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201, "line\n", "nul\0", None])
def test_a_key_is_a_short_word(key: Any) -> None:
    with pytest.raises(InvalidInput, match="Idempotency-Key must be 1 to 200"):
        check_key(key)
