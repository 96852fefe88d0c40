"""Limits of rates, and of what a process remembers."""

from __future__ import annotations

import pytest

from affinity_bandits_service import limits
from affinity_bandits_service.limits import REMEMBERED, RateLimiter, remember, source_of


def test_a_bucket_holds_a_second_and_fills_at_the_rate() -> None:
    now = 100.0
    limiter = RateLimiter(lambda: now)
    assert [limiter.take("k", 2.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    now += 0.5
    assert [limiter.take("k", 2.0) for _ in range(2)] == [0.0, 0.5]
    assert limiter.take("other", 2.0) == 0.0
    now += 100
    assert [limiter.take("k", 2.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert limiter.take("slow", 0.1) == 0.0
    assert limiter.take("slow", 0.1) == pytest.approx(10.0)


def test_buckets_are_apart_and_no_more_than_fit() -> None:
    now = 0.0
    limiter = RateLimiter(lambda: now)

    def take(name: str) -> float:
        return limiter.take(name, 1.0, burst=2.0)

    assert [take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert take("b") == 0.0
    for number in range(REMEMBERED - 1):
        take("a")
        take(str(number))
    assert take("a") == 1.0  # whoever keeps coming is not forgotten for others
    assert len(limiter._buckets) == REMEMBERED
    now += 1
    assert take("a") == 0.0
    assert source_of("2001:db8::1") == source_of("2001:db8::ffff:1") != source_of("2001:db8:1::1")


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
