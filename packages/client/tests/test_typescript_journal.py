"""The journals of the TypeScript client: faults, damage, and a lock that both clients take."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.journal import Answer, Batch, Journal
from packages.client.tests.test_journal import DAMAGED, GOOD, HEAD, READ
from packages.client.tests.test_journal_faults import WRONG
from tests.support.node import typescript_client

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def compiled() -> Path:
    return typescript_client() / "dist" / "journal.js"


def node(*words: str | Path, **given: object) -> str:
    """Run a program of Node.js; return what it prints."""
    done = subprocess.run(
        ["node", *words],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def faults(compiled: Path, folder: Path, number: int) -> dict[str, int]:
    (folder / "journals").mkdir()
    script = HERE / "journal_faults.mjs"
    seen: dict[str, int] = json.loads(node(script, compiled, folder / "journals", str(number)))
    return seen


def test_no_history_loses_an_accepted_answer(compiled: Path, tmp_path: Path) -> None:
    seen = faults(compiled, tmp_path, 2000)
    assert {kind: number for kind, number in seen.items() if kind in WRONG} == {}
    assert seen["opened"] > 3000
    assert min(seen["killed"], seen["not opened"], seen["refused"]) > 300


def test_a_planted_mistake_is_seen(compiled: Path, tmp_path: Path) -> None:
    text = compiled.read_text()
    right = "tryTo(() => this.#write());"
    assert text.count(right) == 2
    forgets = tmp_path / "journal.js"  # goes on without a line that could not be written
    forgets.write_text(text.replace(right, f"{right} this.#owed = '';"))
    shutil.copy(compiled.with_name("errors.js"), tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    seen = faults(forgets, tmp_path, 300)
    assert seen["lost"] > 0
    assert seen["other answers under a key"] > 0


OPEN = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const { compiled, paths } = JSON.parse(readFileSync(0, "utf8"));
const { Journal } = await import(pathToFileURL(compiled));
const found = paths.map((path) => {
  try {
    const { batch, unsent } = new Journal(path, "c", "disk", 1e6);
    return [batch ?? null, unsent];
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
});
console.log(JSON.stringify(found));
"""


def opened(compiled: Path, paths: list[Path]) -> list[object]:
    """What a process of Node.js finds in each of these journals."""
    script = ("--input-type=module", "--eval", OPEN)
    found: list[object] = json.loads(
        node(*script, compiled=str(compiled), paths=[str(path) for path in paths])
    )
    return found


def test_both_clients_replay_the_same_log(compiled: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"j{number}" for number in range(len(READ))]
    for path, (lines, _, _) in zip(paths, READ, strict=True):
        path.write_text("\n".join([HEAD, *lines, ""]))
    for (_, batch, unsent), found in zip(READ, opened(compiled, paths), strict=True):
        assert isinstance(found, list)
        if batch is None:
            assert found[0] is None
        else:
            assert found[0]["key"] == batch.key
            assert [Answer(*one) for one in found[0]["answers"]] == [*batch.answers]
        assert [slot for _, slot, *_ in found[1]] == unsent
    for path, (_, batch, unsent) in zip(paths, READ, strict=True):  # as Node.js has written them
        journal = Journal(path, "c")
        assert journal.recovered()[0] == batch
        assert [answer.slot for answer in journal.recovered()[1]] == unsent


def test_damage_is_named_with_its_line_and_can_be_mended(compiled: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"it's {number}" for number in range(len(DAMAGED))]
    texts = []
    for path, line in zip(paths, DAMAGED.values(), strict=True):
        after = ["[1,3,1.0,null,null]", '{"sent":"k","answers":1}', '{"settled":[]}']
        text = "\n".join([HEAD, GOOD, line, *after, ""])
        texts.append(text.encode(errors="surrogateescape"))
        path.write_bytes(texts[-1])
    found = opened(compiled, paths)
    assert [path.read_bytes() for path in paths] == texts
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    for path, said in zip(paths, found, strict=True):
        assert isinstance(said, str)
        assert said.startswith(f"InvalidInput: line 3 of the journal {path} is damaged; ")
        subprocess.run(said.partition(" run: ")[2], shell=True, check=True)
    for again in opened(compiled, paths):
        assert isinstance(again, list)
        assert [slot for _, slot, *_ in again[1]] == [2, 3]


