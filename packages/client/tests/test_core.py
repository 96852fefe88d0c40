"""Requests as values: pages are gone through, and many tells are cut into parts."""

from __future__ import annotations

import json

import pytest

from affinity_bandits_client import (
    Client,
    InvalidInput,
    Lease,
    core,
)
from tests.support.clients import (
    Losing,
    Service,
    begun,
    new_campaign,
)


def test_every_page_is_gone_through(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "PAGE", 3)
    key = service.key()
    transport = Losing(0)
    with Client(service.url, key, transport=transport) as client:
        made = [new_campaign(client) for _ in range(7)]
        sent = len(transport.keys)
        assert [one.id for one in client.campaigns()] == made
        assert len(transport.keys) - sent == 3


def test_many_tells_are_cut_into_parts_and_answered_line_by_line(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(service.url, service.key()) as client:
        campaign = begun(client)
        leases = [client.ask(campaign) for _ in range(9)]
        tells = [(one, [0.5]) for one in leases if isinstance(one, Lease)]
        tells[2] = (tells[2][0], [7.0])
        together = list(core.tell_many(tells, key="bulk"))
        monkeypatch.setattr(core, "LARGEST_PART", len(together[0].content) // 4)
        parts = list(core.tell_many(tells, key="bulk"))
        assert len(together) == 1
        assert len(parts) > 3
        assert b"".join(part.content for part in parts) == together[0].content
        lines = client.tell_many(tells, key="bulk")
        assert [one.line for one in lines] == list(range(1, 10))
        assert [one.status for one in lines] == [200, 200, 422, *[200] * 6]
        assert (lines[2].told, lines[2].code) == (None, "score_out_of_range")
        assert sum(one.told.counted for one in lines if one.told) == 8
        monkeypatch.undo()
        # A line's key does not depend on the cut, so this counts nothing anew.
        assert client.tell_many(tells, key="bulk") == lines
    assert service.differences(campaign) == ()


PLANNED = """
[plan]
format = 1

[assumptions]
groups = 2
names = ["referrals", "agencies"]

[run]
horizon = 300
policies.plan = { name = "head-start-elimination" }

[declaration]
groups_are = "sources of candidates"
responsible = "head of recruiting"
purpose = "where to look next year"

[end]
whole = true
"""


@pytest.mark.parametrize(
    ("arms", "sent"), [(None, ["referrals", "agencies"]), (["a", "b"], ["a", "b"])]
)
def test_a_campaign_has_the_groups_of_its_plan_unless_told(
    arms: list[str] | None, sent: list[str]
) -> None:
    request = core.create_campaign("c", arms, plan=PLANNED)
    assert json.loads(request.content)["arms"] == sent


@pytest.mark.parametrize("plan", [None, PLANNED.replace("names", "others"), "groups = 2", "["])
def test_a_campaign_without_names_of_groups_is_refused(plan: str | None) -> None:
    with pytest.raises(InvalidInput, match=r"^(arms|plan) must be"):
        core.create_campaign("c", None, plan=plan)
