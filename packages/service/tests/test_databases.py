"""Several databases behind one service, on PostgreSQL servers of their own; one has a replica."""

from __future__ import annotations

import asyncio
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from typer.testing import CliRunner

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_service.cli import app
from affinity_bandits_service.databases import Database, read_databases
from checks.soak.service.postgres import Cluster, free_port
from tests.support.served import Server, served, until
from tests.support.web_site import CAMPAIGN, TELL, refused

SCOPES = "ask,tell,read,admin"
UNKNOWN, UNSEEN = (f"ab_{one * 16}_{one * 64}" for one in "01")


@dataclass(frozen=True)
class Servers:
    """Two primaries, a standby of the first, and the file that names them."""

    europe: Cluster
    asia: Cluster
    standby: Cluster
    file: str
    keys: dict[str, str]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    chance = random.Random()
    scratch = Path(tempfile.mkdtemp(prefix="databases-", dir="/tmp"))
    scratch.chmod(0o711)  # the server's account has to pass through
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)

        def started(made: Cluster) -> Cluster:
            stack.callback(made.stop)
            made.start()
            return made

        quick = {"fsync": "off"}
        europe = started(Cluster(scratch / "europe", free_port(chance), quick))
        asia = started(Cluster(scratch / "asia", free_port(chance), quick))
        file = scratch / "databases.toml"
        standby = started(europe.copy(scratch / "standby", free_port(chance)))
        file.write_text(
            f'[europe]\ndsn = "{europe.dsn}"\nread_dsn = "{standby.dsn}"\n'
            f'[asia]\ndsn = "{asia.dsn}"\n'
        )
        said = command(file, "migrate")
        assert re.findall(r"version \d+ in (\w+)", said) == ["europe", "asia"]
        # The first tenant of each database: both have the same number there.
        about = ("--name", "k", "--scopes", SCOPES)
        keys = {
            name: command(file, "--database", name, "keys", "add", "--tenant", name, *about).strip()
            for name in ("europe", "asia")
        }
        yield Servers(europe, asia, standby, str(file), keys)


def command(file: Path, *arguments: str) -> str:
    given = ["--databases", str(file), *arguments]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def server(servers: Servers) -> Iterator[Server]:
    with served("postgresql://127.0.0.1:1/none", "--databases", servers.file) as made:
        until("ready", made.is_ready)
        yield made


@pytest.fixture
def client_of(server: Server, servers: Servers) -> Iterator[Callable[[str], httpx.Client]]:
    with ExitStack() as stack:

        def made(who: str) -> httpx.Client:
            key = {"authorization": f"Bearer {servers.keys.get(who, who)}"}
            return stack.enter_context(httpx.Client(base_url=server.url, headers=key, timeout=30))

        yield made


def look(cluster: Cluster, query: str) -> Any:
    async def run() -> Any:
        connection = await asyncpg.connect(cluster.dsn)
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return asyncio.run(run())


def opened(client: httpx.Client) -> str:
    made = client.post("/v1/campaigns", json=CAMPAIGN)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def played(client: httpx.Client, campaign: str) -> None:
    """Ask for a slot and tell its score."""
    asked = client.post(f"/v1/campaigns/{campaign}/ask", json={"count": 1})
    assert asked.status_code == 200, asked.text
    lease, (first, _) = asked.json()["lease"], asked.json()["runs"][0]
    told = client.post(f"/v1/campaigns/{campaign}/tell", content=TELL % (lease, first, 1))
    assert told.json()["counted"] == 1


ClientOf = Callable[[str], httpx.Client]


@pytest.mark.slow
def test_tenants_are_in_their_database_and_only_there(
    servers: Servers, client_of: ClientOf
) -> None:
    europe, asia = client_of("europe"), client_of("asia")
    ours, theirs = opened(europe), opened(asia)
    for client, campaign, other in ((europe, ours, theirs), (asia, theirs, ours)):
        played(client, campaign)
        assert client.get(f"/v1/campaigns/{campaign}").status_code == 200
        refused(client.get(f"/v1/campaigns/{other}"), 404, "no_such_campaign")
        asked = client.post(f"/v1/campaigns/{other}/ask", json={"count": 1})
        refused(asked, 404, "no_such_campaign")
    for cluster, mine, other in ((servers.europe, ours, theirs), (servers.asia, theirs, ours)):
        query = "SELECT count(*) FROM affinity.events WHERE campaign = '{}'"
        assert look(cluster, query.format(mine)) == 3
        assert look(cluster, query.format(other)) == 0
        assert look(cluster, "SELECT count(*) FROM affinity.tenants") == 1
    refused(client_of(UNKNOWN).get("/v1/campaigns"), 401, "no_key")


