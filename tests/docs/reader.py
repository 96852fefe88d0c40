"""Follow a page: type its commands, load its Python, and compare what is printed."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Any

from tests.docs.pages import Block, Command, Page, commands, parse_pip
from tests.support.environments import MADE, ROOT, variables
from tests.support.node import BUILT, NPM_CACHE
from tests.support.quiet import without_heartbeat

PATIENCE = 900.0
"""Seconds after which a command hangs: many times what any takes on a machine of one's own."""
DATE = re.compile(r"\d{4}-\d\d-\d\d")
DRIVER = Path(__file__).with_name("typed_along.py")
REMEMBER = 'set -a -o pipefail\n{}\nstatus=$?\nenv -0 > "{}"\nexit $status'
"""Keeps the shell's variables and its directory for the next command."""


class NotAsPrinted(AssertionError):  # noqa: N818 - reads as the fact it states
    """A page does not do what it says."""


class Reader:
    """One reader with one terminal and one Python prompt, in a directory of their own.

    Args:
        page: what they read.
        folder: an empty directory.
        instead: texts of the page, such as ports in use, and what stands for them here.
        place: a real environment; by default the tests' own, with only what the page needs.
    """

    def __init__(
        self, page: Page, folder: Path, instead: dict[str, str], place: Path | None = None
    ) -> None:
        assert page.needs is not None
        self._page = page
        self._instead = instead
        self._kept = folder / "kept"
        self._kept.mkdir()
        # The files that pages name by their place in a checkout, without the package's source.
        built = shutil.ignore_patterns("_build", *BUILT)
        for name in ("docs", "clients", "examples", "research"):
            shutil.copytree(ROOT / name, folder / "here" / name, ignore=built)
        path = {"PATH": f"{place}/bin:/usr/local/bin:/usr/bin:/bin"}
        self._variables = {
            **(variables(page.needs) if place is None else path),
            "HOME": str(self._kept),
            "TMPDIR": str(self._kept),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(MADE),  # its list of fonts takes seconds to make
            "XDG_CACHE_HOME": str(MADE / "cache"),  # a plan of two pages is made once
            "npm_config_cache": str(NPM_CACHE),
            "PWD": str(folder / "here"),
        }
        self._prompt: subprocess.Popen[str] | None = None
        self._up: list[subprocess.Popen[str]] = []

    def follow(self) -> None:
        """Do everything the page says, in its order."""
        try:
            for block in self._page.blocks:
                if block.save_as is not None:
                    self._write(block.save_as, self._typed(block.text))
                elif block.kind == "console" and block.runs:
                    for command in commands(block):
                        self._type(command)
                elif block.kind == "python" and block.runs:
                    self._enter(block)
        finally:
            self._leave()

    def _type(self, command: Command) -> None:
        """Run a command; its variables and its directory hold for the next one."""
        if command.text.startswith("pip install "):
            assert self._page.needs is not None
            if not self._page.needs.covers(parse_pip(command.text)):
                self._fail(command.line, "installs what the page did not say")
            return
        text = self._typed(command.text)
        if command.stays_up:
            self._start(command.line, text)
            return
        state = self._kept / "state"
        running = self._popen(["bash", "-c", REMEMBER.format(text, state)], subprocess.PIPE)
        try:
            printed, complained = running.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # what it started, too
            running.communicate()
            self._fail(command.line, f"is not over:\n{text}")
        if running.returncode != 0:
            said = f"ends with status {running.returncode}:\n{text}\n{printed}{complained}"
            self._fail(command.line, said)
        pairs = state.read_text(encoding="utf-8").split("\0")
        self._variables = dict(pair.split("=", 1) for pair in pairs if pair)
        self._compare(command.line, command.shown, printed)

    def _enter(self, block: Block) -> None:
        """Load a block of Python from a file of its own."""
        name = self._page.name.lower().replace("-", "_")
        file = self._write(f"{name}_{block.line}.py", self._typed(block.text))
        if self._prompt is None:
            self._prompt = self._popen(["python", DRIVER], subprocess.PIPE)
        assert self._prompt.stdin is not None
        assert self._prompt.stdout is not None
        asked = json.dumps({"file": str(file), "variables": self._variables})
        print(asked, file=self._prompt.stdin, flush=True)
        answer = json.loads(self._prompt.stdout.readline() or '{"failed": "Python is gone"}')
        if "failed" in answer:
            self._fail(block.line, f"fails:\n{answer['failed']}")
        self._compare(block.line, block.shown, answer["printed"])

    def _start(self, line: int, text: str) -> None:
        """Start what stays up, and wait until it has said something."""
        said = self._kept / f"up-{len(self._up)}"
        with said.open("w") as output:
            running = self._popen(["bash", "-c", f"exec {text}"], output)
        self._up.append(running)
        until = time.monotonic() + PATIENCE
        while not said.stat().st_size and running.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.1)
        if running.poll() is not None or not said.stat().st_size:
            self._fail(line, f"does not stay up:\n{text}\n{said.read_text()}")

    def _popen(self, command: list[Any], output: int | IO[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self._variables["PWD"],
            env=self._variables,
            stdin=subprocess.PIPE if command[0] == "python" else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL if command[0] == "python" else output,
            text=True,
            start_new_session=True,
        )

    def _compare(self, line: int, shown: str | None, printed: str) -> None:
        seen = without_heartbeat(printed)
        for text, real in self._instead.items():
            seen = seen.replace(real, text)
        if shown is not None and not matches(shown, seen):
            both = (_lines(shown), _lines(seen), "on the page", "printed")
            difference = "\n".join(difflib.unified_diff(*both, lineterm=""))
            self._fail(line, f"prints something else:\n{difference}")

    def _typed(self, text: str) -> str:
        for printed, real in self._instead.items():
            text = text.replace(printed, real)
        return text

    def _write(self, name: str, text: str) -> Path:
        path = Path(self._variables["PWD"], name)
        path.write_text(text + "\n", encoding="utf-8")
        return path

    def _fail(self, line: int, words: str) -> None:
        raise NotAsPrinted(f"{self._page.name}:{line} {words}")

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
    r"""Return whether what was printed is what is shown.

    `...` stands for anything, and a date for any date: that of a plan depends on today.

    >>> matches("a ... d\n...", "a b\nc d\nand more")
    True
    >>> matches("over on 2027-08-25", "over on 2030-01-02")
    True
    >>> matches("a", "a and more")
    False
    """
    shown, printed = (DATE.sub("0000-00-00", "\n".join(_lines(text))) for text in (shown, printed))
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed, flags=re.DOTALL) is not None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def follow(
    page: Page, folder: Path, instead: dict[str, str] | None = None, place: Path | None = None
) -> None:
    """Follow a page in an empty directory, if it has anything to type.

    Raises:
        NotAsPrinted: something failed, or printed something else.
    """
    if any(block.runs for block in page.blocks):
        Reader(page, folder, instead or {}, place).follow()
