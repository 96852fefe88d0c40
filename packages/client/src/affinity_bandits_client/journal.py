"""Answers of a stream that await the service's acknowledgment, in a file."""

from __future__ import annotations

import errno
import json
import math
import os
import shlex
import stat
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits_client.errors import InvalidInput, NotSupported, StreamFull

SYNC = ("disk", "kernel")
MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND
LARGEST = 64 * 2**20  # bytes of a journal by default
ALONE = "a file that no other stream has open, and {} has; each process needs its own"
ORDINARY = "an ordinary file: no symbolic link, device or pipe"
LONGEST_NAME = 200  # characters of the process that has a journal open


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


class Journal:
    """A file with the answers and batches that await acknowledgment.

    The file is a log. Its first line names the campaign. Then there is a line for each answer, for
    each batch when it is first sent, and for each batch when the service has replied, with the
    positions of the answers that it refused because of the API key. The next stream sends those
    again.

    Lines are written in order. A line that does not fit on the disk is written before the next one,
    so the file is always the log up to some moment after the last accepted answer. Lines that are
    missing at its end lose nothing: answers that are not on record as sent are sent under another
    key, a batch without a reply on record is sent again, and each slot counts once.

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
        self.path = path
        self._sync = sync
        self._largest = largest
        self._head = _line({"campaign": campaign})
        self._kept: list[Answer] = []
        self._unsent: list[Answer] = []
        self._sent: Batch | None = None
        self._owed = b""  # lines that could not be written
        self._torn = False  # whether the file may end in a part of a line
        self._placed = True  # whether the folder's entry of the file is on the disk
        try:
            with ExitStack() as opened:
                opened.callback(_lock(path))
                self._file = _open(path)
                opened.callback(lambda: os.close(self._file))
                self._recover(campaign)
                self._rewrite()
                self._write()
                self._opened = opened.pop_all()
        except OSError as error:
            raise InvalidInput("journal", f"a file to write to ({error.strerror})", path) from None

    def recovered(self) -> tuple[Batch | None, list[Answer]]:
        """Return the batch that was sent and awaits acknowledgment, and the answers after it."""
        return self._sent, list(self._unsent)

    def append(self, answer: Answer) -> None:
        """Add an answer.

        Raises:
            StreamFull: the file would be too large, or cannot be written.
        """
        line = _line(answer)
        if self._size + len(self._owed) + len(line) > self._largest:
            raise StreamFull(
                f"{self._largest:,} bytes of answers in the journal {self.path} wait for the"
                f" service; is it up?"
            )
        self._write(line)
        self._unsent.append(answer)

    def begin(self, batch: Batch) -> None:
        """Note that the oldest answers are about to be sent as a batch."""
        self._sent, self._unsent = batch, self._unsent[len(batch.answers) :]
        self._owed += _line({"sent": batch.key, "answers": len(batch.answers)})
        with suppress(StreamFull):
            self._write()

    def settle(self, kept: Collection[Answer] = ()) -> None:
        """Note that the service replied to the batch, and shorten the file if it is long.

        Args:
            kept: answers of the batch that the next stream with this file sends again.
        """
        answers = () if self._sent is None else self._sent.answers
        refused = set(kept)
        at = [place for place, answer in enumerate(answers) if answer in refused]
        self._sent = None
        self._kept += (answers[place] for place in at)
        self._owed += _line({"settled": at})
        with suppress(StreamFull):
            if not self._unsent or self._size > self._largest // 2:
                self._rewrite()
        with suppress(StreamFull):
            self._write()

    def close(self) -> None:
        """Close the file; remove it if everything in it was acknowledged."""
        if not self._unsent and not self._kept and self._sent is None:
            with suppress(OSError):  # the next stream sends again what it has
                os.unlink(self.path)
        else:
            with suppress(StreamFull):
                self._write()
        self._opened.close()

    def _write(self, line: bytes = b"") -> None:
        """Append the lines that could not be written before, and this one: all or none."""
        text = self._owed + line
        if not text and self._placed:
            return
        try:
            if self._torn:
                os.ftruncate(self._file, self._size)
            self._torn = True
            _write_all(self._file, text)
            if self._sync == "disk":
                os.fsync(self._file)
                if not self._placed:
                    _sync_folder(self.path.parent)
                    self._placed = True
            self._torn = False
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
                self._torn = False
            raise StreamFull(f"the journal {self.path} cannot be written: {error}") from None
        self._owed = b""
        self._size += len(text)

    def _recover(self, campaign: str) -> None:
        """Replay the log. An incomplete last line is ignored: its answer was never accepted."""
        with open(self._file, "rb", closefd=False) as file:
            text = file.read()
        if text[: len(self._head)] != self._head[: len(text)]:
            rule = f"a new file, or one whose line 1 is {self._head.decode().strip()}"
            raise InvalidInput("journal", rule, str(self.path))
        for number, line in enumerate(text.split(b"\n")[1:-1], 2):
            try:
                self._replay(json.loads(line))
            except (ValueError, ArithmeticError, RecursionError):
                raise _damaged(self.path, number) from None
        self._unsent = self._kept + self._unsent
        self._kept = []

    def _replay(self, found: object) -> None:
        """Do what a line of the log says; raise an error if it says nothing of the kind."""
        match found:
            case [
                int(lease),
                int(slot),
                int() | float() as score,
                str() | None as rater,
                str() | None as group,
            ] if min(lease, slot) >= 0 and math.isfinite(score) and bool not in map(type, found):
                self._unsent.append(Answer(lease, slot, float(score), rater, group))
            case {"sent": str(key), "answers": int(number)} if 0 < number <= len(self._unsent):
                self._put_back()
                self._sent = Batch(key, tuple(self._unsent[:number]))
                self._unsent = self._unsent[number:]
            case {"settled": list(places)} if self._sent is not None:
                answers = self._sent.answers
                if places != [place for place in range(len(answers)) if place in set(places)]:
                    raise ValueError
                self._kept += (answers[place] for place in places)
                self._sent = None
            case {"kept": int(number)} if number == len(self._unsent) and self._sent is None:
                self._kept, self._unsent = self._unsent, []
            case _:
                raise ValueError

    def _put_back(self) -> None:
        """Put back a batch whose reply is not on record, because somebody removed that line."""
        if self._sent is not None:
            self._kept += self._sent.answers

    def _rewrite(self) -> None:
        """Rewrite the file with unacknowledged answers only; a crash leaves the old or the new."""
        lines: list[bytes] = [self._head]
        if self._kept:
            lines += [*map(_line, self._kept), _line({"kept": len(self._kept)})]
        if self._sent is not None:
            lines += map(_line, self._sent.answers)
            lines.append(_line({"sent": self._sent.key, "answers": len(self._sent.answers)}))
        lines += map(_line, self._unsent)
        text = b"".join(lines)
        temporary = self.path.with_name(f".{self.path.name}.new")
        try:
            with suppress(FileNotFoundError):
                os.unlink(temporary)  # of a process that was killed
            new = os.open(temporary, MODE | os.O_EXCL, 0o600)
            try:
                _write_all(new, text)
                if self._sync == "disk":
                    os.fsync(new)
                os.replace(temporary, self.path)
            except OSError:
                os.close(new)
                with suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            raise StreamFull(f"the journal {self.path} cannot be written: {error}") from None
        os.close(self._file)
        self._file, self._size = new, len(text)
        self._owed, self._torn, self._placed = b"", False, self._sync != "disk"


def _lock(path: Path) -> Callable[[], None]:
    """Lock a journal for one stream; return a function that unlocks it.

    The lock is the kernel's (flock), on a file beside the journal; the TypeScript client takes the
    same. It ends with its process and holds in all containers of a machine.
    """
    if sys.platform == "win32":  # the rest of the client runs everywhere
        raise NotSupported("a journal needs the file locks of a POSIX system")
    import fcntl

    held = path.with_name(f"{path.name}.lock")
    while True:
        file = _open(held)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, held):
                with suppress(OSError):  # on a full disk
                    os.ftruncate(file, 0)
                    os.write(file, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
                break
        except BlockingIOError:
            with open(file, errors="replace", closefd=False) as text:
                holder = text.readline(LONGEST_NAME).strip() or "another process"
            os.close(file)
            raise InvalidInput("journal", ALONE.format(holder), str(path)) from None
        except OSError:
            os.close(file)
            raise
        os.close(file)  # its holder removed it

    def unlock() -> None:
        with suppress(OSError):
            os.unlink(held)
        os.close(file)

    return unlock


def _is_at(file: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), os.lstat(path))
    return False


def _open(path: Path) -> int:
    """Open an ordinary file.

    A symbolic link is refused: its file may be open under another name, with another lock.
    """
    system: Any = os  # Windows lacks some of its names
    try:
        # Without waiting for the other end of a pipe.
        found: int = os.open(path, MODE | system.O_NOFOLLOW | system.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise InvalidInput("journal", ORDINARY, str(path)) from None
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise InvalidInput("journal", ORDINARY, str(path))
    return found


def _write_all(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _damaged(path: Path, number: int) -> InvalidInput:
    error = InvalidInput("journal", f"without damage in line {number}", str(path))
    old, new = shlex.quote(str(path)), shlex.quote(f"{path}.mended")
    error.args = (
        f"line {number} of the journal {path} is damaged; to keep the answers of all other lines, "
        f"run: sed -n '1p; {number}d; /^\\[/p' {old} > {new} && mv {new} {old}",
    )
    return error


def _line(value: Iterable[object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
