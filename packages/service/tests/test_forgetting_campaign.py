"""A comparison before a committee that forgets is served one choice at a time, and decided."""

from __future__ import annotations

import pytest

from affinity_bandits.policies import MemoryElimination
from affinity_bandits_service.ui.wording import round_label
from tests.support.one_campaign import OneCampaign

POLICY = MemoryElimination(bounded=True, failure=0.2, memory=7)


@pytest.mark.slow
@pytest.mark.campaign(POLICY, horizon=1000)
async def test_choices_are_handed_out_in_turn_and_the_wait_comes_first(one: OneCampaign) -> None:
    arms, warm_up = [], 0
    while (campaign := await one.look()).status == "open":
        lease = await one.ask(9)
        assert len(lease.slots) == 1  # the next goes out once this one has its answer
        assert (await one.ask(9)).outstanding == 1
        ((slot, arm),) = lease.slots
        arms.append(arm)
        warm_up += round_label(POLICY, campaign.round.number) == "Warm-up"
        await one.tell(lease, {slot: float(arm == "b")})
    assert warm_up == 8  # four passes of two groups: the first that are no fewer than 7
    assert arms == ["ab"[turn % 2] for turn in range(len(arms))]  # the circle is never broken
    assert (campaign.status, campaign.round.arms) == ("decided", ("b",))
