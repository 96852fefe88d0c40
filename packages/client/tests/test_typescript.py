"""The TypeScript client against a real server: what it counts, bears and leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from affinity_bandits_client import Client, __version__
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.journal import Answer, Journal
from packages.client.tests.test_stream import until
from tests.support.clients import NOBODY, Service, new_campaign, running
from tests.support.declared import DECLARED
from tests.support.node import SOURCE, npm, typescript_client

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
UNIFORM = {"policy": {"name": "uniform"}, "horizon": 10_000}


@pytest.fixture(scope="module")
def built() -> Path:
    return typescript_client()


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A folder whose programs can import the client."""
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "affinity-bandits").symlink_to(built)
    (tmp_path / "node_modules" / "@types").symlink_to(built / "node_modules" / "@types")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


class NodeStream:
    """A stream in a Node.js process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def __call__(self, name: str, given: object = None) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([name, given]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline()).get("reply")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def stream(
    folder: Path, url: str, key: str, campaign: str, *lost: str, **options: object
) -> Iterator[NodeStream]:
    """Start a stream; one reply of each route that is named is lost."""
    given = {"url": url, "key": key, "campaign": campaign, "lost": lost, "options": options}
    script = folder / "stream.mjs"
    script.write_text((HERE / "stream.mjs").read_text())
    with subprocess.Popen(
        ["node", script, json.dumps(given)],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield NodeStream(process)
        finally:
            process.kill()


def answers(client: Client, campaign: str) -> int:
    return sum(arm.answers for arm in client.campaign(campaign).arms)


def test_a_stream_runs_a_campaign_to_its_decision(service: Service, folder: Path) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client)
        with stream(folder, service.url, key, campaign, fallback="a") as node:
            node("work", 300)
            node("close")
            stats = node("stats")
        assert stats["decided"] == stats["told"] == stats["sent"] == stats["counted"] >= 300
        assert not any(stats[name] for name in ("waiting", "ready", "dropped", "late", "duplicate"))
        found = client.campaign(campaign)
        assert (found.status, found.recommended) == ("decided", "b")
        assert answers(client, campaign) == stats["counted"]
    assert service.differences(campaign) == ()


def test_unused_slots_are_given_back(service: Service, folder: Path) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client)  # its first round has two slots
        with stream(folder, service.url, key, campaign) as node:
            assert node("wait")
            until(lambda: node("stats")["ready"] == 2)
            assert client.ask(campaign).status == "wait"  # the control: they are leased until then
            node("decide", 1)
            node("close")
            assert node("stats")["ready"] == 0
        assert answers(client, campaign) == 1
        assert client.ask(campaign).status == "leased"


def test_lost_replies_lose_and_double_nothing(service: Service, folder: Path) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client)  # another lease would find nothing in its first round
        lost = ("/ask", "/tells", "/tells")
        with stream(folder, service.url, key, campaign, *lost) as node:
            until(lambda: node("stats")["ready"] == 2)
            assert node("decide", 2) == 0
            until(lambda: node("stats")["sent"] == 2)
            assert (node("stats")["counted"], node("stats")["duplicate"]) == (2, 0)
            assert node("wait")
            node("decide", 3)
            assert node.process.stdin is not None
            node.process.stdin.close()
            assert node.process.wait(30) == 0  # it ends by itself, and not before all is sent
        assert answers(client, campaign) == 5


def test_a_fallback_is_marked_and_never_counts(service: Service, folder: Path) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client)
        client.stop(campaign)
    with stream(folder, service.url, key, campaign, fallback="b") as node:
        until(lambda: node("stats").get("ended") == "stopped")
        assert node("decide", 3) == 3
        assert (node("stats")["fallback"], node("stats")["told"]) == (3, 0)
    with stream(folder, service.url, NOBODY, campaign, fallback="b") as node:
        until(lambda: "problem" in node("stats"))
        assert "HTTP 401" in node("stats")["problem"]
        assert node("decide", 1) == 1


def test_a_refusal_is_said_at_once_and_warned_of_once(service: Service, folder: Path) -> None:
    tenant = uuid4().hex
    with Client(service.url, everything := service.key(tenant=tenant)) as client:
        campaign = new_campaign(client)
    for key, which, said in (
        (service.key("ask", "tell", tenant=tenant), campaign, "scopes ask, tell and read"),
        (NOBODY, campaign, "check the API key"),
        (everything, str(UUID(int=7)), "check the id"),
    ):
        with stream(folder, service.url, key, which, fallback="a") as node:
            assert not node("wait")
            assert node("decide", 3) == 3
            stats = node("stats")
        assert said in stats["problem"]
        assert stats["warned"] == [f"stream of campaign {which}: {stats['problem']}"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with stream(folder, f"http://127.0.0.1:{port}", everything, campaign, fallback="a") as node:
        until(lambda: "ECONNREFUSED" in node("stats").get("problem", ""))


def test_answers_that_the_key_may_not_give_are_kept_for_one_that_may(
    service: Service, folder: Path
) -> None:
    tenant = uuid4().hex
    keys = [service.key(tenant=tenant), service.key(tenant=tenant)]
    with Client(service.url, keys[0]) as client:
        campaign = new_campaign(client, **UNIFORM)
        lease = client.ask(campaign, 5)
        journal = Journal(folder / "answers", campaign)
        for slot in lease.slots:
            journal.append(Answer(lease.number, slot.slot, 1.0))
        journal.close()
        for _ in range(2):
            with stream(folder, service.url, keys[1], campaign, journal="answers") as node:
                until(lambda n=node: "another API key" in n("stats").get("problem", ""))
                node("work", 1)
                node("close")
                stats = node("stats")
            found = [stats[name] for name in ("told", "sent", "counted", "dropped", "waiting")]
            assert (found, len(stats["warned"])) == ([6, 1, 1, 0, 5], 1)
        with client.stream(campaign, journal=folder / "answers") as ours:  # a journal of Node.js
            until(lambda: ours.stats().counted == 5)
    assert not [*folder.glob("answers*")]


def test_a_python_stream_sends_a_batch_of_node_again_and_it_counts_once(
    service: Service, folder: Path
) -> None:
    with Client(service.url, key := service.key()) as client:
        campaign = new_campaign(client, **UNIFORM)
        given = ("/tells",)  # the first reply is lost
        with stream(folder, service.url, key, campaign, *given, journal="j") as node:
            assert node("wait")
            assert node("decide", 20) == 0
            until(lambda: node("stats")["ready"] >= 20)
            assert node("decide", 20) == 0
            until(lambda: "the reply was lost" in node("stats").get("problem", ""))
            node.kill()
        sent = Journal(folder / "j", campaign)
        batch, _ = sent.recovered()
        assert batch is not None
        assert len({answer.lease for answer in batch.answers}) >= 2
        sent.close()
        with client.stream(campaign, journal=folder / "j") as ours:
            until(lambda: ours.stats().waiting == 0)
        # Had both clients the same keys for different lines, some would be refused.
        assert (ours.stats().duplicate, ours.stats().dropped) == (40, 0)
        assert answers(client, campaign) == 40


def test_the_lock_of_a_python_stream_is_respected(service: Service, folder: Path) -> None:
    key = service.key()
    (folder / "locked.mjs").write_text(
        'import assert from "node:assert/strict";\nimport { connect } from "affinity-bandits";\n'
        "const { AFFINITY_URL, AFFINITY_KEY, CAMPAIGN } = process.env;\n"
        "const service = connect(AFFINITY_URL, AFFINITY_KEY);\n"
        'assert.throws(() => service.stream(CAMPAIGN, { journal: "j" }), /no other stream/);\n'
    )
    with Client(service.url, key) as client:
        campaign = new_campaign(client, **UNIFORM)
        with client.stream(campaign, journal=folder / "j"):
            run(folder, ["node", "locked.mjs"], service.url, key, campaign)


def test_a_python_stream_respects_the_lock(service: Service, folder: Path) -> None:
    with Client(service.url, key := service.key()) as client:
        campaign = new_campaign(client, **UNIFORM)
        with stream(folder, service.url, key, campaign, journal="j") as node:
            assert node("wait")
            with pytest.raises(InvalidInput, match="no other stream has open"):
                client.stream(campaign, journal=folder / "j")
            node("decide", 5)
            node.kill()
        with client.stream(campaign, journal=folder / "j"):  # the lock of a process that has ended
            pass
        assert answers(client, campaign) == 5


def test_decisions_go_on_while_the_service_is_away(dsn: str, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as node_runs:
        with running(dsn, port) as service, Client(service.url, key := service.key()) as client:
            campaign = new_campaign(client, **UNIFORM)
            given = stream(folder, service.url, key, campaign, fallback="a")
            node = node_runs.enter_context(given)
            assert node("wait")
        ready = node("stats")["ready"]
        assert node("decide", ready + 10) == 10
        stats = node("stats")
        assert (stats["fallback"], stats["waiting"], stats["counted"]) == (10, ready, 0)
        with running(dsn, port) as service, Client(service.url, key) as client:
            until(lambda: node("stats")["counted"] == ready)
            assert node("wait")
            node("close")
            assert node("stats")["told"] == answers(client, campaign) == ready


@pytest.mark.parametrize("journal", ["answers", None])
def test_what_a_killed_process_told_is_sent_by_the_next(
    dsn: str, folder: Path, journal: str | None
) -> None:
    options = {"fallback": "a"} | ({} if journal is None else {"journal": journal})
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as node_runs:
        with running(dsn, port) as service, Client(service.url, key := service.key()) as client:
            campaign = new_campaign(client, **UNIFORM)
            first = node_runs.enter_context(stream(folder, service.url, key, campaign, **options))
            first("work", 20)
            until(lambda: first("stats")["counted"] == 20)
        ready = first("stats")["ready"]
        assert first("decide", ready) == 0
        first.kill()  # nobody has heard of these answers
        with running(dsn, port) as service, Client(service.url, key) as client:
            for _ in range(2):  # the second finds nothing left to send
                with stream(folder, service.url, key, campaign, **options) as node:
                    assert node("wait")
                    node("close")
                    assert node("stats")["waiting"] == 0
            expected = 20 if journal is None else 20 + ready
            assert answers(client, campaign) == expected
    assert not [*folder.glob("answers*"), *folder.glob(".answers*")]


def test_killed_at_any_moment_each_accepted_answer_counts_once(
    service: Service, folder: Path
) -> None:
    key = service.key()
    accepted = 0
    with Client(service.url, key) as client:
        campaign = new_campaign(client, **UNIFORM)
        for pause in (0.0, 0.5, 0.95, 1.0, 1.05):  # answers are sent after a second
            with stream(folder, service.url, key, campaign, journal="answers") as node:
                assert node("wait")
                node("work", 50)
                accepted += 50
                time.sleep(pause)
                node.kill()
        with stream(folder, service.url, key, campaign, journal="answers") as node:
            node("close")
            assert node("stats")["waiting"] == 0
        assert answers(client, campaign) == accepted
    assert service.differences(campaign) == ()


def test_wrong_arguments_and_answers_are_named(service: Service, folder: Path) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client, **UNIFORM)
    (folder / "wrong.mjs").write_text((HERE / "wrong.mjs").read_text())
    run(folder, ["node", "wrong.mjs"], service.url, key, campaign)


def test_the_example_of_the_readme_does_what_it_says(
    service: Service, built: Path, folder: Path
) -> None:
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```typescript\n(.*?)```", text, flags=re.DOTALL)
    (folder / "example.ts").write_text(example)
    key = service.key()
    with Client(service.url, key) as client:
        sources = ["referrals", "open call"]
        campaign = client.create_campaign(
            "sources", sources, "uniform", horizon=1000, declaration=DECLARED.to_json()
        ).id
    settings = ["--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck"]
    for command in (
        [str(built / "node_modules" / ".bin" / "tsc"), *settings, "--types", "node", "example.ts"],
        ["node", "example.js"],
    ):
        printed = run(folder, command, service.url, key, campaign)
    assert f"prints `{printed.split()[0]}` and `{printed.split()[1]}`" in text


def run(folder: Path, command: list[str], url: str, key: str, campaign: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"AFFINITY_URL": url, "AFFINITY_KEY": key, "CAMPAIGN": campaign},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


BLOCKS = """
import { connect } from "affinity-bandits";

