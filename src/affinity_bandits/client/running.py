"""Run a campaign from its first ask to its decision, in one program."""

from __future__ import annotations

import time
from collections.abc import Callable

from affinity_bandits.client.client import Client
from affinity_bandits.client.core import AnyCampaign
from affinity_bandits.wire import Campaign, Finished, Wait

SHORTEST_WAIT, LONGEST_WAIT = 0.05, 1.0
"""Seconds between two asks where there is nothing to hand out: others may answer any moment."""


def run_campaign(
    client: Client,
    campaign: AnyCampaign,
    score: Callable[[str], float],
    *,
    count: int = 1,
    sleep: Callable[[float], object] = time.sleep,
) -> Campaign:
    """Ask, score and tell until the campaign is decided, exhausted or stopped; return it.

    Several programs may run the same campaign. If `score` raises, what was asked for is not
    answered, and is offered again once its lease has expired.

    Args:
        client: its API key needs the scopes "ask", "tell" and "read".
        campaign: a campaign, or its id.
        score: returns what came of choosing from the group of that name.
        count: slots to ask for at a time.
        sleep: how to wait.
    """
    looked_at: int | None = None
    while True:
        found = client.ask(campaign, count)
        if isinstance(found, Finished):
            return client.campaign(campaign)
        if isinstance(found, Wait):
            sleep(min(LONGEST_WAIT, max(SHORTEST_WAIT, found.retry_after)))
            continue
        if found.round != looked_at:  # a decision is made only between two rounds
            now = client.campaign(campaign)
            if now.status == "decided":
                return now
            looked_at = found.round
        client.tell(found, [score(slot.arm) for slot in found.slots])
