"""A policy that this version does not have, or has with another rule, is not taken for damage."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from affinity_bandits.base.errors import NotSupported
from affinity_bandits.policies import POLICIES, register
from affinity_bandits_service.trail.verify import verify
from tests.support.one_campaign import OneCampaign
from tests.support.own_policies import DropLowest


async def test_it_cannot_be_replayed_which_says_nothing_against_it(one: OneCampaign) -> None:
    with patch.dict(POLICIES):
        register(DropLowest)
        one.id = await one.create(DropLowest(2), 100)
        lease = await one.ask(4)
        await one.tell(lease, dict(lease.slots))
        assert (await verify(one.pool, one.id)).differences == ()
        with patch.object(DropLowest, "version", 2), pytest.raises(NotSupported) as caught:
            await verify(one.pool, one.id)
        said = "has version 2 of its policy, and its state was saved by version 1"
        assert said in str(caught.value)
        with (
            patch.object(DropLowest, "from_json", side_effect=TypeError("no such setting")),
            pytest.raises(NotSupported, match="no such settings of its policy"),
        ):
            await verify(one.pool, one.id)
        # The control: what is wrong in the tables of a policy that is here is a difference.
        await one.pool.execute(
            "UPDATE affinity.heads SET next_slot = 1 WHERE campaign = $1", one.id
        )
        (found,) = (await verify(one.pool, one.id)).differences
        assert found.startswith("next slot is 1, but 0 follows")
    with pytest.raises(NotSupported) as caught:
        await verify(one.pool, one.id)
    assert str(caught.value) == (
        "the campaign cannot be replayed by this version, which has no policy of the name"
        " 'drop-lowest'; that says nothing against its record: verify it with the version"
        " that it was made with"
    )
