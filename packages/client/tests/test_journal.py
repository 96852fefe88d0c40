"""Journals of streams: what they keep, refuse and say of damage, and who may open them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from affinity_bandits_client import StreamFull
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.journal import Answer, Batch, Journal


def crash(journal: Journal) -> None:
    """Leave the file as it is, and release the lock, as the end of a process does."""
    journal._opened.close()


def test_a_full_journal_refuses_and_forgets_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = Journal(path, "c", largest=200)
    kept = [Answer(1, slot, 0.5) for slot in range(6)]
    for answer in kept:
        journal.append(answer)
    with pytest.raises(StreamFull, match="200 bytes"):
        journal.append(Answer(1, 7, 0.5, "r" * 64))
    batch = Batch("k", tuple(kept[:4]))
    journal.begin(batch)
    crash(journal)
    again = Journal(path, "c")
    assert again.recovered() == (batch, kept[4:])
    again.settle([kept[2]])
    crash(again)
    last = Journal(path, "c")
    assert last.recovered() == (None, [kept[2], *kept[4:]])
    crash(last)
    with pytest.raises(InvalidInput, match=r'one whose line 1 is {"campaign":"d"}'):
        Journal(path, "d")
    (tmp_path / "notes").write_text("not a journal")
    with pytest.raises(InvalidInput, match="a new file"):
        Journal(tmp_path / "notes", "c")
    assert (tmp_path / "notes").read_text() == "not a journal"


def test_answers_for_another_key_outlive_a_full_disk_and_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j", "c")
    told = [Answer(1, slot, 1.0) for slot in range(4)]
    for answer in told:
        journal.append(answer)
    journal.begin(Batch("k1", tuple(told[:2])))

    def full(file: int, text: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        journal.settle([told[0]])
    journal.begin(Batch("k2", (told[2],)))  # there is room again; then the process is killed
    crash(journal)
    assert Journal(tmp_path / "j", "c").recovered() == (
        Batch("k2", (told[2],)),
        [told[0], told[3]],
    )


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "j"
    journal = Journal(path, "c", "disk")
    journal.append(Answer(1, 2, 0.5))
    crash(journal)
    with path.open("ab") as file:
        file.write(b"[1,3,0.")
    again = Journal(path, "c")
    assert again.recovered() == (None, [Answer(1, 2, 0.5)])
    assert [json.loads(one) for one in path.read_text().splitlines()][1:] == [
        [1, 2, 0.5, None, None]
    ]


def test_a_disk_that_is_full_refuses_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j", "c")
    journal.append(Answer(1, 2, 0.5))
    real = os.write

    def half(file: int, text: bytes) -> int:
        if len(text) < 10:
            raise OSError(28, "No space left on device")
        return real(file, text[: len(text) - 5])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", half)
        with pytest.raises(StreamFull, match="No space left"):
            journal.append(Answer(1, 3, 0.5))
    journal.append(Answer(1, 4, 0.5))
    crash(journal)
    assert [one.slot for one in Journal(tmp_path / "j", "c").recovered()[1]] == [2, 4]


HEAD = '{"campaign":"c"}'
GOOD = "[1,2,0.5,null,null]"
ANSWER = Answer(1, 2, 0.5)
READ: list[tuple[list[str], Batch | None, list[int]]] = [
    ([], None, []),
    ([GOOD, '[1,3,1,"r1","a"]'], None, [2, 3]),
    ([GOOD, '{"sent":"k","answers":1}', "[1,3,0,null,null]"], Batch("k", (ANSWER,)), [3]),
    ([GOOD, '{"sent":"k","answers":1}', '{"settled":[]}', "[1,3,0,null,null]"], None, [3]),
    ([GOOD, '{"sent":"k","answers":1}', '{"settled":[0]}', "[1,3,0,null,null]"], None, [2, 3]),
    ([GOOD, '{"kept":1}', "[1,3,0,null,null]"], None, [2, 3]),
    (  # the line that settled the first batch was removed
        ["[1,7,1,null,null]", GOOD, '{"sent":"i","answers":1}', '{"sent":"k","answers":1}'],
        Batch("k", (ANSWER,)),
        [7],
    ),
]
"""Lines of a journal after the first, and what is recovered from them: in both clients."""
DAMAGED = {
    "no JSON": "[1,2,",
    "too few values": "[1,2]",
    "too many values": "[1,2,0.5,null,null,null]",
    "a text for a number": '["1",2,0.5,null,null]',
    "a number for a text": "[1,2,0.5,7,null]",
    "a negative slot": "[1,-2,0.5,null,null]",
    "a score that is no number": "[1,2,null,null,null]",
    "an infinite score": "[1,2,1e999,null,null]",
    "a number": "17",
    "nothing": "",
    "null": "null",
    "a text": '"sent"',
    "another object": "{}",
    "a batch without its size": '{"sent":"k"}',
    "a batch of a size that is no number": '{"sent":"k","answers":"1"}',
    "a batch of more answers than there are": '{"sent":"k","answers":9}',
    "a reply to no batch": '{"settled":[]}',
    "more kept answers than there are": '{"kept":9}',
    "depth": "[" * 100_000,
    "bytes of no text": "\udcff\udcfe",
}
"""What may stand in line 3, where it is no line of a journal: in both clients."""


@pytest.mark.parametrize(("lines", "batch", "unsent"), READ)
def test_a_log_is_replayed(
    tmp_path: Path, lines: list[str], batch: Batch | None, unsent: list[int]
) -> None:
    (tmp_path / "j").write_text("\n".join([HEAD, *lines, ""]))
    journal = Journal(tmp_path / "j", "c")
    assert journal.recovered()[0] == batch
    assert [answer.slot for answer in journal.recovered()[1]] == unsent


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED.keys())
def test_damage_is_named_with_its_line_and_can_be_mended(tmp_path: Path, line: str) -> None:
    path = tmp_path / "the journal"
    after = ["[1,3,1.0,null,null]", '{"sent":"k","answers":1}', '{"settled":[]}']
    text = "\n".join([HEAD, GOOD, line, *after, ""]).encode(errors="surrogateescape")
    path.write_bytes(text)
    with pytest.raises(InvalidInput, match=r"^line 3 of the journal .* is damaged; .* run: ") as no:
        Journal(path, "c")
    assert path.read_bytes() == text
    assert [*tmp_path.iterdir()] == [path]
    subprocess.run(str(no.value).partition(" run: ")[2], shell=True, check=True)
    # Answers that were sent are sent again, and count once.
    assert [answer.slot for answer in Journal(path, "c").recovered()[1]] == [2, 3]


def test_only_an_ordinary_file_is_a_journal(tmp_path: Path) -> None:
    Journal(tmp_path / "j", "c").append(ANSWER)
    (tmp_path / "link").symlink_to("j")
    (tmp_path / "nowhere").symlink_to("new")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "nowhere", "pipe"):
        with pytest.raises(InvalidInput, match="an ordinary file: no symbolic link"):
            Journal(tmp_path / name, "c")
    with pytest.raises(InvalidInput, match="Is a directory"):
        Journal(tmp_path, "c")
    with pytest.raises(InvalidInput, match="No such file"):
        Journal(tmp_path / "no" / "j", "c")


def test_a_temporary_file_of_another_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    for name in (".j.new", "k.lock"):
        (tmp_path / name).symlink_to("victim")
    Journal(tmp_path / "j", "c").append(ANSWER)
    with pytest.raises(InvalidInput, match="an ordinary file"):
        Journal(tmp_path / "k", "c")
    assert (tmp_path / "victim").read_text() == "precious"


def test_the_lock_of_a_process_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "j"
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from affinity_bandits_client.journal import Answer, Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'c')\njournal.append(Answer(1, 2, 0.5))\n"
        "print('open', flush=True)\ninput()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(InvalidInput, match=f"and process {other.pid} on .* has"):
            Journal(path, "c")
        other.kill()
        other.wait()
    assert (tmp_path / "j.lock").exists()  # which says nothing by itself
    journal = Journal(path, "c")
    assert journal.recovered() == (None, [ANSWER])
    with pytest.raises(InvalidInput, match=f"and process {os.getpid()} on .* has"):
        Journal(path, "c")
    journal.begin(Batch("k", (ANSWER,)))
    journal.settle()
    journal.close()
    assert [*tmp_path.iterdir()] == []
