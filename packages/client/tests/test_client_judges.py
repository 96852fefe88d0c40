"""Who judges and who rated, from Python."""

from __future__ import annotations

import pytest

from affinity_bandits_client import Client, Lease, Rater, RequestRefused, Wait
from tests.support.clients import Service
from tests.support.declared import DECLARED

PANEL = {"name": "panel-elimination", "bounded": True}


@pytest.mark.slow
def test_a_client_names_judges_and_tells_who_rated(service: Service) -> None:
    with Client(service.url, service.key()) as client:
        committee = {"a": 3, "b": 1}
        made = client.create_campaign(
            "seats",
            ["a", "b"],
            PANEL,
            horizon=99,
            committee=committee,
            declaration=DECLARED.to_json(),
        )
        assert made.committee == committee
        assert made.awaits_judges
        wait = client.ask(made)
        assert isinstance(wait, Wait)
        assert wait.reason is not None
        open_ = client.name_judges(made, {"a": 1}, outsiders=2, round=0)
        assert open_.round.judged_by is not None
        assert open_.round.judged_by.judges == {"a": 1, "b": 0}
        assert open_.round.judged_by.outsiders == 2
        lease = client.ask(made, 4)
        assert isinstance(lease, Lease)
        one, other = Rater("r1", "a"), Rater(group="b")
        client.tell(lease, {0: 1}, raters=one)
        client.tell(lease, {1: 1, 2: 0}, raters={2: other, 1: one})
        client.tell(lease, {3: 1}, raters=[Rater("r2")])
        told = [event.data for event in client.events(made) if event.kind == "tell"]
        assert [data["raters"] for data in told] == [["r1"], ["r1", None], ["r2"]]
        assert [data["rater_arms"] for data in told] == [[0], [0, 1], [None]]
        with pytest.raises(RequestRefused, match="the panel of round 0 is settled"):
            client.name_judges(made, {"a": 2})
        named = client.name_judges(made.id, {"a": 5, "b": 6}, standing=True, round=1).named_judges
        assert named is not None
        assert named.standing
