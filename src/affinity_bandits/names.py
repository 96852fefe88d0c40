"""Find classes by name: in a catalogue, as "module:Class", or among installed packages.

An installed package adds to a catalogue by an entry point of the group `affinity_bandits.policies`,
`affinity_bandits.biases` or `affinity_bandits.noises`, whose name is the class's own.
"module:Class" imports a module, so it is followed where a user writes it (a call, the command line,
a file of a run or a sweep), and never where a description is read back.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affinity_bandits.errors import AffinityError, InvalidInput, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LONGEST = 300
"""Characters that are shown of what somebody else's error says."""
_folders: list[str] = []
"""Where else modules are looked for once one is named: none, or the current folder."""
GROUPS = {
    "policy": "affinity_bandits.policies",
    "bias": "affinity_bandits.biases",
    "noise": "affinity_bandits.noises",
}
"""The group of entry points of each kind."""


def is_place(name: object) -> bool:
    """Return whether a name is of the form "module:Class"."""
    return isinstance(name, str) and ":" in name


def look_in_current_folder() -> None:
    """Find modules in the current folder, too, as `python -m` does, once one is named.

    Not before: a file there may have the name of a module that others import. Workers inherit it.
    """
    if not sys.flags.safe_path:
        _folders[:] = [str(Path.cwd())]


def place_of(found: Any) -> str:
    """Return where a class or function is, as "module:Class"."""
    named = found if hasattr(found, "__qualname__") else type(found)
    module = "__main__" if named.__module__ == "__mp_main__" else named.__module__
    return f"{module}:{named.__qualname__}"


def imported(kind: str, place: str) -> Any:
    """Import what a "module:Class" stands for.

    Raises:
        InvalidInput: there is no such module, it raises, or has no such name; says which.
    """
    module_name, _, path = place.partition(":")
    words = [*module_name.split("."), *path.split(".")]
    if not all(word.isidentifier() for word in words):
        raise InvalidInput(kind, "a name, NAME:key=value or module:Class", place)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        outer = [module_name[:at] for at, letter in enumerate(module_name) if letter == "."]
        if error.name not in (module_name, *outer):  # it is there, and what it imports is not
            raise _broken(kind, place, module_name, error) from error
        rule = (
            f"in a module that can be imported; there is no module {error.name!r} (settings are "
            f"spelled {module_name}:key=value)"
        )
        raise InvalidInput(kind, rule, place) from None
    except (Exception, SystemExit) as error:
        raise _broken(kind, place, module_name, error) from error
    found: Any = module
    for word in path.split("."):
        if not hasattr(found, word):
            where = getattr(module, "__file__", None) or "which is built in"
            public = [name for name in vars(found) if not name.startswith("_")]
            close = difflib.get_close_matches(word, public, n=1, cutoff=0.5)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            rule = f"in its module; {module_name} ({where}) has no {word!r}{hint}"
            raise InvalidInput(kind, rule, place)
        found = getattr(found, word)
    return found


def _broken(kind: str, place: str, module: str, error: BaseException) -> InvalidInput:
    rule = f"in a module that imports without an error; {module} raised {cause(error)}"
    return InvalidInput(kind, rule, place)


def cause(error: BaseException) -> str:
    """Return an error in one line: its type, its words and the line of the user's file it is of."""
    words = " ".join(str(error).split())
    words = words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {words}"  # which names its file and line
    ours = str(Path(__file__).parent)
    lines = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((ours, "<frozen")) and "importlib" not in frame.filename
    ]
    where = f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""
    return f"{type(error).__name__}{f': {words}' if words else ''}{where}"


def own(kind: str, what: str, call: Callable[[], Any]) -> Any:
    """Call code of a user's own; say in one line what it raised.

    Raises:
        InvalidInput: it raised something that is not an error of this package.
    """
    try:
        return call()
    except AffinityError:
        raise
    except Exception as error:
        raise InvalidInput(kind, f"one whose {what} raises nothing", cause(error)) from error


@cache
def installed(kind: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a kind by their names."""
    from importlib.metadata import entry_points  # only those who ask for other names wait for it

    return {entry.name: entry for entry in entry_points(group=GROUPS[kind])}


def loaded(kind: str, entry: EntryPoint) -> Any:
    """Return what an entry point stands for.

    Raises:
        InvalidInput: it cannot be imported; says which package it is of.
    """
    try:
        return imported(kind, entry.value)
    except InvalidInput as error:
        package = "an installed package" if entry.dist is None else entry.dist.name
        named = InvalidInput(kind, f"{error.rule}, of {package}", entry.name)
        raise named from error


def named(
    kind: str,
    name: Any,
    known: Mapping[str, Any],
    add: Callable[[Any], Any],
    imports: bool,
) -> Any:
    """Return what a name stands for, adding it to its catalogue if it is not there yet.

    Args:
        kind: "policy", "bias" or "noise".
        name: in the catalogue, of an entry point, or "module:Class".
        known: the catalogue.
        add: checks a class and puts it there; returns it.
        imports: whether "module:Class" is imported.

    Raises:
        UnknownName: there is no such name.
        InvalidInput: what it names cannot be imported, or is of another kind.
    """
    if name in known:
        return known[name]
    if is_place(name) and imports:
        sys.path[:0] = [folder for folder in _folders if folder not in sys.path]
        return add(imported(kind, name))
    entry = installed(kind).get(name)
    if entry is None:
        raise UnknownName(kind, name, all_names(kind, known))
    return add(loaded(kind, entry))


def all_names(kind: str, known: Iterable[str]) -> list[str]:
    """Return every name of a kind: those known, then those of installed packages."""
    return list(dict.fromkeys([*known, *installed(kind)]))


def add_class(
    kind: str, found: Any, known: dict[str, Any], base: type | tuple[type, ...], rule: str
) -> Any:
    """Add a class to a catalogue under the name that it has.

    Raises:
        InvalidInput: it is of another kind, has no name, or has that of another class.
    """
    if not (isinstance(found, type) and issubclass(found, base)):
        raise InvalidInput(kind, rule, found)
    name = getattr(found, "name", None)
    if not isinstance(name, str) or not name or is_place(name):
        raise InvalidInput(
            "name", f"a word without a colon (a class variable of {found.__name__})", name
        )
    before = known.get(name)
    # The same class defined again, as in a notebook, takes its own place.
    if before is not None and place_of(before) != place_of(found):
        raise InvalidInput("name", f"not taken ({before.__name__} has it)", name)
    known[name] = found
    return found