const { AFFINITY_URL = "", AFFINITY_KEY = "", CAMPAIGN = "" } = process.env;
const service = connect(AFFINITY_URL, AFFINITY_KEY);
const params = { path: { campaign: CAMPAIGN }, header: { "Idempotency-Key": "one" } };
for (let tries = 0; tries < 2; tries++) {
  const given = await service.POST("/v1/campaigns/{campaign}/ask-block", {
    params,
    body: { rater_group: "c", rater: "r1" },
  });
  if (given.data?.status !== "given") throw new Error(JSON.stringify(given.error));
  const scores = given.data.groups.map((group) => (group === "b" ? 1 : 0));
  const told = await service.POST("/v1/campaigns/{campaign}/tell-block", {
    params: { path: { campaign: CAMPAIGN }, header: { "Idempotency-Key": "two" } },
    body: { lease: given.data.lease, scores },
  });
  console.log(given.data.lease, told.data?.counted);
}
const stream = service.stream(CAMPAIGN, { warn: () => {} });
console.log(await stream.wait(5), stream.problem?.includes("with ask-block and tell its scores"));
await stream.close();
"""


def test_blocks_are_given_and_told(service: Service, folder: Path) -> None:
    key = service.key()
    (folder / "blocks.mts").write_text(BLOCKS)
    tsc = [str(folder / "node_modules/affinity-bandits/node_modules/.bin/tsc"), "--strict"]
    options = ["--skipLibCheck", "--target", "es2022", "--module", "nodenext", "blocks.mts"]
    with Client(service.url, key) as client:
        made = client.create_campaign(
            "blocks",
            ["a", "b", "c"],
            "neutral-elimination",
            horizon=1000,
            declaration=DECLARED.to_json(),
        )
        run(folder, [*tsc, *options], service.url, key, made.id)
        printed = run(folder, ["node", "blocks.mjs"], service.url, key, made.id)
        assert printed.splitlines() == ["2 2", "2 2", "false true"]
        assert client.campaign(made).round.answered == 2
    assert service.differences(made.id) == ()


def test_the_types_are_those_of_the_service(
    service: Service, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFFINITY_URL", service.url)
    done = npm(built, "run", "generate")
    assert done.returncode == 0, done.stderr
    made, committed = (folder / "src" / "schema.ts" for folder in (built, SOURCE))
    assert made.read_text() == committed.read_text(), f"commit {made} as {committed}"


def test_the_package_has_compiled_code_with_types(built: Path) -> None:
    with tarfile.open(built / f"affinity-bandits-{__version__}.tgz") as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
    modules = [path.stem for path in SOURCE.glob("src/*.ts")]
    compiled = {f"dist/{one}.{kind}" for one in modules for kind in ("js", "d.ts")}
    assert names == {"package.json", "README.md", "LICENSE"} | compiled
    assert "resolved" not in (SOURCE / "package-lock.json").read_text()  # of some registry
    assert (SOURCE / "LICENSE").read_text() == (SOURCE.parents[1] / "LICENSE").read_text()
