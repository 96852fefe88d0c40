"""What a page of the documentation tells its reader to install, to save and to type."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.environments import CLIENT, FOLDERS, LIBRARY, ROOT, SERVICE, Needs

NEEDS = re.compile(r"^This page needs: `(pip install [^`]+)`", flags=re.MULTILINE)
FENCED = re.compile(
    r"^(?P<mark>`{3,})(?P<kind>[^`\n]*)\n(?P<body>.*?)^(?P=mark)$", flags=re.DOTALL | re.MULTILINE
)
NOTE = re.compile(r"<!-- (not run|stays up): (.+?) -->", flags=re.DOTALL)
SAVED = re.compile(r"`([\w.-]+)`:$")
LAST_COMMENTS = re.compile(r"(?:^# .*\n)+\Z", flags=re.MULTILINE)
PROMPT = "$ "
KINDS = ("console", "python", "typescript", "text", "toml", "json", "")
"""What a block may be; directives of MyST, in braces, are not for typing."""
FILES = {"toml": "", "json": "", "python": ".py", "typescript": "ts"}
"""Blocks that may be saved, and how their file's name must end."""
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
    Python if the name ends in `.py`. One of TypeScript must be saved.

    Raises:
        BadPage: part of the page would silently not be run.
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
    """Read `pip install ".[plot]" duckdb`.

    >>> parse_pip('pip install ".[plot]" ./packages/client duckdb')
    Needs(extras=('plot',), packages=('affinity-bandits-client', 'duckdb'))

    Raises:
        BadPage: it does not work from a checkout alone.
    """
    if "'" in command:
        raise BadPage(f"{command}: take double quotes, the only ones of cmd.exe")
    extras: set[str] = set()
    packages = []
    library = False
    places = {f"./{folder}": name for name, folder in FOLDERS.items()} | {".": LIBRARY}
    for word in shlex.split(command, comments=True)[2:]:
        place, wanted = re.fullmatch(r"([^[]+)(\[[\w,-]+\])?", word).groups()  # type: ignore[union-attr]
        name = places.get(place, place)
        if name == LIBRARY:
            library = True
            extras |= set((wanted or "[]")[1:-1].split(",")) - {""}
        elif re.fullmatch(r"[A-Za-z][\w.-]*", name):
            packages.append(name + (wanted or ""))
        else:
            raise BadPage(
                f"{word!r} of {command!r} is neither a package of ours nor the name of one"
            )
    with_service = any(name.startswith(SERVICE) for name in packages)
    if with_service and not (library and CLIENT in packages):
        raise BadPage(f"{command}: name . ./{FOLDERS[CLIENT]} too, or pip looks at an index")
    return Needs(tuple(sorted(extras)), tuple(sorted(packages)))


def commands(block: Block) -> list[Command]:
    """Cut a console block into commands and what each prints."""
    found: list[Command] = []
    typing = False
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if typing:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{line}")
        elif line.startswith(PROMPT):
            found.append(Command(number, line.removeprefix(PROMPT), None))
        elif found:
            before = found[-1].shown
            found[-1] = replace(found[-1], shown=line if before is None else f"{before}\n{line}")
            continue
        else:
            raise BadPage(f"line {number}: a console block begins with a command")
        typing = _goes_on(found[-1].text)
    if typing:
        raise BadPage(f"line {found[-1].line}: the command does not end")
    found[-1] = replace(found[-1], stays_up=block.stays_up)
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
    found: list[Block] = []
    since = 0  # the prose before a block begins where the last one ended
    for fenced in FENCED.finditer(text):
        line = text.count("\n", 0, fenced.start("body")) + 1
        kind, body = fenced["kind"].strip(), fenced["body"]
        prose = text[since : fenced.start()].strip()
        since = fenced.end()
        if kind.startswith("{"):
            continue
        found.append(_block(f"{name}:{line - 1}", line, kind, body, prose))
        if kind == "text" and not prose and len(found) > 1 and found[-2].kind == "python":
            found[-2] = replace(found[-2], shown=found[-1].text)
    if re.search(r"^`{3}", FENCED.sub("", text), flags=re.MULTILINE):
        raise BadPage(f"{name}: a block does not end")
    return found


def _block(place: str, line: int, kind: str, body: str, prose: str) -> Block:
    if kind not in KINDS:
        raise BadPage(f"{place}: a block of {kind!r} would not be run; take one of {KINDS}")
    if kind not in ("console", "python") and body.startswith(PROMPT):
        raise BadPage(f"{place}: commands in a block that is not console would not be run")
    notes = dict(NOTE.findall(prose))
    saved = SAVED.search(NOTE.sub("", prose).rstrip())
    is_file = saved is not None and kind in FILES and saved[1].endswith(FILES[kind])
    if kind == "typescript" and not is_file:
        raise BadPage(f"{place}: a block of TypeScript that is not saved would not be run")
    comments = LAST_COMMENTS.search(body) if kind == "python" else None
    return Block(
        line,
        kind,
        body.removesuffix("\n"),
        shown=comments and re.sub("^# ", "", comments[0].removesuffix("\n"), flags=re.MULTILINE),
        save_as=saved[1] if saved is not None and is_file else None,
        not_run=" ".join(notes["not run"].split()) if "not run" in notes else None,
        stays_up="stays up" in notes,
    )
