"""Clients of the service that answer out of order, late, twice or never, and are killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import httpx

from checks.soak.service.cases import UNITS_PER_ONE, Case


class Journal:
    """An append-only file; a line has reached the kernel before `write` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if path.stat().st_size:
            # The previous writer may have been killed in the middle of a line.
            os.write(self._file, b"\n")

    def write(self, entry: dict[str, Any]) -> None:
        """Append an entry."""
        line = json.dumps(entry).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@dataclass
class Request:
    """A request as recorded in a journal.

    Attributes:
        key: its idempotency key.
        kind: "ask" or "tell".
        campaign: the campaign's place in the list.
        body: what was sent.
        answers: every status and response that came.
        given_up: whether the client will not repeat it.
    """

    key: str
    kind: str
    campaign: int
    body: dict[str, Any]
    answers: list[tuple[int, Any]]
    given_up: bool = False

    @property
    def unknown(self) -> bool:
        """Whether its client still has to find out its outcome."""
        return not self.answers and not self.given_up


def requests_in(path: Path) -> dict[str, Request]:
    """Return a journal's requests by key."""
    found: dict[str, Request] = {}
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # cut off by a SIGKILL
        key = entry["key"]
        if "kind" in entry:
            found.setdefault(key, Request(key, entry["kind"], entry["campaign"], entry["body"], []))
        elif "status" in entry:
            found[key].answers.append((entry["status"], entry["answer"]))
        else:
            found[key].given_up = True
    return found


TIMEOUT = 10.0
UNKNOWN = 503  # the status that leaves open whether a request was carried out


@dataclass(frozen=True)
class Setup:
    """The settings of all clients.

    Attributes:
        ports: of the service's processes.
        api_key: the key they all use.
        campaigns: the id of each, with what it is.
        pace: seconds between two requests of a client, on average.
        seed: of their chances.
        lease_seconds: how long they have to answer.
    """

    ports: list[int]
    api_key: str
    campaigns: list[tuple[str, Case]]
    pace: float
    seed: int
    lease_seconds: float

    def save(self, path: Path) -> None:
        """Write the settings where clients find them."""
        path.write_text(
            json.dumps({**vars(self), "campaigns": [(i, vars(case)) for i, case in self.campaigns]})
        )

    @classmethod
    def load(cls, path: Path) -> Setup:
        """Read what `save` wrote."""
        data = json.loads(path.read_text())
        data["campaigns"] = [(id_, Case(**case)) for id_, case in data["campaigns"]]
        return cls(**data)


@dataclass
class Planned:
    """A tell that is still to be sent, or to be sent again."""

    due: float
    campaign: int
    body: dict[str, Any]
    key: str = field(default_factory=lambda: uuid.uuid4().hex)