@pytest.mark.slow
def test_a_database_that_is_away_stops_its_tenants_alone(
    servers: Servers, server: Server, client_of: ClientOf
) -> None:
    europe, asia = client_of("europe"), client_of("asia")
    ours, theirs = opened(europe), opened(asia)
    servers.asia.crash()
    try:
        until("seen", lambda: 'database_up{database="asia"} 0.0' in server.probe("/metrics").text)
        for _ in range(20):
            played(europe, ours)
        asked = asia.post(f"/v1/campaigns/{theirs}/ask", json={"count": 1})
        refused(asked, 503, "unavailable")
        # It may be a key of the database that is away.
        refused(client_of(UNSEEN).get("/v1/campaigns"), 503, "unavailable")
        ready = server.probe()
        assert (ready.status_code, list(ready.json()["away"])) == (200, ["asia"])
        assert 'database_up{database="europe"} 1.0' in server.probe("/metrics").text
        # A process that starts now serves the others, and knows no key yet.
        with served("", "--databases", servers.file) as another:
            until("ready", another.is_ready)
            key = {"authorization": f"Bearer {servers.keys['europe']}"}
            assert httpx.get(f"{another.url}/v1/campaigns", headers=key).status_code == 200
    finally:
        servers.asia.start()
    until("back", lambda: "away" not in server.probe().json())
    played(asia, theirs)


@pytest.mark.slow
def test_pages_and_lists_are_read_from_the_replica(
    servers: Servers, server: Server, client_of: ClientOf
) -> None:
    europe, asia = client_of("europe"), client_of("asia")

    def listed(client: httpx.Client, path: str, campaign: str) -> bool:
        found = client.get(path)
        assert found.status_code == 200, found.text
        return campaign in found.text

    with httpx.Client(base_url=server.url) as browser:
        entered = browser.post("/ui/login", data={"key": servers.keys["europe"]})
        # By hand: the cookie is for TLS, or for a browser on its own machine.
        browser.headers["cookie"] = entered.headers["set-cookie"].partition(";")[0]
        look(servers.standby, "SELECT pg_wal_replay_pause()")
        try:
            campaign = opened(europe)
            played(europe, campaign)  # what decides goes to the primary
            assert europe.get(f"/v1/campaigns/{campaign}").status_code == 200
            assert not listed(europe, "/v1/campaigns", campaign)
            refused(europe.get(f"/v1/campaigns/{campaign}/events"), 404, "no_such_campaign")
            assert not listed(browser, "/ui", campaign)
            control = opened(asia)  # has no replica
            assert listed(asia, "/v1/campaigns", control)
        finally:
            look(servers.standby, "SELECT pg_wal_replay_resume()")
        until("there", lambda: listed(europe, "/v1/campaigns", campaign))
        assert listed(browser, "/ui", campaign)
        assert len(europe.get(f"/v1/campaigns/{campaign}/events").json()["items"]) == 3
    out = Path(servers.file).parent / "trail.csv"
    command(Path(servers.file), "--database", "europe", "export", campaign, "--out", str(out))
    assert len(out.read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_service_of_one_database_knows_no_key_of_another(servers: Servers) -> None:
    with served(servers.europe.dsn) as one:
        until("ready", one.is_ready)
        for name, status in (("europe", 200), ("asia", 401)):
            key = {"authorization": f"Bearer {servers.keys[name]}"}
            assert httpx.get(f"{one.url}/v1/campaigns", headers=key).status_code == status


def test_a_command_for_one_database_needs_its_name(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    file.write_text('[one]\ndsn = "postgresql://a"\n[two]\ndsn = "postgresql://b"\n')
    with pytest.raises(InvalidInput, match=r"--database must be one of one, two"):
        command(file, "removals")
    with pytest.raises(InvalidInput, match=r"--database must be one of one, two, got 'three'"):
        command(file, "--database", "three", "removals")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "one or more databases"),
        ('europe = "postgresql://u:secret@h/d"', r"a table like \[europe\]"),
        ("[europe]\nport = 1", "did you mean|one of dsn, read_dsn"),
        ("[europe]\ndsn = 5", 'dsn = "..."'),
        ('["a b"]\ndsn = "postgresql://u:secret@h/d"', "a table like"),
        ("[europe", "a TOML file"),
    ],
)
def test_a_mistake_in_the_file_is_named(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises(InvalidInput, match=words) as found:
        read_databases(tmp_path / "d.toml")
    assert "secret" not in str(found.value)


def test_a_database_shows_no_password() -> None:
    assert repr(Database("postgresql://u:secret@h/d")) == "Database()"
