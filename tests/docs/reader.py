"""Somebody who follows a page: installs what it needs, then types what it prints."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.pages import BadPage, Block, Command, Page, commands, parse_pip
from tests.support.environments import ROOT, environment
from tests.support.quiet import without_heartbeat

PATIENCE = 900.0
"""Seconds after which a command hangs: many times what any takes on a machine of one's own."""
DRIVER = Path(__file__).with_name("typed_along.py")
REMEMBER = 'set -a -o pipefail\n{}\nstatus=$?\nenv -0 > "{}"\nexit $status'
"""Keeps the shell's variables and its directory for the next command."""


class NotAsPrinted(AssertionError):  # noqa: N818 - reads as the fact it states
    """A page does not do what it says."""


@dataclass(frozen=True)
class Adapted:
    """What must be another text here than on the page: an address in use, a database."""

    instead: dict[str, str]

    def typed(self, text: str) -> str:
        """Return what is typed for what is printed."""
        for printed, real in self.instead.items():
            text = text.replace(printed, real)
        return text

    def seen(self, text: str) -> str:
        """Return what the page would show for what is seen."""
        for printed, real in self.instead.items():
            text = text.replace(real, printed)
        return text


class Reader:
    """One reader with one terminal and one Python prompt, in a directory of their own.

    Args:
        page: what they read.
        folder: an empty directory.
        adapted: what they must type differently.
        place: their environment; one with what the page needs if None.
    """

    def __init__(
        self, page: Page, folder: Path, adapted: Adapted, place: Path | None = None
    ) -> None:
        assert page.needs is not None
        self._page = page
        self._adapted = adapted
        self._kept = folder / "kept"
        self._cwd = folder / "here"
        self._cwd.mkdir()
        self._kept.mkdir()
        # The files that pages name by their place in a checkout, without the package's source.
        shutil.copytree(ROOT / "docs", self._cwd / "docs")
        place = place or environment(page.needs)
        self._python = place / "bin" / "python"
        self._variables = {
            "PATH": f"{place / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._kept),
            "TMPDIR": str(self._kept),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(place.parent),  # its list of fonts takes seconds to make
            "XDG_CACHE_HOME": str(place.parent / "cache"),  # a plan of two pages is made once
            "PWD": str(self._cwd),
        }
        self._prompt: subprocess.Popen[str] | None = None
        self._up: list[subprocess.Popen[bytes]] = []
        self._typed = 0

    def follow(self) -> None:
        """Do everything the page says, in its order."""
        try:
            for block in self._page.blocks:
                if block.save_as is not None:
                    self._in_cwd(block.save_as).write_text(block.text + "\n", encoding="utf-8")
                elif block.kind == "console" and block.runs:
                    for command in commands(block):
                        self._type(command)
                elif block.kind == "python" and block.runs:
                    self._enter(block)
        finally:
            self._leave()

    def _type(self, command: Command) -> None:
        if command.text.startswith("pip install "):
            if not self._page.needs.covers(parse_pip(command.text)):  # type: ignore[union-attr]
                raise NotAsPrinted(self._at(command.line, "installs what the page did not say"))
            return
        text = self._adapted.typed(command.text)
        if command.stays_up:
            self._start(command.line, text)
            return
        state = self._kept / "state"
        status, printed, complained = self._run(command.line, text, state)
        if status != 0:
            said = f"ends with status {status}:\n{text}\n{printed}{complained}"
            raise NotAsPrinted(self._at(command.line, said))
        pairs = state.read_text(encoding="utf-8").split("\0")
        self._variables = dict(pair.split("=", 1) for pair in pairs if pair)
        self._compare(command.line, command.shown, printed)

    def _run(self, line: int, text: str, state: Path) -> tuple[int, str, str]:
        """Type a command; return its status, what it printed and what it complained of."""
        with subprocess.Popen(
            ["bash", "-c", REMEMBER.format(text, state)],
            cwd=self._in_cwd("."),
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                printed, complained = running.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)  # what it started, too
                raise NotAsPrinted(self._at(line, f"is not over:\n{text}")) from None
        return running.returncode, printed, complained

    def _enter(self, block: Block) -> None:
        """Load a block of Python from a file of its own."""
        self._typed += 1
        file = self._in_cwd(f"{self._page.name.lower().replace('-', '_')}_{self._typed}.py")
        file.write_text(self._adapted.typed(block.text) + "\n", encoding="utf-8")
        if self._prompt is None:
            self._prompt = subprocess.Popen(
                [self._python, DRIVER],
                cwd=self._in_cwd("."),
                env=self._variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._prompt.stdin is not None
        assert self._prompt.stdout is not None
        print(
            json.dumps({"file": str(file), "variables": self._variables}),
            file=self._prompt.stdin,
            flush=True,
        )
        line = self._prompt.stdout.readline()
        answer: dict[str, Any] = json.loads(line or '{"failed": "Python is gone"}')
        if "failed" in answer:
            raise NotAsPrinted(self._at(block.line, f"fails:\n{answer['failed']}"))
        self._compare(block.line, block.shown, answer["printed"])

    def _start(self, line: int, text: str) -> None:
        """Start what stays up, and wait until it has said something."""
        said = self._kept / f"up-{len(self._up)}"
        with said.open("wb") as output:
            self._up.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec {text}"],
                    cwd=self._in_cwd("."),
                    env=self._variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        until = time.monotonic() + PATIENCE
        while not said.stat().st_size:
            if self._up[-1].poll() is not None or time.monotonic() > until:
                raise NotAsPrinted(self._at(line, f"does not stay up:\n{text}"))
            time.sleep(0.05)
        time.sleep(0.1)
        if self._up[-1].poll() is not None:
            raise NotAsPrinted(self._at(line, f"does not stay up:\n{said.read_text()}"))

    def _compare(self, line: int, shown: str | None, printed: str) -> None:
        if shown is None:
            return
        seen = self._adapted.seen(without_heartbeat(printed))
        if not matches(shown, seen):
            difference = "\n".join(
                difflib.unified_diff(
                    _lines(shown), _lines(seen), "on the page", "printed", lineterm=""
                )
            )
            raise NotAsPrinted(self._at(line, f"prints something else:\n{difference}"))

    def _in_cwd(self, name: str) -> Path:
        return Path(self._variables["PWD"]) / name

    def _at(self, line: int, words: str) -> str:
        return f"{self._page.name}:{line} {words}"

    def _leave(self) -> None:
        if self._prompt is not None:
            self._prompt.terminate()
            with self._prompt:  # closes its pipes and waits for it
                pass
        for process in self._up:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)


def matches(shown: str, printed: str) -> bool:
    r"""Return whether what was printed is what is shown; `...` stands for anything.

    >>> matches("a ... d\n...", "a b\nc d\nand more")
    True
    >>> matches("a", "a and more")
    False
    """
    parts = "\n".join(_lines(shown)).split("...")
    pattern = ".*".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, "\n".join(_lines(printed)), flags=re.DOTALL) is not None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def follow(page: Page, folder: Path, adapted: Adapted | None = None) -> None:
    """Follow a page in an empty directory.

    Raises:
        NotAsPrinted: something failed, or printed something else.
        BadPage: it cannot be followed at all.
    """
    if not any(block.runs for block in page.blocks):
        return
    if page.needs is None:
        raise BadPage(f"{page.name} does not say what it needs")
    Reader(page, folder, adapted or Adapted({})).follow()