def test_only_an_ordinary_file_is_a_journal(compiled: Path, tmp_path: Path) -> None:
    (tmp_path / "j").write_text(f"{HEAD}\n{GOOD}\n")
    (tmp_path / "link").symlink_to("j")
    (tmp_path / "victim").write_text("precious")
    for name in (".j.new", "k.lock"):
        (tmp_path / name).symlink_to("victim")
    os.mkfifo(tmp_path / "pipe")
    names = ("link", "pipe", "k", "j")
    *refused, found = opened(compiled, [tmp_path / name for name in names])
    assert ["an ordinary file" in str(said) for said in refused] == [True] * 3
    assert isinstance(found, list)
    assert (tmp_path / "victim").read_text() == "precious"


HOLD = """
const { Journal } = await import(process.argv[1]);
const journal = new Journal(process.argv[2], "c", "kernel", 1e6);
journal.append([1, 2, 0.5, null, null]);
console.log(process.pid);
process.stdin.resume();
"""
PIDS = ["unshare", "--fork", "--pid", "--mount-proc"]


@contextmanager
def held(compiled: Path, path: Path, *before: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A process of Node.js with a journal open, and its id, as it knows it."""
    command = [*before, "node", "--input-type=module", "--eval", HOLD, str(compiled), str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), process
        finally:
            process.kill()


def containers() -> None:
    """Skip a test where namespaces of processes cannot be made, which takes rights."""
    if shutil.which("unshare") is None or subprocess.run([*PIDS, "true"], check=False).returncode:
        pytest.skip("namespaces of processes cannot be made here")


def test_a_journal_that_another_container_has_open_is_refused(
    compiled: Path, tmp_path: Path
) -> None:
    containers()
    path = tmp_path / "j"
    with held(compiled, path, *PIDS) as (inside, process):
        assert inside < 10  # the container's own number, which means another process out here
        (said,) = opened(compiled, [path])
        assert f"and process {inside} on " in str(said)
        with pytest.raises(InvalidInput, match=f"no other stream has open, and process {inside} "):
            Journal(path, "c")
    process.wait()
    (found,) = opened(compiled, [path])  # killed: the answer is there
    assert found == [None, [[1, 2, 0.5, None, None]]]
    assert Journal(path, "c").recovered() == (None, [Answer(1, 2, 0.5)])


def test_without_the_lock_two_containers_lose_an_answer(compiled: Path, tmp_path: Path) -> None:
    # The control: what the lock is for.
    text = compiled.read_text()
    assert text.count("if (!flock(file, path))") == 1
    careless = tmp_path / "journal.js"
    careless.write_text(text.replace("if (!flock(file, path))", "if (false)"))
    shutil.copy(compiled.with_name("errors.js"), tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    path = tmp_path / "j"
    later = (
        "const { Journal } = await import(process.argv[1]);\n"
        "const journal = new Journal(process.argv[2], 'c', 'kernel', 1e6);\n"
        "for await (const _ of process.stdin) break;\n"
        "journal.append([1, 3, 0.5, null, null]);\nprocess.exit();\n"
    )
    words = ["node", "--input-type=module", "--eval", later, str(careless), str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as first:
        while not path.exists():
            assert first.poll() is None
        with held(careless, path):
            first.communicate("now\n", timeout=60)
    assert first.returncode == 0
    assert [answer.slot for answer in Journal(path, "c").recovered()[1]] == [2]


@pytest.mark.parametrize("program", ["flock", "perl"])
def test_node_respects_the_lock_of_python(compiled: Path, tmp_path: Path, program: str) -> None:
    path, programs = tmp_path / "j", tmp_path / "bin"
    programs.mkdir()
    for name in ("node", program):
        (programs / name).symlink_to(str(shutil.which(name)))
    journal = Journal(path, "c")
    journal.append(Answer(1, 2, 0.5))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", str(programs))
        (said,) = opened(compiled, [path])
        assert f"and process {os.getpid()} on " in str(said)
        journal.begin(Batch("k", (Answer(1, 2, 0.5),)))
        journal._opened.close()
        (found,) = opened(compiled, [path])
        assert found == [{"key": "k", "answers": [[1, 2, 0.5, None, None]]}, []]
        (programs / program).unlink()
        (said,) = opened(compiled, [path])
    assert "neither flock (util-linux, BusyBox) nor perl is installed" in str(said)
