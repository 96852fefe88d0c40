"""Totals: how often each score was given to a group, told at once for a whole lease."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from affinity_bandits.client import Client, Lease, RequestRefused, Told, Total
from affinity_bandits.errors import InvalidInput
from tests.support.clients import Service, begun, running


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Service]:
    with running(dsn) as made:
        yield made


def test_totals_are_exact_and_count_as_the_scores_do(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = begun(client)
        lease = client.ask(campaign, 10_000)
        assert isinstance(lease, Lease)
        scores = [0.1 if slot.arm == "a" else 1e-9 for slot in lease.slots]
        totals = lease.totals(scores)
        each = len(lease) // 2
        assert totals[0] == Total(arm="a", scores=[{"score": 0.1, "count": each}])
        assert client.tell_totals(lease, totals) == Told(counted=len(lease), late=0, duplicate=0)
        _, second = client.rounds(campaign)
        exact = f"{each // 10}.{each % 10}".removesuffix(".0")
        assert second.sums == (exact, f"0.{each:09d}".rstrip("0"))


def test_scores_are_counted_where_the_policy_counts_them(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        policy = {"name": "handicap-elimination", "head_start": 0, "bounded": True, "in_flight": 40}
        campaign = client.create_campaign("c", ["a", "b"], policy=policy, horizon=10_000)
        lease = client.ask(campaign, 40)
        assert isinstance(lease, Lease)
        scores = [number % 3 / 2 + 1e-12 for number in range(len(lease))]
        with pytest.raises(RequestRefused) as caught:
            client.tell_totals(lease, [Total(arm="a", count=1, sum="0.5")])
        assert (caught.value.status, caught.value.code) == (422, "scores_needed")
        totals = lease.totals(scores)
        assert [len(one.scores) for one in totals] == [3, 3]  # alike to nine decimals
        assert client.tell_totals(lease, totals) == Told(counted=40, late=0, duplicate=0)
        (closed,) = client.rounds(campaign)
        halves = [sum(number % 3 for number in range(first, 40, 2)) for first in (0, 1)]
        assert [float(total) for total in closed.sums] == [half / 2 for half in halves]
    assert service.differences(campaign.id) == ()


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({}, "count must be given where there are no scores"),
        ({"count": 1}, "sum must be given where there are no scores"),
        ({"count": 1, "scores": [{"score": 1, "count": 1}]}, "count must be left out where there"),
        ({"scores": [{"score": 1, "count": 0}]}, "count must be greater than or equal to 1, got 0"),
        ({"scores": []}, "scores must be list should have at least 1 item"),
    ],
)
def test_a_total_has_one_form(members: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(rule)):
        Total.checked(arm="a", **members)
