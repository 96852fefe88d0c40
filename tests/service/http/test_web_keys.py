"""Keys made, listed and revoked over HTTP: within a tenant, never more than the maker has."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from affinity_bandits.service.core import keys
from affinity_bandits.wire.base import API_KEY, SCOPES
from tests.support.web_site import Site, new_names, opened, refused

SOON = datetime.now(UTC) + timedelta(days=1)


@pytest.mark.site(key_cache_ttl=60.0)  # the process that revokes a key forgets it
async def test_a_key_is_made_shown_once_used_listed_and_revoked(at: Site) -> None:
    tenant = next(new_names)
    maker = await at.key(tenant)
    async with at.client(maker) as client:
        sent = {"name": "shop", "scopes": ["tell", "ask"], "requests_per_second": 5}
        made = await client.post("/v1/keys", json=sent)
        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        about = made.json()
        text = about.pop("key")
        found = API_KEY.fullmatch(text)
        assert found is not None
        assert found[1] == about["id"]
        assert about["made_by"] == maker.split("_")[1]
        assert (about["scopes"], about["requests_per_second"]) == (["ask", "tell"], 5)
        listed = await client.get("/v1/keys")
        assert listed.json()["items"][-1] == about
        assert found[2] not in listed.text
        campaign = await opened(client)
        async with at.client(text) as shop:
            asked = await shop.post(f"/v1/campaigns/{campaign}/ask", json={})
            assert asked.status_code == 200
            refused(await shop.get("/v1/keys"), 403, "not_allowed")
            gone = await client.post(f"/v1/keys/{about['id']}/revoke")
            assert gone.json() == {"revoked": [about["id"]]}
            refused(await shop.post(f"/v1/campaigns/{campaign}/ask", json={}), 401, "no_key")
        again = await client.post(f"/v1/keys/{about['id']}/revoke")
        assert about["id"] in refused(again, 404, "no_such_key")
        assert (await client.get("/v1/keys")).json()["items"][-1]["revoked_at"] is not None


LIMITED = {
    "scopes": ["keys", "ask"],
    "requests_per_second": 10,
    "largest_body": 4096,
    "expires_at": SOON,
}
AT_MOST = {"name": "n", "scopes": ["ask"]}


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        ({"scopes": ["ask", "read"]}, "scopes"),
        ({"scopes": ["admin"]}, "scopes"),
        ({"requests_per_second": 10.001}, "requests_per_second"),
        ({"largest_body": 4097}, "largest_body"),
        ({"expires_at": (SOON + timedelta(seconds=1)).isoformat()}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59Z"}, "expires_at"),
    ],
)
async def test_no_key_gives_more_than_it_has(
    at: Site, more: dict[str, Any], parameter: str
) -> None:
    async with at.client(await at.key(**LIMITED)) as client:
        words = refused(await client.post("/v1/keys", json=AT_MOST | more), 403, "gives_too_much")
        assert words.startswith(f"{parameter} must be")
        assert len((await client.get("/v1/keys")).json()["items"]) == 1


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ("0001-01-01T00:00:00+14:00", 422),
        ("1970-01-01T00:00:00+00:01", 422),
        ("1970-01-01T00:00:00Z", 201),
        ("9999-12-31T23:59:59Z", 201),
        ("9999-12-31T23:59:59-00:01", 422),
        ("9999-12-31T23:59:59.999999Z", 422),
        ("9999-12-31T23:59:59.999999-14:00", 422),
    ],
)
async def test_a_key_ends_within_the_calendar(
    client: httpx.AsyncClient, ends: str, status: int
) -> None:
    answer = await client.post("/v1/keys", json=AT_MOST | {"expires_at": ends})
    if status == 422:
        rule = "expires_at must be from 1970-01-01T00:00:00+00:00 to 9999-12-31T23:59:59+00:00"
        assert refused(answer, 422, "invalid").startswith(f"{rule}, got {ends[:19]}")
    else:
        assert answer.status_code == 201
        found = datetime.fromisoformat(answer.json()["expires_at"])
        assert found == datetime.fromisoformat(ends)
    assert (await client.get("/v1/keys")).status_code == 200


async def test_no_key_of_another_tenant_is_seen_or_reached(at: Site) -> None:
    other = await at.key()
    async with at.client(await at.key()) as client:
        (own,) = (await client.get("/v1/keys")).json()["items"]
        assert own["id"] != other.split("_")[1]
        for id_ in (other.split("_")[1], "0" * 16):
            refused(await client.post(f"/v1/keys/{id_}/revoke?made=true"), 404, "no_such_key")
        for id_ in (other, "%00", "x"):
            answer = await client.post(f"/v1/keys/{id_}/revoke")
            assert other[20:] not in refused(answer, 422, "invalid")
    async with at.client(other) as client:
        assert (await client.get("/v1/campaigns")).status_code == 200


async def made_by(at: Site, text: str) -> str:
    """Return a key that this one makes, and that may make others."""
    async with at.client(text) as client:
        made = await client.post("/v1/keys", json={"name": "thief's", "scopes": list(SCOPES)})
        return str(made.json()["key"])


@pytest.mark.site(key_cache_ttl=-1.0)
async def test_a_leaked_key_goes_with_all_that_it_made(at: Site) -> None:
    tenant = next(new_names)
    owner, leaked = await at.key(tenant), await at.key(tenant)
    made = [leaked]
    for _ in range(3):  # each makes the next
        made.append(await made_by(at, made[-1]))
    async with at.client(owner) as client:
        done = await client.post(f"/v1/keys/{leaked.split('_')[1]}/revoke?made=true")
        assert done.json()["revoked"] == [text.split("_")[1] for text in made]
    for text in made:
        async with at.client(text) as client:
            refused(await client.get("/v1/keys"), 401, "no_key")


@pytest.mark.site(key_cache_ttl=60.0)
async def test_a_process_that_still_remembers_a_revoked_key_makes_none_by_it(at: Site) -> None:
    leaked = await at.key()
    async with at.client(leaked) as client:
        assert (await client.get("/v1/keys")).status_code == 200
        await keys.revoke_key(at.pool, leaked.split("_")[1], "test")
        assert (await client.get("/v1/keys")).status_code == 200  # remembered
        sent = {"name": "thief's", "scopes": ["ask"]}
        refused(await client.post("/v1/keys", json=sent), 401, "no_key")


@pytest.mark.site(key_cache_ttl=60.0)
async def test_a_key_made_while_its_maker_is_revoked_is_revoked_or_never_made(at: Site) -> None:
    tenant = next(new_names)
    owner, leaked = await at.key(tenant), await at.key(tenant)
    async with at.client(leaked) as thief, at.client(owner) as client:
        assert (await thief.get("/v1/keys")).status_code == 200
        sent = {"name": "thief's", "scopes": ["ask"]}
        # Both wait for the same row: whoever is first, no key of the thief's is left.
        tries = [thief.post("/v1/keys", json=sent) for _ in range(10)]
        revoke = client.post(f"/v1/keys/{leaked.split('_')[1]}/revoke?made=true")
        *made, revoked = await asyncio.gather(*tries, revoke)
        assert {one.status_code for one in made} <= {201, 401}
        assert revoked.status_code == 200
        kept = (await client.get("/v1/keys")).json()["items"]
        assert [one["name"] for one in kept if one["revoked_at"] is None] == ["test"]


@pytest.mark.site(key_cache_ttl=-1.0)
async def test_a_key_that_was_made_revokes_itself_and_what_it_made_and_no_other(at: Site) -> None:
    tenant = next(new_names)
    maker, second = await at.key(tenant), await at.key(tenant)
    async with at.client(maker) as client:
        sent = {"name": "child", "scopes": ["keys"]}
        child, sibling = [(await client.post("/v1/keys", json=sent)).json() for _ in range(2)]
    async with at.client(child["key"]) as client:
        own = (await client.post("/v1/keys", json=sent)).json()
        others = [maker.split("_")[1], second.split("_")[1], sibling["id"]]
        for id_ in others:
            for made in ("", "?made=true"):
                answer = await client.post(f"/v1/keys/{id_}/revoke{made}")
                assert id_ in refused(answer, 403, "not_maker")
        assert (await client.post(f"/v1/keys/{own['id']}/revoke")).status_code == 200
        done = await client.post(f"/v1/keys/{child['id']}/revoke?made=true")
        assert done.json() == {"revoked": [child["id"]]}
    async with at.client(maker) as client:
        listed = {one["id"]: one for one in (await client.get("/v1/keys")).json()["items"]}
        assert [listed[id_]["revoked_at"] for id_ in others] == [None] * 3
        by = [listed[one["id"]]["revoked_by"] for one in (own, child)]
        assert by == [child["id"]] * 2
    async with at.client(second) as client:  # one of the command's reaches the whole tenant
        for id_ in (sibling["id"], maker.split("_")[1]):
            assert (await client.post(f"/v1/keys/{id_}/revoke")).status_code == 200


async def test_there_is_an_end_to_keys_in_use(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "MOST_KEYS", 2)
    made = await client.post("/v1/keys", json=AT_MOST)
    refused(await client.post("/v1/keys", json=AT_MOST), 409, "too_many_keys")
    await client.post(f"/v1/keys/{made.json()['id']}/revoke")
    assert (await client.post("/v1/keys", json=AT_MOST)).status_code == 201
