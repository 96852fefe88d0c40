"""Bad keys and failed logins are throttled by address, and sessions by their key."""

from __future__ import annotations

import pytest

from affinity_bandits_service.core import keys
from affinity_bandits_service.limits import REMEMBERED
from tests.support.web_site import Site, refused

BAD_KEY = f"ab_{'0' * 16}_{'0' * 64}"


@pytest.mark.site(quiet=True)
async def test_bad_keys_are_throttled_and_a_good_one_passes(at: Site) -> None:
    at.forgive(refills=False)
    good = await at.key()
    fresh = await at.key()
    async with at.client(good) as client, at.client() as bad:
        assert (await client.get("/v1/campaigns")).status_code == 200
        statuses = []
        for number in range(150):
            key = f"ab_{number:016x}_{'0' * 64}" if number % 3 else "nonsense"
            sent = {"authorization": f"Bearer {key}"} if number % 4 else {}
            statuses.append((await bad.get("/v1/campaigns", headers=sent)).status_code)
        assert statuses[:40] == [401] * 40
        assert statuses.count(429) > 50
        answer = await bad.get("/v1/campaigns", headers={"authorization": f"Bearer {BAD_KEY}"})
        refused(answer, 429, "too_many_refusals")
        assert int(answer.headers["retry-after"]) >= 1
        # Both one that is remembered and one that has to be looked up.
        for key in (good, fresh):
            headers = {"authorization": f"Bearer {key}"}
            assert (await bad.get("/v1/campaigns", headers=headers)).status_code == 200


@pytest.mark.site(quiet=True)
async def test_failed_logins_are_throttled_and_a_good_one_passes(at: Site) -> None:
    at.forgive(refills=False)
    good = await at.key()
    async with at.client() as client:
        form = {"key": BAD_KEY}
        statuses = [
            (await client.post("/ui/login", data=form)).status_code
            for _ in range(int(keys.REFUSALS_AT_ONCE) + 30)
        ]
        assert set(statuses) == {401, 429}
        # A made-up session is a bad key like any other.
        answer = await client.get("/ui", headers={"cookie": f"__Host-affinity_session={BAD_KEY}"})
        assert answer.status_code == 429
        assert "Wait a minute" in answer.text
        assert (await client.post("/ui/login", data={"key": good})).status_code == 303


@pytest.mark.site(quiet=True)
async def test_bad_keys_do_not_push_good_ones_out_of_memory(at: Site) -> None:
    ring = at.app.state.keys
    good = await at.key()
    assert await ring.principal(good, "10.0.0.1") is not None
    remembered = dict(ring._known)
    ring._unknown = {number.to_bytes(32): 1e18 for number in range(REMEMBERED)}
    assert await ring.principal(BAD_KEY, "10.0.0.2") is None
    assert ring._known == remembered
    assert len(ring._unknown) == REMEMBERED
