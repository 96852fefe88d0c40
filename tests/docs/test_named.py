"""What pages and docstrings put in backticks exists: files, names, settings and commands."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.main import get_command

import affinity_bandits
from affinity_bandits.cli.app import app
from affinity_bandits.policies import POLICIES
from tests.docs.pages import EVERY_PAGE, FENCED
from tests.support.environments import ROOT

PAGES = sorted({*ROOT.glob("*.md"), *EVERY_PAGE} - {ROOT / "CHANGELOG.md"})  # whose names are gone
SOURCE = ROOT / "src" / "affinity_bandits"
CLIENT = ROOT / "packages" / "client" / "src" / "affinity_bandits_client"
SERVICE = ROOT / "packages" / "service" / "src" / "affinity_bandits_service"
MODULES = sorted(path for one in (SOURCE, CLIENT, SERVICE) for path in one.rglob("*.py"))
TICKED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
TEST = re.compile(r"(?<![\w/])(?:packages/\w+/)?tests/[\w/]*(?:\.\w+)?")
DOTTED = re.compile(r"((?:\.?[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?")
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
FILES = set(
    re.findall(r"\w+", "csv dta html json lock md mts npz py pyi rda toml ts txt xlsx yaml")
)
"""How a name ends that is a file and not an attribute."""
MADE = ("docs/_build/", "docs/measured/NAME.json", "my_policy.py")
"""Files that a command writes, that stand for many, or that the reader is told to write."""
SEARCHED = ("src", "packages", "tests", "checks", "research", "examples", "deploy", ".ci", "docs")
ELSEWHERE = re.compile(r"(FORWARDED|NUMBA|OAUTH2|OTEL)_")
"""Variables of other programs."""
ROOMS = (
    "affinity_bandits",
    "affinity_bandits.base",
    "affinity_bandits.kernels",
    "affinity_bandits.model",
    "affinity_bandits_service",
    "affinity_bandits_client",
)
"""Where a name may begin that does not say where it is."""


def ticked(text: str) -> list[list[str]]:
    """Return what stands in backticks, line by line; blocks of code are left out."""
    return [TICKED.findall(line) for line in FENCED.sub("", text).splitlines()]


# Files.


def missing_files(text: str) -> list[str]:
    rooms = [ROOT, SOURCE, SERVICE, SOURCE / "model", SOURCE / "base", CLIENT]
    first = {path.name for room in rooms for path in room.iterdir() if path.is_dir()}
    named = {
        word for line in ticked(text) for word in line if re.fullmatch(r"[\w.-]+/[\w./-]*", word)
    }
    named = {word for word in named if word.split("/")[0] in first} | set(TEST.findall(text))
    return [
        word
        for word in sorted(named)
        if not any(made in word for made in MADE)
        and not any((room / f"{word}{end}").exists() for room in rooms for end in ("", ".py"))
    ]


# Names.


@cache
def module(path: str) -> ModuleType | None:
    try:
        return import_module(path)
    except ModuleNotFoundError:
        return None


def attribute(found: Any, name: str) -> Any:
    """Return an attribute, a module of a package, or the class of a module that has it."""
    if hasattr(found, name):
        return getattr(found, name)
    if isinstance(found, type):
        return next((base for base in found.__mro__ if name in inspect.get_annotations(base)), None)
    if not isinstance(found, ModuleType):
        return None
    inside = module(f"{found.__name__}.{name}")
    if inside is not None or found is affinity_bandits:
        return inside
    classes = [one for _, one in inspect.getmembers(found, inspect.isclass)]
    return next((one for one in classes if attribute(one, name) is not None), None)


def beginnings(word: str) -> Iterator[Any]:
    """Return what the first word of a dotted name may mean: a module, or a public class."""
    if word in (*ROOMS, "checks", "research"):
        yield import_module(word)
    yield from filter(None, (module(f"{room}.{word}") for room in ROOMS))
    if word in affinity_bandits.__all__:
        yield getattr(affinity_bandits, word)


def exists(name: str) -> bool:
    first, *rest = name.split(".")
    starts = list(beginnings(first))
    for found in starts:
        at = found
        for word in rest:
            at = None if at is None else attribute(at, word)
        if at is not None:
            return True
    return not starts  # of something else


def missing_names(text: str) -> list[str]:
    found = []
    for line in ticked(text):
        before = ""
        for word in line:
            name = DOTTED.fullmatch(word)
            if name is None or name[1].rpartition(".")[2] in (*FILES, "NAME"):
                continue
            whole = name[1]
            if whole.startswith("."):
                whole = before.rpartition(".")[0] + whole  # `one.name`, `.another`
            if "." not in whole.strip("."):
                continue
            before = whole
            if not exists(whole) and f'"{whole}"' not in code():  # a logger, a group, a key
                found.append(word)
    return found


# Constants and variables.


@cache
def code() -> str:
    texts = [
        path.read_text(encoding="utf-8", errors="ignore")
        for folder in SEARCHED
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
        and path.suffix not in (".md", ".png")
        and path != Path(__file__)
        and not {"_build", "node_modules", "__pycache__"} & set(path.parts)
    ]
    return "\n".join(texts)


def missing_constants(text: str) -> list[str]:
    named = {word for line in ticked(text) for word in line if CONSTANT.fullmatch(word)}
    return [
        word
        for word in sorted(named)
        if not ELSEWHERE.match(word) and not re.search(rf"\b{word}\b", code())
    ]


# Settings.


def has_setting(owner: str, setting: str) -> bool:
    found = POLICIES.get(owner) or getattr(affinity_bandits, owner)
    return setting in inspect.signature(found).parameters


def wrong_settings(text: str) -> list[str]:
    """Return settings that nothing named in the same cell or sentence has."""
    public = {*POLICIES, *(name for name in affinity_bandits.__all__ if name[0].isupper())}
    found = []
    for line in FENCED.sub("", text).splitlines():
        for part in re.split(r"\||(?<=[.;:]) ", line):
            words = TICKED.findall(part)
            owners = [word for word in words if word in public]
            settings = [match[1] for word in words if (match := re.fullmatch(r"(\w+) ?=.*", word))]
            found += [
                f"{name} of {owners}"
                for name in settings
                if owners and not any(has_setting(one, name) for one in owners)
            ]
            for owner, given in re.findall(r"`([\w-]+)[:(]([^`]*)`", part):
                names = re.findall(r"(\w+)=", given) if owner in public else []
                found += [f"{name} of {owner}" for name in names if not has_setting(owner, name)]
    return found


# Commands and targets.

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def wrong_commands(text: str) -> list[str]:
    """Return commands in backticks that do not exist, or do not have one of their options."""
    words = [word for line in ticked(text) for word in line]
    made = [word for word in words if re.match(r"make [a-z-]+", word)]
    return [
        *(word for word in made if word.split()[1] not in TARGETS),
        *(word for word in words if word.startswith("affinity ") and not is_command(word)),
    ]


def is_command(typed: str) -> bool:
    command: Any = get_command(app)
    known = {"--help"}
    for word in shlex.split(typed)[1:]:
        inner = getattr(command, "commands", {})
        if word.startswith("--"):
            known |= {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in known:
                return False
        elif inner:
            if word == "COMMAND":  # any of them
                return True
            if word not in inner:
                return False
            command = inner[word]
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert missing_files(text) + missing_names(text) + missing_constants(text) == []
    assert wrong_settings(text) == []
    assert wrong_commands(text) == []


def test_what_docstrings_name_exists() -> None:
    found = {path: missing_names(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {str(path): names for path, names in found.items() if names} == {}
    commands = {path: wrong_commands(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {str(path): names for path, names in commands.items() if names} == {}


WRONG = {
    missing_files: [("`tests/test_twins.py`, `tests/docs`", "tests/test_twins.py")],
    missing_names: [
        ("`registry.described`", "registry.described"),
        ("`Live.asked()` and `Live.ask()`", "Live.asked()"),
        ("in `affinity_bandits.policies`, `.model` and `.bias`", ".bias"),
        ("`checks.soak.service` and `checks.soak.servers`", "checks.soak.servers"),
    ],
    missing_constants: [("`BEST_VERSION`, `SCHEMA_VERSION`", "BEST_VERSION")],
    wrong_settings: [
        ("`head-start-elimination` with `memory=`", "memory of ['head-start-elimination']"),
        ("`bounded=`, `judges=` of `PanelElimination`", "judges of ['PanelElimination']"),
        ("`panel-elimination:bounded=true,seats=6`", "seats of panel-elimination"),
    ],
    wrong_commands: [
        ("`affinity sweep run s.toml --executor ray` or `affinity sweep do`", "affinity sweep do"),
        ("`affinity plan --groups 2 --bias 1`", "affinity plan --groups 2 --bias 1"),
        ("`make nightly`, `make soak`", "make soak"),
    ],
}


@pytest.mark.parametrize(
    ("check", "text", "found"),
    [(check, *row) for check, rows in WRONG.items() for row in rows],
)
def test_what_is_missing_is_found(check: Callable[[str], list[str]], text: str, found: str) -> None:
    assert check(text) == [found]
