"""Answers of a stream that await the service's acknowledgment, in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from affinity_bandits.errors import AffinityError, InvalidInput, NotSupported

SYNC = ("disk", "kernel")
MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND
LARGEST = 64 * 2**20  # bytes of a journal by default
ALONE = "a file that no other stream has open: each process needs its own"


class Answer(NamedTuple):
    """The score of one slot of a lease and, if known, who gave it."""

    lease: int
    slot: int
    score: float
    rater: str | None = None
    rater_group: str | None = None


class Batch(NamedTuple):
    """Answers that are sent together, under the same idempotency key at every try."""

    key: str
    answers: tuple[Answer, ...]


class StreamFull(AffinityError):  # noqa: N818 - reads as the fact it states
    """An answer was refused, because too many wait for the service or the disk is full."""


class Journal:
    """A file with the answers and batches that await acknowledgment.

    It has one line for each answer, and one for each batch when it is first sent and when it is
    acknowledged. Answers that the service refused because of the API key come first, with a line
    that counts them. An incomplete last line is ignored: its answer was never accepted.

    Args:
        path: the file, which is created if needed. Only one stream can have it open.
        campaign: the id of the campaign.
        sync: "disk" writes each answer to the disk before `append` returns, "kernel" to the
            operating system.
        largest: size of the file at most, in bytes.
    """

    def __init__(
        self, path: Path, campaign: str, sync: str = "kernel", largest: int = LARGEST
    ) -> None:
        if sync not in SYNC:
            raise InvalidInput("sync", "'disk' or 'kernel'", sync)
        if os.name != "posix":
            raise NotSupported("a journal needs the file locks of a POSIX system")
        self.path = path
        self._sync = sync
        self._largest = largest
        self._head = _line({"campaign": campaign})
        self._kept: list[Answer] = []
        self._unsent: list[Answer] = []
        self._sent: Batch | None = None
        self._file = _open_alone(path)
        with ExitStack() as opened:
            opened.callback(lambda: os.close(self._file))
            opened.callback(_name_process(path).unlink, missing_ok=True)
            self._recover(campaign)
            self._rewrite()
            self._opened = opened.pop_all()

    def recovered(self) -> tuple[Batch | None, list[Answer]]:
        """Return the batch that was sent and awaits acknowledgment, and the answers after it."""
        return self._sent, list(self._unsent)

    def append(self, answer: Answer) -> None:
        """Add an answer.

        Raises:
            StreamFull: the file would be too large, or cannot be written.
        """
        line = _line(answer)
        if self._size + len(line) > self._largest:
            raise StreamFull(
                f"{self._largest:,} bytes of answers in the journal {self.path} wait for the"
                f" service; is it up?"
            )
        self._write(line)
        self._unsent.append(answer)

    def begin(self, batch: Batch) -> None:
        """Note that the oldest answers are about to be sent as a batch."""
        self._sent, self._unsent = batch, self._unsent[len(batch.answers) :]
        # Without the line, a successor would send the answers under another key: each slot counts
        # once all the same.
        with suppress(StreamFull):
            self._write(_line({"sent": batch.key, "answers": len(batch.answers)}))

    def settle(self, kept: Sequence[Answer] = ()) -> None:
        """Note that the batch was acknowledged, and shorten the file if it is long.

        Args:
            kept: answers of the batch that the next stream with this file sends again.
        """
        self._sent = None
        self._kept += kept
        with suppress(StreamFull):
            if kept or not self._unsent or self._size > self._largest // 2:
                self._rewrite()
            else:
                self._write(_line({"settled": True}))

    def close(self) -> None:
        """Close the file; remove it if everything in it was acknowledged."""
        if not self._unsent and not self._kept and self._sent is None:
            self.path.unlink(missing_ok=True)
        self._opened.close()

    def _write(self, text: bytes) -> None:
        """Append to the file; after an error, remove an incomplete line again."""
        before = os.fstat(self._file).st_size
        try:
            rest = text
            while rest:
                rest = rest[os.write(self._file, rest) :]
            if self._sync == "disk":
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise StreamFull(f"the journal {self.path} cannot be written: {error}") from None
        self._size = before + len(text)

    def _recover(self, campaign: str) -> None:
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        if text[: len(self._head)] != self._head[: len(text)]:
            rule = f"a new file, or a journal of campaign {campaign}"
            raise InvalidInput("journal", rule, str(self.path))
        kept: list[Answer] = []
        for line in text.split(b"\n")[1:-1]:
            found = json.loads(line)
            if isinstance(found, list):
                self._unsent.append(Answer(*found))
            elif "sent" in found:
                number = found["answers"]
                self._sent = Batch(found["sent"], tuple(self._unsent[:number]))
                self._unsent = self._unsent[number:]
            elif "kept" in found:
                kept, self._unsent = self._unsent, []
            else:
                self._sent = None
        self._unsent = kept + self._unsent

    def _rewrite(self) -> None:
        """Rewrite the file with unacknowledged answers only; a crash leaves the old or the new."""
        lines: list[bytes] = [self._head]
        if self._kept:
            lines += [*map(_line, self._kept), _line({"kept": len(self._kept)})]
        if self._sent is not None:
            lines += map(_line, self._sent.answers)
            lines.append(_line({"sent": self._sent.key, "answers": len(self._sent.answers)}))
        lines += map(_line, self._unsent)
        temporary = self.path.with_name(f".{self.path.name}.new")
        old = self._file
        try:
            self._file = os.open(temporary, MODE | os.O_TRUNC, 0o600)
            _lock(self._file)
            self._write(b"".join(lines))
            temporary.replace(self.path)
        except (OSError, StreamFull) as error:
            if self._file != old:
                os.close(self._file)
            self._file = old
            self._size = os.fstat(old).st_size
            raise StreamFull(f"the journal {self.path} cannot be written: {error}") from None
        os.close(old)
        if self._sync == "disk":
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def _open_alone(path: Path) -> int:
    """Open a journal for this stream alone."""
    while True:
        try:
            found = os.open(path, MODE, 0o600)
        except OSError as error:
            raise InvalidInput("journal", f"a file to write to ({error.strerror})", path) from None
        try:
            _lock(found)
            if path.exists() and path.stat().st_ino == os.fstat(found).st_ino:
                return found
        except BlockingIOError:
            os.close(found)
            raise InvalidInput("journal", ALONE, path) from None
        os.close(found)  # replaced or removed since it was opened


def _name_process(path: Path) -> Path:
    """Name this process in a file beside its journal, as the TypeScript client does; return it.

    Node.js cannot lock files. The file is taken over if its process has ended, or is this one: then
    the lock of the journal shows that no stream of this process has it open.
    """
    held = path.with_name(f"{path.name}.lock")
    mine, stale = (path.with_name(f"{held.name}.{os.getpid()}{end}") for end in ("", ".stale"))
    me = _running(str(os.getpid()))
    try:
        mine.write_text(me)
        while True:
            with suppress(FileExistsError):
                os.link(mine, held)
                return held
            with suppress(FileNotFoundError):
                found = held.read_text()
                if found != me and found == _running(found.split(" ")[0]):
                    raise InvalidInput("journal", ALONE, path)
                held.rename(stale)
                # Looked at again after the move, because others may be doing the same.
                if stale.read_text() != found:
                    with suppress(FileExistsError):
                        os.link(stale, held)
                stale.unlink()
    except OSError as error:
        raise InvalidInput("journal", f"a file to write to ({error.strerror})", path) from None
    finally:
        mine.unlink(missing_ok=True)


def _running(pid: str) -> str:
    """Return the id of a running process, on Linux with its start, since ids are given again."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return f"{pid} {Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    with suppress(ProcessLookupError):
        os.kill(int(pid), 0)
        return pid
    return ""


def _lock(file: int) -> None:
    import fcntl  # only POSIX systems have it, and the rest of the client runs everywhere

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _line(value: Iterable[object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
