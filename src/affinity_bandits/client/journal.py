"""Answers of a stream that await the service's acknowledgment, in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from affinity_bandits.errors import AffinityError, InvalidInput, NotSupported

SYNC = ("disk", "kernel")
MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND
LARGEST = 64 * 2**20  # bytes of a journal by default


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
    acknowledged. An incomplete last line is ignored: its answer was never accepted.

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
        self._unsent: list[Answer] = []
        self._sent: Batch | None = None
        self._file = _open_alone(path)
        try:
            self._recover(campaign)
            self._rewrite()
        except BaseException:
            os.close(self._file)
            raise

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

    def settle(self) -> None:
        """Note that the batch was acknowledged, and shorten the file if it is long."""
        self._sent = None
        with suppress(StreamFull):
            if self._size > self._largest // 2 or not self._unsent:
                self._rewrite()
            else:
                self._write(_line({"settled": True}))

    def close(self) -> None:
        """Close the file; remove it if everything in it was acknowledged."""
        if not self._unsent and self._sent is None:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

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
        for line in text.split(b"\n")[1:-1]:
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
        """Rewrite the file with unacknowledged answers only; a crash leaves the old or the new."""
        lines: list[bytes] = [self._head]
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
            raise InvalidInput("journal", "a file that no other stream has open", path) from None
        os.close(found)  # replaced or removed since it was opened


def _lock(file: int) -> None:
    import fcntl  # only POSIX systems have it, and the rest of the client runs everywhere

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _line(value: Iterable[object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
