"""Answers of a stream that the service has not acknowledged yet, kept in a file."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from affinity_bandits.errors import AffinityError, InvalidInput

SYNC = ("disk", "kernel", "later")
MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND
LARGEST = 64 * 2**20  # bytes of a journal by default


class Answer(NamedTuple):
    """The score of one slot of a lease, and who gave it, if that was said."""

    lease: int
    slot: int
    score: float
    rater: str | None = None
    rater_group: str | None = None


class Batch(NamedTuple):
    """Answers that are sent together, under one idempotency key for as long as it takes."""

    key: str
    answers: tuple[Answer, ...]


class StreamFull(AffinityError):  # noqa: N818 - reads as the fact it states
    """An answer was not taken: as many as may wait are waiting for the service."""


class Journal:
    """A file with the answers and batches that have not been acknowledged.

    It has one line for each answer, and one for each batch when it is first sent and when it is
    acknowledged. A last line without an end was never confirmed to anybody, and is left out.

    Args:
        path: the file; it is made if there is none. One process can have it at a time.
        campaign: the id of the campaign.
        sync: when an answer is safe. "disk": before `append` returns, whatever fails. "kernel":
            before it returns, unless the machine itself fails. "later": at the next `flush`.
        largest: bytes that the file can have.
    """

    def __init__(
        self, path: Path, campaign: str, sync: str = "kernel", largest: int = LARGEST
    ) -> None:
        self.path = path
        if sync not in SYNC:
            raise InvalidInput("sync", "'disk', 'kernel' or 'later'", sync)
        self._sync = sync
        self._largest = largest
        self._head = _line({"campaign": campaign})
        self._unsent: list[Answer] = []
        self._sent: Batch | None = None
        self._buffer = b""
        self._file = _open_alone(path)
        self._recover(campaign)
        self._rewrite()

    def recovered(self) -> tuple[Batch | None, list[Answer]]:
        """Return the batch that was sent and not acknowledged, and what is to be sent after it."""
        return self._sent, list(self._unsent)

    def append(self, answer: Answer) -> None:
        """Add an answer.

        Raises:
            StreamFull: the file would be too large.
        """
        line = _line(answer)
        if self._size + len(line) > self._largest:
            raise StreamFull(
                f"the journal {self.path} has its {self._largest:,} bytes full of answers that the"
                f" service has not acknowledged; is it up?"
            )
        self._write(line)
        self._unsent.append(answer)

    def begin(self, batch: Batch) -> None:
        """Note that the oldest answers are about to be sent as a batch."""
        self._write(_line({"sent": batch.key, "answers": len(batch.answers)}))
        self._sent, self._unsent = batch, self._unsent[len(batch.answers) :]

    def settle(self) -> None:
        """Note that the batch was acknowledged, and forget what need not be kept."""
        self._sent = None
        if self._size > self._largest // 2 or not self._unsent:
            self._rewrite()
        else:
            self._write(_line({"settled": True}))

    def flush(self) -> None:
        """Hand what is buffered to the operating system."""
        if self._buffer:
            self._put(self._buffer)
            self._buffer = b""

    def close(self) -> None:
        """Close the file; it is removed if nothing is left in it."""
        self.flush()
        if not self._unsent and self._sent is None:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        if self._sync == "later":
            self._buffer += line
        else:
            self._put(line)
        self._size += len(line)

    def _put(self, text: bytes) -> None:
        """Append to the file; what cannot be written whole is taken back."""
        before = os.fstat(self._file).st_size
        try:
            while text:
                text = text[os.write(self._file, text) :]
            if self._sync == "disk":
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise StreamFull(f"the journal {self.path} cannot be written: {error}") from None

    def _recover(self, campaign: str) -> None:
        text = os.pread(self._file, os.fstat(self._file).st_size, 0)
        lines = text.split(b"\n")[:-1]
        if lines and lines[0] + b"\n" != self._head:
            os.close(self._file)
            raise InvalidInput("journal", f"one of campaign {campaign}", str(self.path))
        for line in lines[1:]:
            found = json.loads(line)
            if isinstance(found, list):
                self._unsent.append(Answer(*found))
            elif "sent" in found:
                number = found["answers"]
                self._sent = Batch(found["sent"], tuple(self._unsent[:number]))
                self._unsent = self._unsent[number:]
            else:
                self._sent = None

    def _rewrite(self) -> None:
        """Replace the file by one with what is needed; a crash leaves one or the other."""
        lines: list[bytes] = [self._head]
        if self._sent is not None:
            lines += map(_line, self._sent.answers)
            lines.append(_line({"sent": self._sent.key, "answers": len(self._sent.answers)}))
        lines += map(_line, self._unsent)
        text = b"".join(lines)
        temporary = self.path.with_name(f".{self.path.name}.new")
        old, self._file = self._file, os.open(temporary, MODE | os.O_TRUNC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._put(text)
            temporary.replace(self.path)
        except (OSError, StreamFull):
            os.close(self._file)
            self._file = old
            raise
        os.close(old)
        self._size, self._buffer = len(text), b""
        if self._sync == "disk":
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def _open_alone(path: Path) -> int:
    """Open a journal that no other stream has open."""
    while True:
        try:
            found = os.open(path, MODE, 0o600)
        except OSError as error:
            raise InvalidInput("journal", f"a file to write to ({error.strerror})", path) from None
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and path.stat().st_ino == os.fstat(found).st_ino:
                return found
        except BlockingIOError:
            os.close(found)
            raise InvalidInput("journal", "a file that no other stream has open", path) from None
        os.close(found)  # replaced or removed since it was opened


def _line(value: Iterable[object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
