"""What a process remembers is bounded."""

from __future__ import annotations

import pytest

from affinity_bandits.service import limits
from affinity_bandits.service.limits import remember


def test_beyond_so_many_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED", 3)
    known: dict[str, int] = {}
    for number, key in enumerate("abcd"):
        assert remember(known, key, number) == number
    assert known == {"b": 1, "c": 2, "d": 3}


def test_what_is_known_already_drives_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMEMBERED", 2)
    known = {"a": 0, "b": 1}
    remember(known, "b", 5)
    assert known == {"a": 0, "b": 5}
