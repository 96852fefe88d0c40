"""Who judges and who rated, over HTTP: named, shown, refused and kept."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.web_site import opened, refused

PANEL = {
    "name": "panel-elimination",
    "bounded": True,
    "failure": 0.05,
}
MEMBERS = PANEL | {"name": "members-elimination", "in_flight": 8}
PSEUDONYM = (
    "rater must be a pseudonym of 1 to 64 printable ASCII characters without spaces, and no e-mail"
    " address: the audit trail is never changed, so nothing that names a person may get into it,"
    " got "
)


async def on_path(client: httpx.AsyncClient, **changes: Any) -> str:
    return f"/v1/campaigns/{await opened(client, **{'policy': PANEL, **changes})}"


async def test_a_round_opens_once_its_panel_is_named(client: httpx.AsyncClient) -> None:
    path = await on_path(client)
    waiting = await client.post(f"{path}/ask", json={"count": 3})
    assert waiting.json() == {
        "status": "wait",
        "outstanding": 0,
        "retry_after": 5.0,
        "reason": "the panel of round 0 is not named yet; any panel will do",
    }
    assert waiting.headers["retry-after"] == "5"
    before = (await client.get(path)).json()
    assert before["awaits_judges"] is True
    assert before["round"]["judged_by"] is None
    body = {"judges": {"b": 2}, "outsiders": 1, "standing": True}
    named = await client.post(f"{path}/judges", json=body, headers={"idempotency-key": "k"})
    assert named.status_code == 200
    after = named.json()
    assert after["awaits_judges"] is False
    assert after["round"]["judged_by"] == {"judges": {"a": 0, "b": 2}, "outsiders": 1}
    assert after["named_judges"] == {
        **{"judges": {"a": 0, "b": 2}, "outsiders": 1, "standing": True}
    }
    again = await client.post(f"{path}/judges", json=body, headers={"idempotency-key": "k"})
    assert again.json() == after
    assert (await client.post(f"{path}/judges", json=body)).json() == after
    other = await client.post(f"{path}/judges", json={"judges": {"a": 1}})
    assert refused(other, 409, "judges_settled") == (
        "the panel of round 0 is settled, since the round is open; name the next one with round = 1"
    )
    ahead = await client.post(f"{path}/judges", json={"judges": {"a": 1}, "round": 1})
    assert ahead.json()["named_judges"]["judges"] == {"a": 1, "b": 0}
    kinds = [one["kind"] for one in (await client.get(f"{path}/events")).json()["items"]]
    assert kinds == ["create", "judges", "judges"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "judges must be given"),
        ({"judges": {"c": 1}}, "judges must be of groups of the campaign, got ['c']"),
        ({"judges": {"a": -1}}, "judges.a must be greater than or equal to 0, got -1"),
        ({"judges": {"a": 1.5}}, "judges.a must be a valid integer"),
        ({"judges": {"a": 1}, "seats": 3}, "seats must be left out: there is no such member"),
        ({"judges": {"a": 1}, "round": 3}, "round must be left out, or the one to come (0), got 3"),
    ],
)
async def test_what_cannot_be_a_panel_is_refused(
    client: httpx.AsyncClient, body: dict[str, Any], said: str
) -> None:
    path = await on_path(client)
    answer = await client.post(f"{path}/judges", json=body)
    assert said in refused(answer, 422, "invalid")


# Who rated.


async def leased(client: httpx.AsyncClient) -> tuple[str, int]:
    path = await on_path(client, policy={"name": "explore-then-commit", "pulls_per_arm": 3})
    return path, (await client.post(f"{path}/ask", json={"count": 4})).json()["lease"]


async def test_raters_are_on_record_and_change_no_sum(client: httpx.AsyncClient) -> None:
    path, lease = await leased(client)
    answers = [
        {"slot": 0, "score": 0.5, "rater": "r-17", "rater_group": "b"},
        {"slot": 1, "score": 1},
        {"slot": 2, "score": 0.25, "rater_group": "a"},
    ]
    body = {"lease": lease, "answers": answers}
    headers = {"idempotency-key": "k"}
    for _ in range(2):
        told = await client.post(f"{path}/tell", json=body, headers=headers)
        assert told.json() == {"counted": 3, "late": 0, "duplicate": 0}
    answers[0]["rater"] = "r-18"
    other = await client.post(f"{path}/tell", json=body, headers=headers)
    refused(other, 409, "key_reused")
    line = {"lease": lease, "answers": [{"slot": 3, "score": 1, "rater": "x"}]}
    bulk = await client.post(f"{path}/tells", json=line)
    assert bulk.json()["counted"] == 1
    *_, first, second = (await client.get(f"{path}/events")).json()["items"]
    assert first["data"]["raters"] == ["r-17", None, None]
    assert first["data"]["rater_arms"] == [1, None, 0]
    assert second["data"]["raters"] == ["x"]
    now = (await client.get(path)).json()
    assert [one["answers"] for one in now["arms"]] == [2, 2]


@pytest.mark.parametrize(
    "rater", ["anna@example.org", "r" * 65, "Anna Example", "", "\u00e9", "r\n"]
)
async def test_what_may_name_a_person_is_no_pseudonym(
    client: httpx.AsyncClient, rater: str
) -> None:
    path, lease = await leased(client)
    answers = [{"slot": 0, "score": 0.5, "rater": rater}]
    for route in ("tell", "tells"):
        told = await client.post(f"{path}/{route}", json={"lease": lease, "answers": answers})
        detail = told.json()["detail"]
        assert detail.startswith(PSEUDONYM)
    kinds = [one["kind"] for one in (await client.get(f"{path}/events")).json()["items"]]
    assert "tell" not in kinds


async def test_a_rater_is_of_a_group_of_the_campaign_and_totals_have_none(
    client: httpx.AsyncClient,
) -> None:
    path, lease = await leased(client)
    strange = [{"slot": 0, "score": 0.5, "rater_group": "c"}]
    told = await client.post(f"{path}/tell", json={"lease": lease, "answers": strange})
    said = refused(told, 422, "invalid")
    assert said == "rater_group must be a group of the campaign, got 'c'"
    totals = [{"arm": "a", "scores": [{"score": 1, "count": 1}], "rater": "r"}]
    told = await client.post(f"{path}/tell", json={"lease": lease, "totals": totals})
    assert "rater must be left out" in refused(told, 422, "invalid")