class Client:
    """One client; everything it knows is in its journal.

    Args:
        setup: what it is told.
        path: of its journal.
        chance: where its whims come from.
    """

    def __init__(self, setup: Setup, path: Path, chance: random.Random) -> None:
        self.setup = setup
        self.journal = Journal(path)
        self.over = False
        self._chance = chance
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {setup.api_key}"},
            timeout=TIMEOUT,
            trust_env=False,
            verify=False,  # plain HTTP, and loading certificates takes long
        )
        self._planned: list[Planned] = []
        self._resting: dict[int, float] = {}

    def run(self) -> None:
        """Ask and tell until `over` is set or the parent is gone."""
        parent = os.getppid()
        self._resume()
        while not self.over and os.getppid() == parent:
            time.sleep(self._chance.uniform(0.0, 2 * self.setup.pace))
            due = [one for one in self._planned if one.due <= time.time()]
            if due and (len(self._planned) > 20 or self._chance.random() < 0.75):
                self._tell(self._chance.choice(due))
            else:
                self._ask()

    def close(self) -> None:
        """Close the connections and the journal."""
        self._http.close()
        self.journal.close()

    def post(self, kind: str, campaign: int, key: str, body: dict[str, Any]) -> Any:
        """Send a request until a response comes or it is given up; return the content, or None."""
        self._intend(kind, campaign, key, body)
        while True:
            answer = self._send(campaign, kind, key, json=body)
            if answer is not None:
                good = answer.status_code == 200
                content = answer.json() if good else answer.text[:500]
                self._acknowledged(key, answer.status_code, content)
                return content if good else None
            if self._chance.random() < 0.1:
                self.journal.write({"key": key, "given_up": True})
                return None
            time.sleep(self._chance.uniform(0.05, 0.4))

    def status(self, campaign: int) -> str:
        """Return a campaign's status, from a server that is not disturbed."""
        path = f"/v1/campaigns/{self.setup.campaigns[campaign][0]}"
        answer = self._http.get(f"http://127.0.0.1:{self.setup.ports[0]}{path}")
        return str(answer.raise_for_status().json()["status"])

    def answers(self, campaign: int, lease: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the answers to all slots of a lease."""
        case = self.setup.campaigns[campaign][1]
        return [
            {"slot": slot, "score": case.score(lease["round"], slot, arm) / UNITS_PER_ONE}
            for slot, arm in slots_of(lease)
        ]

    def _resume(self) -> None:
        """Repeat requests of unknown outcome that a predecessor left, or give them up."""
        for request in requests_in(self.journal.path).values():
            if not request.unknown:
                continue
            if self._chance.random() < 0.3:
                self.journal.write({"key": request.key, "given_up": True})
                continue
            content = self.post(request.kind, request.campaign, request.key, request.body)
            if request.kind == "ask" and content and content["status"] == "leased":
                self._plan(request.campaign, content)

    def _ask(self) -> None:
        weights = [
            0.0 if self._resting.get(at, 0.0) > time.time() else case.weight
            for at, (_, case) in enumerate(self.setup.campaigns)
        ]
        if not any(weights):
            return
        campaign = self._chance.choices(range(len(weights)), weights)[0]
        body = {"count": self._chance.choice((1, 2, 3, 5, 10, 40))}
        key = uuid.uuid4().hex
        content = self.post("ask", campaign, key, body)
        if content is None:
            return
        if content["status"] == "leased":
            if self._chance.random() < 0.05:  # somebody between us repeats what had arrived
                self.post("ask", campaign, key, body)
            self._plan(campaign, content)
            rest = 1.0 if len(content["arms"]) == 1 else 0.0  # decided, most likely
        else:
            rest = min(1.0, content["retry_after"]) if content["status"] == "wait" else 1e9
        self._resting[campaign] = time.time() + rest

    def _plan(self, campaign: int, lease: dict[str, Any]) -> None:
        """Decide when, in what order and how often the slots of a lease are answered."""
        answers = self.answers(campaign, lease)
        number = lease["lease"]
        if self._chance.random() < 0.1:
            self._plan_one(campaign, {"lease": number, "totals": _totals(lease, answers)})
            return
        self._chance.shuffle(answers)
        while answers:
            size = self._chance.randint(1, len(answers))
            part, answers = answers[:size], answers[size:]
            if self._chance.random() > 0.04:  # else dropped
                self._plan_one(campaign, {"lease": number, "answers": part})

    def _plan_one(self, campaign: int, body: dict[str, Any]) -> None:
        lease = self.setup.lease_seconds
        longest = self._chance.choices((0.0, 0.3 * lease, 2 * lease), (5, 5, 1))[0]
        due = time.time() + self._chance.uniform(0.0, longest)
        self._planned.append(Planned(due, campaign, body))
        if self._chance.random() < 0.1:  # the same answers under another key
            self._planned.append(Planned(due + self._chance.uniform(0.0, lease), campaign, body))

    def _tell(self, one: Planned) -> None:
        self._planned.remove(one)
        if self._chance.random() < 0.1:
            now = time.time()
            others = [o for o in self._planned if o.campaign == one.campaign and o.due <= now]
            self._planned = [other for other in self._planned if other not in others]
            self._tell_at_once([one, *others])
            return
        content = self.post("tell", one.campaign, one.key, one.body)
        if content is not None and self._chance.random() < 0.1:  # the same request again
            one.due = time.time() + self._chance.uniform(0.0, self.setup.lease_seconds)
            self._planned.append(one)

    def _tell_at_once(self, tells: list[Planned]) -> None:
        """Send many tells as lines of one request; repeat those of unknown outcome one by one."""
        for one in tells:
            self._intend("tell", one.campaign, one.key, one.body)
        lines = "".join(json.dumps(one.body | {"key": one.key}) + "\n" for one in tells)
        answer = self._send(tells[0].campaign, "tells", None, content=lines)
        said = answer.text.splitlines() if answer is not None else []
        if answer is not None and answer.status_code != 200:
            for one in tells:
                self._acknowledged(one.key, answer.status_code, answer.text[:500])
            return
        for one, line in zip_longest(tells, said[: len(tells)]):
            outcome = {"status": UNKNOWN} if line is None else json.loads(line)
            if outcome["status"] == UNKNOWN:
                self.post("tell", one.campaign, one.key, one.body)
            elif outcome["status"] == 200:
                content = {name: outcome[name] for name in ("counted", "late", "duplicate")}
                self._acknowledged(one.key, 200, content)
            else:
                self._acknowledged(one.key, outcome["status"], line)

    def _intend(self, kind: str, campaign: int, key: str, body: dict[str, Any]) -> None:
        self.journal.write({"key": key, "kind": kind, "campaign": campaign, "body": body})

    def _acknowledged(self, key: str, status: int, content: Any) -> None:
        self.journal.write({"key": key, "status": status, "answer": content})

    def _send(
        self, campaign: int, what: str, key: str | None, **content: Any
    ) -> httpx.Response | None:
        """Return the response of either server, or None where the outcome is unknown."""
        port = self._chance.choice(self.setup.ports)
        path = f"/v1/campaigns/{self.setup.campaigns[campaign][0]}/{what}"
        headers = {} if key is None else {"Idempotency-Key": key}
        if "content" in content:
            headers["Content-Type"] = "application/x-ndjson"
        try:
            answer = self._http.post(f"http://127.0.0.1:{port}{path}", headers=headers, **content)
        except httpx.TransportError:
            return None
        return None if answer.status_code == UNKNOWN else answer


def slots_of(lease: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the slots of a lease with the numbers of their arms, from its runs."""
    arms = [int(name.rpartition("-")[2]) for name in lease["arms"]]
    return [
        (slot, arms[slot % len(arms)])
        for first, count in lease["runs"]
        for slot in range(first, first + count)
    ]


def _totals(lease: dict[str, Any], answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same answers as counts of scores for each arm."""
    found: dict[int, Counter[float]] = {}
    for (_, arm), answer in zip(slots_of(lease), answers, strict=True):
        found.setdefault(arm, Counter())[answer["score"]] += 1
    return [
        {
            "arm": f"arm-{arm}",
            "scores": [{"score": score, "count": count} for score, count in scores.items()],
        }
        for arm, scores in found.items()
    ]


PATIENCE = 60.0  # longest time in seconds that clients may take to finish what they are at
SECONDS_FOR_A_LEASE = 2.0  # longest wait for a client that is to be paused to get a lease


class Clients:
    """Clients that are forked from a process that has loaded what they need.

    Args:
        directory: with the setup, and for the journals.
        count: how many clients.
    """

    def __init__(self, directory: Path, count: int) -> None:
        self.errors = directory / "clients.err"
        self._directory = directory
        self._started = 0
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["httpx"])
        self._processes = [self._start(number) for number in range(count)]

    def kill(self, number: int) -> bool:
        """SIGKILL a client and start it again; return whether it died of the signal."""
        process = self._processes[number]
        process.kill()
        process.join()
        self._processes[number] = self._start(number)
        return process.exitcode == -signal.SIGKILL

    def pause(self, numbers: list[int]) -> int | None:
        """SIGSTOP the first of these clients that has a fresh lease; return which, if any."""
        until = time.monotonic() + SECONDS_FOR_A_LEASE
        while time.monotonic() < until:
            for number in numbers:
                journal = self._directory / journal_name(number)
                if journal.exists() and b'"leased"' in _last_line(journal):
                    self._signal(number, signal.SIGSTOP)
                    return number
            time.sleep(0.01)
        return None

    def wake(self, number: int) -> None:
        """SIGCONT a client."""
        self._signal(number, signal.SIGCONT)

    def finish(self) -> list[int | None]:
        """Let every client end; return the exit codes of those that failed."""
        until = time.monotonic() + PATIENCE
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(max(0.0, until - time.monotonic()))
        # One that is told to end before it listens dies of the signal.
        codes = [process.exitcode for process in self._processes]
        return [code for code in codes if code not in (0, -signal.SIGTERM)]

    def close(self) -> None:
        """Kill the clients that are left."""
        for process in self._processes:
            process.kill()
            process.join()

    def _signal(self, number: int, which: signal.Signals) -> None:
        pid = self._processes[number].pid
        assert pid is not None
        os.kill(pid, which)

    def _start(self, number: int) -> multiprocessing.process.BaseProcess:
        self._started += 1
        process = self._context.Process(target=_run, args=(self._directory, number, self._started))
        process.start()
        return process


def _run(directory: Path, number: int, started: int) -> None:
    sys.stderr = (directory / "clients.err").open("a")
    setup = Setup.load(directory / "setup.json")
    chance = random.Random(f"{setup.seed}/{number}/{started}")
    client = Client(setup, directory / journal_name(number), chance)
    signal.signal(signal.SIGTERM, lambda *_: setattr(client, "over", True))
    client.run()


def journal_name(number: int) -> str:
    """Return the name of a client's journal, which is that of its successors too."""
    return f"client-{number:02d}.journal"


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 10_000))
        return file.read().rstrip().rpartition(b"\n")[2]
