"""Keys made, listed and revoked over HTTP: within a tenant, never more than the maker has."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from affinity_bandits.service.core import key_administration, keys
from affinity_bandits.wire.limits import API_KEY, SCOPES
from tests.support.web_site import CAMPAIGN, TELL, Site, new_names, on_site, opened, refused, site

SOON = datetime.now(UTC) + timedelta(days=1)


def test_a_key_is_made_shown_once_used_listed_and_revoked(dsn: str) -> None:
    async def work(at: Site) -> None:
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

    on_site(dsn, work, key_cache_ttl=-1.0)


def test_a_key_cannot_tell_of_a_lease_of_another_unless_the_campaign_names_it(dsn: str) -> None:
    async def work(at: Site) -> None:
        tenant = next(new_names)
        asker, teller = await at.key(tenant), await at.key(tenant, ["tell"])
        async with at.client(asker) as mine, at.client(teller) as theirs:
            for named in ({}, {"tellers": [teller.split("_")[1]]}):
                campaign = await opened(mine, **named)
                asked = await mine.post(f"/v1/campaigns/{campaign}/ask", json={})
                sent = TELL % (asked.json()["lease"], 0, 1)
                told = await theirs.post(f"/v1/campaigns/{campaign}/tell", content=sent)
                many = await theirs.post(f"/v1/campaigns/{campaign}/tells", content=sent)
                if named:
                    assert told.json()["counted"] == 1
                    assert many.json()["duplicate"] == 1
                else:
                    refused(told, 403, "not_teller")
                    assert (many.json()["status"], many.json()["code"]) == (403, "not_teller")
            for wrong in ([], ["x"], "all", 1):
                answer = await mine.post("/v1/campaigns", json=CAMPAIGN | {"tellers": wrong})
                said = refused(answer, 422, "invalid")
                assert said.startswith("tellers must be 'any' or a list of 1 to "), said

    on_site(dsn, work)


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
def test_no_key_gives_more_than_it_has(dsn: str, more: dict[str, Any], parameter: str) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key(**LIMITED)) as client:
            words = refused(
                await client.post("/v1/keys", json=AT_MOST | more), 403, "gives_too_much"
            )
            assert words.startswith(f"{parameter} must be")
            assert len((await client.get("/v1/keys")).json()["items"]) == 1

    on_site(dsn, work)


def test_what_is_left_out_is_the_makers(dsn: str) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key(**LIMITED)) as client:
            made = (await client.post("/v1/keys", json=AT_MOST)).json()
        assert made["requests_per_second"] == 10
        assert made["largest_body"] == 4096
        assert datetime.fromisoformat(made["expires_at"]) == SOON

    on_site(dsn, work)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"name": "n"},
        {"name": "n", "scopes": []},
        {"name": "n", "scopes": ["root"]},
        {"name": "n\u0000", "scopes": ["ask"]},
        {"name": "n", "scopes": ["ask"], "tenant": "another"},
        {"name": "n", "scopes": ["ask"], "requests_per_second": 0},
        {"name": "n", "scopes": ["ask"], "largest_body": 1},
        {"name": "n", "scopes": ["ask"], "expires_at": "tomorrow"},
        {"name": "n", "scopes": ["ask"], "expires_at": None},
        {"name": "n", "scopes": ["ask"], "expires_at": "2030-01-01T00:00:00"},
    ],
)
def test_what_breaks_a_rule_is_refused(dsn: str, sent: dict[str, Any]) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            refused(await client.post("/v1/keys", json=sent), 422, "invalid")

    on_site(dsn, work)


def test_no_key_of_another_tenant_is_seen_or_reached(dsn: str) -> None:
    async def work(at: Site) -> None:
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

    on_site(dsn, work)


def test_pages_of_keys_have_each_once_and_no_session(dsn: str) -> None:
    async def work(at: Site) -> None:
        tenant = next(new_names)
        texts = [await at.key(tenant) for _ in range(5)]
        owner = await keys.create_tenant(at.pool, tenant)
        await keys.make_key(at.pool, owner, "s", ["read"], parent=texts[0].split("_")[1])
        seen, cursor = [], ""
        async with at.client(texts[0]) as client:
            while True:
                page = (await client.get(f"/v1/keys?limit=2{cursor}")).json()
                seen += [one["id"] for one in page["items"]]
                if page["next"] is None:
                    break
                cursor = f"&cursor={page['next']}"
        assert seen == [text.split("_")[1] for text in texts]

    on_site(dsn, work)


async def made_by(at: Site, text: str) -> str:
    """Return a key that this one makes, and that may make others."""
    async with at.client(text) as client:
        made = await client.post("/v1/keys", json={"name": "thief's", "scopes": list(SCOPES)})
        return str(made.json()["key"])


def test_a_leaked_key_goes_with_all_that_it_made(dsn: str) -> None:
    async def work(at: Site) -> None:
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

    on_site(dsn, work, key_cache_ttl=-1.0)


@pytest.mark.parametrize("before", [[0], [1], [0, 1], [2], [0, 1, 2, 3]])
def test_keys_that_are_revoked_already_hide_none_that_they_made(
    dsn: str, before: list[int]
) -> None:
    async def work(at: Site) -> None:
        tenant = next(new_names)
        owner, *made = await at.key(tenant), await at.key(tenant)
        for _ in range(3):  # each makes the next
            made.append(await made_by(at, made[-1]))
        ids = [text.split("_")[1] for text in made]
        async with at.client(owner) as client:
            for one in before:
                assert (await client.post(f"/v1/keys/{ids[one]}/revoke")).status_code == 200
            done = await client.post(f"/v1/keys/{ids[0]}/revoke?made=true")
            left = [id_ for one, id_ in enumerate(ids) if one not in before]
            assert done.json() == {"revoked": left}
            kept = (await client.get("/v1/keys")).json()["items"]
            assert [one["id"] for one in kept if one["revoked_at"] is None] == [owner.split("_")[1]]

    on_site(dsn, work)


def test_a_revoked_key_of_another_tenant_and_a_session_are_not_there(dsn: str) -> None:
    async def work(at: Site) -> None:
        tenant = next(new_names)
        owner, other = await at.key(tenant), await at.key()
        made = await made_by(at, other)
        parent = owner.split("_")[1]
        id_ = await keys.create_tenant(at.pool, tenant)
        session = await keys.make_key(at.pool, id_, "s", ["read"], parent=parent)
        await keys.revoke_key(at.pool, other.split("_")[1])
        async with at.client(owner) as client:
            for one in (other, session):
                answer = await client.post(f"/v1/keys/{one.split('_')[1]}/revoke?made=true")
                refused(answer, 404, "no_such_key")
        async with at.client(made) as client:
            assert (await client.get("/v1/keys")).status_code == 200

    on_site(dsn, work, key_cache_ttl=-1.0)


def test_a_process_that_still_remembers_a_revoked_key_makes_none_by_it(dsn: str) -> None:
    async def work(at: Site) -> None:
        leaked = await at.key()
        async with at.client(leaked) as client:
            assert (await client.get("/v1/keys")).status_code == 200
            await keys.revoke_key(at.pool, leaked.split("_")[1])
            assert (await client.get("/v1/keys")).status_code == 200  # remembered
            sent = {"name": "thief's", "scopes": ["ask"]}
            refused(await client.post("/v1/keys", json=sent), 401, "no_key")

    on_site(dsn, work, key_cache_ttl=60.0)


def test_a_key_made_while_its_maker_is_revoked_is_revoked_or_never_made(dsn: str) -> None:
    async def work(at: Site) -> None:
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

    on_site(dsn, work, key_cache_ttl=60.0)


def test_there_is_an_end_to_keys_in_use(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_administration, "MOST_KEYS", 2)

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            made = await client.post("/v1/keys", json=AT_MOST)
            refused(await client.post("/v1/keys", json=AT_MOST), 409, "too_many_keys")
            await client.post(f"/v1/keys/{made.json()['id']}/revoke")
            assert (await client.post("/v1/keys", json=AT_MOST)).status_code == 201

    on_site(dsn, work)


def test_keys_made_at_once_do_not_both_take_the_last_place(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_administration, "MOST_KEYS", 2)

    async def work(at: Site) -> None:
        text = await at.key()
        async with (
            site(dsn, quiet=True) as another,
            at.client(text) as client,
            another.client(text) as second,
        ):
            for _ in range(10):
                tries = [one.post("/v1/keys", json=AT_MOST) for one in (client, second) * 2]
                made = [one for one in await asyncio.gather(*tries) if one.status_code == 201]
                assert len(made) == 1
                await client.post(f"/v1/keys/{made[0].json()['id']}/revoke")

    on_site(dsn, work, quiet=True)
