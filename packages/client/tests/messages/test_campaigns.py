"""Messages about campaigns: plans of every scale, and panels that can be none."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
import tomli_w

from affinity_bandits_client import (
    Client,
    RequestRefused,
)
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.messages.campaigns import PLAN_FORMAT
from tests.support.clients import (
    NOBODY,
    RANGES,
    Service,
    planned,
)
from tests.support.declared import DECLARED


@pytest.mark.parametrize(("lowest", "highest"), RANGES)
def test_plans_of_every_scale_make_campaigns(
    service: Service, lowest: float, highest: float
) -> None:
    says, key = planned(lowest, highest), service.key()
    assumed = {word: says[word] for word in ("groups", "lowest", "highest")}
    file = {
        "plan": {"format": PLAN_FORMAT},
        "assumptions": assumed | {"noise": "bounded"},
        "run": {"horizon": says["horizon"], "policies": {"plan": says["policy"]}},
        "declaration": DECLARED.to_json(),
        "end": {"whole": True},
    }
    with Client(service.url, key) as client:
        made = client.create_campaign("planned", ["a", "b"], plan=tomli_w.dumps(file))
        assert (made.lowest, made.highest) == (lowest, highest)
        again = client.create_campaign(
            "planned",
            ["a", "b"],
            plan=tomli_w.dumps(file),
            lowest=lowest,
            highest=highest,
        )
        assert (again.lowest, again.highest) == (lowest, highest)
        with pytest.raises(RequestRefused, match="highest must be left out, or as the plan has it"):
            client.create_campaign(
                "planned",
                ["a", "b"],
                plan=tomli_w.dumps(file),
                highest=7,
            )
    # As curl sends it.
    body = {"name": "planned", "arms": ["a", "b"], "plan": says, "declaration": DECLARED.to_json()}
    headers = {"authorization": f"Bearer {key}"}
    sent = httpx2.post(f"{service.url}/v1/campaigns", json=body, headers=headers)
    assert sent.status_code == 201, sent.text
    assert (sent.json()["lowest"], sent.json()["highest"]) == (lowest, highest)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"judges": ["a"]}, "judges must be numbers by the names of groups"),
        ({"judges": {"a": -1}}, "judges\\['a'\\] must be a whole number from 0"),
        ({"judges": {"a": 1}, "outsiders": 0.5}, "outsiders must be a whole number from 0"),
        ({"judges": {"a": 1}, "round": -1}, "round must be a whole number from 0"),
    ],
)
def test_what_cannot_be_a_panel_is_not_sent(given: dict[str, Any], said: str) -> None:
    with Client("http://h", NOBODY) as client, pytest.raises(InvalidInput, match=said):
        client.name_judges("00000000-0000-0000-0000-000000000001", **given)
