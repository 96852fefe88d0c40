"""What a page of the documentation tells its reader to install, to save and to type."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.environments import ROOT, Needs

NEEDS = re.compile(r"^This page needs: `(pip install [^`]+)`", flags=re.MULTILINE)
FENCE = re.compile(r"^(?P<mark>`{3,})(?P<kind>[^`\n]*)$")
NOTE = re.compile(r"<!-- (not run|stays up): (.+?) -->", flags=re.DOTALL)
SAVED = re.compile(r"`([\w.-]+)`:$")
PROMPT = "$ "
FILES = ("toml", "json")
WITH_SIMULATION = {"audit", "experiments", "gym", "plot", "ray"}
"""The extras that bring the extra `simulation` along."""
KINDS = ("console", "python", "text", *FILES, "")
"""What a block may be; directives of MyST, in braces, are not for typing."""


EVERY_PAGE = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


class BadPage(Exception):  # noqa: N818 - reads as the fact it states
    """A page that cannot be followed as it stands."""


@dataclass(frozen=True)
class Command:
    """A command after the prompt and what is printed below it."""

    line: int
    text: str
    shown: str | None
    stays_up: bool = False


@dataclass(frozen=True)
class Block:
    """A fenced block, and what the page says about it."""

    line: int
    kind: str
    text: str
    shown: str | None = None  # of Python: what the block below, or its last comments, promise
    save_as: str | None = None
    not_run: str | None = None
    stays_up: bool = False

    @property
    def runs(self) -> bool:
        """Return whether a reader is to type this."""
        typed = self.kind in ("console", "python") and self.save_as is None
        return typed and self.not_run is None


@dataclass(frozen=True)
class Page:
    """A page, cut into blocks."""

    name: str
    needs: Needs | None
    blocks: tuple[Block, ...] = field(repr=False)

    @property
    def exceptions(self) -> list[str]:
        """Return what the page excepts from being run, with its reasons."""
        return [f"{self.name}:{b.line}: {b.not_run}" for b in self.blocks if b.not_run]


def read_page(path: Path) -> Page:
    """Cut a page into its blocks.

    A page with anything to type has one line that says what to install, "This page needs:
    `pip install ...`". The comments `<!-- not run: reason -->` and `<!-- stays up: reason -->`
    before a block except it, or say that its last command goes on until the page's end. A block
    of TOML or JSON after a line that ends in "`name`:" is saved under that name, and so is one of
    Python if the name ends in `.py`; it is imported, not typed.
    """
    text = path.read_text(encoding="utf-8")
    found = NEEDS.findall(text)
    if len(found) > 1:
        raise BadPage(f"{path.name} says {len(found)} times what it needs")
    page = Page(path.stem, parse_pip(found[0]) if found else None, tuple(_blocks(path.name, text)))
    if page.needs is None and any(block.runs for block in page.blocks):
        raise BadPage(f"{path.name} has something to type and does not say what it needs")
    return page


def parse_pip(command: str) -> Needs:
    """Read `pip install '.[plot]' duckdb`.

    >>> parse_pip("pip install '.[client]' duckdb")
    Needs(extras=('client',), packages=('duckdb',))
    >>> parse_pip("pip install affinity-bandits")  # the core's extra under the name people know
    Needs(extras=('simulation',), packages=())
    """
    words = shlex.split(command, comments=True)
    extras: set[str] = set()
    packages = []
    for word in words[2:]:
        ours = re.fullmatch(r"(\.|affinity-bandits(?:-core)?)(?:\[([\w,-]+)\])?", word)
        if ours is not None:
            extras |= set((ours[2] or "").split(",")) - {""}
            if ours[1] == "affinity-bandits" or extras & WITH_SIMULATION:
                extras.add("simulation")
        elif re.fullmatch(r"[A-Za-z][\w.-]*", word):
            packages.append(word)
        else:
            raise BadPage(f"{word!r} of {command!r} is neither this package nor the name of one")
    return Needs(tuple(sorted(extras)), tuple(sorted(packages)))


def commands(block: Block) -> list[Command]:
    """Cut a console block into commands and what each prints."""
    found: list[Command] = []
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith(PROMPT):
            raise BadPage(f"line {block.line + at}: a console block begins with a command")
        begun, typed = at, lines[at].removeprefix(PROMPT)
        at += 1
        while _goes_on(typed):
            if at == len(lines):
                raise BadPage(f"line {block.line + begun}: the command does not end")
            typed += "\n" + lines[at]
            at += 1
        first = at
        while at < len(lines) and not lines[at].startswith(PROMPT):
            at += 1
        shown = "\n".join(lines[first:at]) if at > first else None
        last = block.stays_up and at == len(lines)
        found.append(Command(block.line + begun, typed, shown, stays_up=last))
    return found


def _goes_on(typed: str) -> bool:
    if typed.endswith("\\"):
        return True
    try:
        shlex.split(typed, comments=True)
    except ValueError:  # a quotation is open
        return True
    return False


def _blocks(name: str, text: str) -> list[Block]:
    lines = text.splitlines()
    found: list[Block] = []
    since = at = 0  # the prose before a block begins where the last one ended
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        opened = at
        at += 1
        while at < len(lines) and lines[at] != fence["mark"]:
            at += 1
        if at == len(lines):
            raise BadPage(f"{name}:{opened + 1}: the block does not end")
        prose = "\n".join(lines[since:opened]).strip()
        body = "\n".join(lines[opened + 1 : at])
        at += 1
        since = at
        kind = fence["kind"].strip()
        if kind.startswith("{"):
            continue
        found.append(_block(f"{name}:{opened + 1}", opened + 2, kind, body, prose))
        if kind == "text" and not prose and len(found) > 1 and found[-2].kind == "python":
            found[-2] = replace(found[-2], shown=body)
    return found


def _block(place: str, line: int, kind: str, body: str, prose: str) -> Block:
    if kind not in KINDS:
        raise BadPage(f"{place}: a block of {kind!r} would not be run; take one of {KINDS}")
    if kind not in ("console", "python") and body.startswith(PROMPT):
        raise BadPage(f"{place}: commands in a block that is not console would not be run")
    notes = dict(NOTE.findall(prose))
    last = NOTE.sub("", prose).rstrip().rpartition("\n")[2]
    save_as = SAVED.search(last) if kind in (*FILES, "python") else None
    if kind == "python" and save_as is not None and not save_as[1].endswith(".py"):
        save_as = None
    return Block(
        line,
        kind,
        body,
        shown=_last_comments(body) if kind == "python" else None,
        save_as=None if save_as is None else save_as[1],
        not_run=" ".join(notes["not run"].split()) if "not run" in notes else None,
        stays_up="stays up" in notes,
    )


def _last_comments(body: str) -> str | None:
    """Return the comments that end a block of Python: what it prints, in the README."""
    kept: list[str] = []
    for line in reversed(body.splitlines()):
        if not line.startswith("# "):
            break
        kept.insert(0, line.removeprefix("# "))
    return "\n".join(kept) or None
