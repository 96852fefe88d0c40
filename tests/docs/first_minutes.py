"""A newcomer's first minutes, timed: install, then type what some pages print, one after the other.

    python -m tests.docs.first_minutes [PAGE ...]

In an empty directory, in a fresh environment with nothing compiled. Prints the seconds of each
command, how much of the processor it took, and the longest time for which it said nothing; ends
with status 1 if there is a traceback, if anything is silent for more than three seconds, or if all
of it after the install takes more than three minutes.
"""

from __future__ import annotations

import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from tests.docs.pages import EVERY_PAGE, Block, read_page
from tests.docs.reader import REMEMBER, Adapted, Reader
from tests.docs.test_pages import adapted
from tests.support.environments import ROOT, pip, wheels

PAGES = ("README", "first-steps", "own-policy", "spreadsheet")
MOST_SECONDS, LONGEST_SILENCE = 180.0, 3.0


class TimedReader(Reader):
    """A reader with a watch.

    Attributes:
        took: seconds of everything that was typed.
        faults: what a newcomer would not put up with.
    """

    took = 0.0
    faults: tuple[str, ...] = ()

    def _run(self, line: int, text: str, state: Path) -> tuple[int, str, str]:
        begun, spent = time.monotonic(), _spent()
        with subprocess.Popen(
            ["bash", "-c", REMEMBER.format(text, state)],
            cwd=self._in_cwd("."),
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            said, silence = _listen(running.stdout, running.stderr)
        printed, complained = (one.decode() for one in said)
        if "Traceback" in printed + complained:
            self.faults += (self._at(line, "prints a traceback"),)
        self._note(line, text, time.monotonic() - begun, _spent() - spent, silence)
        return running.returncode, printed, complained

    def _enter(self, block: Block) -> None:
        begun, spent = time.monotonic(), _spent()
        super()._enter(block)
        # The prompt's processor time is not known before it ends; a prompt is silent as such.
        self._note(block.line, block.text, time.monotonic() - begun, _spent() - spent, 0.0)

    def _note(self, line: int, text: str, took: float, spent: float, silence: float) -> None:
        self.took += took
        if silence > LONGEST_SILENCE:
            self.faults += (self._at(line, f"says nothing for {silence:.1f} s"),)
        words = " ".join(text.split())
        short = words if len(words) <= 70 else f"{words[:67]}..."
        print(f"{took:6.1f} {spent:6.1f} {silence:6.1f}  {self._at(line, short)}", flush=True)


def _spent() -> float:
    """Return the processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _listen(*pipes: IO[bytes]) -> tuple[list[bytes], float]:
    """Return all that some pipes say, and the longest time without a word from any of them."""
    said = dict.fromkeys(pipes, b"")
    silence, last = 0.0, time.monotonic()
    with selectors.DefaultSelector() as selector:
        for one in pipes:
            selector.register(one, selectors.EVENT_READ, one)
        while selector.get_map():
            for key, _ in selector.select():
                text = os.read(key.fd, 65536)
                now = time.monotonic()
                silence, last = max(silence, now - last), now
                said[key.data] += text
                if not text:
                    selector.unregister(key.fileobj)
    return list(said.values()), silence


def main(names: list[str]) -> int:
    """Follow the pages of these names; return 1 if a newcomer would not put up with it."""
    pages = {path.stem: path for path in EVERY_PAGE}
    chosen = [read_page(pages[name]) for name in names or PAGES]
    extras = {extra for page in chosen if page.needs for extra in page.needs.extras}
    packages = {name for page in chosen if page.needs for name in page.needs.packages}
    took, faults = 0.0, ()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        core, _ = wheels(home)
        place = home / "environment"
        begun = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        wanted = f"{core}[{','.join(sorted(extras))}]"
        pip(place, "install", "--constraint", ROOT / "constraints.txt", wanted, *sorted(packages))
        print(f"install: {time.monotonic() - begun:.0f} s\n seconds, processor, longest silence")
        for page in chosen:
            (home / page.name).mkdir()
            text = pages[page.name].read_text(encoding="utf-8")
            with adapted(text) as instead:
                reader = TimedReader(page, home / page.name, Adapted(instead.instead), place)
                reader._variables |= {
                    "MPLCONFIGDIR": str(home / "fonts"),
                    "XDG_CACHE_HOME": str(home / "cache"),
                }
                reader.follow()
            took, faults = took + reader.took, faults + reader.faults
    if took > MOST_SECONDS:
        faults += (f"all of it takes {took:.0f} s",)
    print(f"in all: {took:.0f} s", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
