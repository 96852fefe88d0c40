"""The journal of a client: every request before it is sent, every response; it survives a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TAIL = 100_000
"""Bytes that a restarted client reads back."""


class Journal:
    """An append-only file; a line has reached the kernel before `write` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        if path.stat().st_size:
            # Whoever wrote before us may have been killed in the middle of a line.
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


def requests_in(path: Path, *, tail: int | None = None) -> dict[str, Request]:
    """Return a journal's requests by key; with `tail`, only those in its last bytes."""
    found: dict[str, Request] = {}
    for entry in _entries(path, tail):
        key = entry["key"]
        if "kind" in entry:
            if key not in found:
                found[key] = Request(key, entry["kind"], entry["campaign"], entry["body"], [])
        elif key in found and "status" in entry:
            found[key].answers.append((entry["status"], entry["answer"]))
        elif key in found:
            found[key].given_up = True
    return found


def _entries(path: Path, tail: int | None) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0 if tail is None else max(0, size - tail))
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue  # cut off by a SIGKILL, or by where the tail begins
