"""Totals: how often each score was given to a group, told at once for a whole lease."""

from __future__ import annotations

from affinity_bandits_client import Client, Lease, Told, Total
from tests.support.clients import Service, begun


def test_totals_are_exact_and_count_as_the_scores_do(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        campaign = begun(client)
        lease = client.ask(campaign, 10_000)
        assert isinstance(lease, Lease)
        scores = [0.1 if slot.arm == "a" else 1e-9 for slot in lease.slots]
        totals = lease.totals(scores)
        each = len(lease) // 2
        assert lease.totals([0.5 + 1e-12] * len(lease))[0].scores[0]["score"] == 0.5
        assert totals[0] == Total(arm="a", scores=[{"score": 0.1, "count": each}])
        assert client.tell_totals(lease, totals) == Told(counted=len(lease), late=0, duplicate=0)
        _, second = client.rounds(campaign)
        exact = f"{each // 10}.{each % 10}".removesuffix(".0")
        assert second.sums == (exact, f"0.{each:09d}".rstrip("0"))
