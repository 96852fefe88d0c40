"""Find classes by name: in a catalogue, or as "module:Class".

"module:Class" imports a module, and so runs its code. It is accepted in calls and on the command
line; in the file of a run or a sweep only if the user says so, because the file may be somebody
else's; never in stored descriptions.
"""

from __future__ import annotations

import difflib
import numbers
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from affinity_bandits.base import checks
from affinity_bandits.base.errors import AffinityError, InvalidInput, UnknownName, shown

COMMA = re.compile(r",(?![^\[]*\])")  # not inside of brackets
WITH_SETTINGS = (
    "or a table with a name and settings, such as {'name': 'elimination', 'offset': 3} (on the "
    "command line, elimination:offset=3)"
)
LONGEST = 300
"""Characters that are shown of what somebody else's error says."""
_limit: ContextVar[tuple[Collection[str], str] | None] = ContextVar("_limit", default=None)
"""The only "module:Class" that may be imported, and the rule for errors; None: any."""
_folders: list[str] = []
"""Where else modules are looked for once one is named: none, or the current folder."""
COMMANDS = {"policy": "policies", "bias": "biases", "noise": "noises"}
"""The command that lists the classes of each kind."""


class NotImported(InvalidInput):
    """A "module:Class" in a place whose author the user need not know."""


@contextmanager
def importing_only(allowed: Collection[str], way_out: str) -> Iterator[None]:
    """Import no module for a "module:Class" until the block ends; raise `NotImported` instead.

    Args:
        allowed: the exceptions, as "module:Class".
        way_out: what the user can do, for errors.
    """
    rule = f"the name of a class of this package ({way_out})"
    token = _limit.set((allowed, rule))
    try:
        yield
    finally:
        _limit.reset(token)


def named_places(value: Any) -> frozenset[str]:
    """Return every "module:Class" in a description, at any depth."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return frozenset().union(*map(named_places, value))
    return frozenset([value] if is_place(value) else [])


def read_number(parameter: str, text: str) -> float | int:
    """Return a number; 1e6 is a whole number."""
    digits = text.strip().replace("_", "")
    if digits.lstrip("+-").isdecimal() and len(digits) < 1000:
        return int(digits)  # a float would round a long seed
    try:
        value = float(digits)
    except ValueError:
        raise InvalidInput(parameter, "a number", text) from None
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def parse_settings(parameter: str, text: str, *, places: bool = True) -> dict[str, Any]:
    """Return the table that NAME or NAME:key=value,key=value is short for on the command line.

    NAME may be module:Class if `places` is true. A dotted key sets a nested value:
    "clipped:base.name=power,base.alpha=2,low=0.1". Brackets hold a list: "initial_pulls=[100,10]".
    """
    name, _, rest = text.partition(":")
    word, _, after = rest.partition(":")
    if places and word.strip() and "=" not in word and "," not in word:
        name, rest = f"{name.strip()}:{word.strip()}", after
    settings: dict[str, Any] = {"name": name.strip()}
    for part in filter(None, (part.strip() for part in COMMA.split(rest))):
        key, equals, value = part.partition("=")
        if not equals:
            raise InvalidInput(parameter, "spelled NAME:key=value,key=value", text)
        inner = settings
        *outer, last = key.strip().split(".")
        for step in outer:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise InvalidInput(parameter, f"a table at {step!r}, not a value", text)
        if not outer and last == "name":
            raise InvalidInput(parameter, "named before the colon only", text)
        inner[last] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in text[1:-1].split(",")]
    if text in ("true", "false"):
        return text == "true"
    try:
        return read_number("value", text)
    except InvalidInput:
        return text


def is_place(name: object) -> bool:
    """Return whether a name is of the form "module:Class"."""
    return isinstance(name, str) and ":" in name


def look_in_current_folder() -> None:
    """Find modules in the current folder, too, as `python -m` does, once one is named.

    Only then, because a file there may have the name of a module that others import. Workers
    inherit it.
    """
    if not sys.flags.safe_path:
        _folders[:] = [str(Path.cwd())]


def place_of(found: Any) -> str:
    """Return where a class or function is, as "module:Class"."""
    named = found if hasattr(found, "__qualname__") else type(found)
    module = "__main__" if named.__module__ == "__mp_main__" else named.__module__
    return f"{module}:{named.__qualname__}"


def import_object(kind: str, place: str) -> Any:
    """Import the object of a "module:Class".

    Raises:
        InvalidInput: the module or the name is missing, or the module raises; says which.
    """
    module_name, _, path = place.partition(":")
    words = [*module_name.split("."), *path.split(".")]
    if not all(word.isidentifier() for word in words):
        raise InvalidInput(kind, f"a name, module:Class, {WITH_SETTINGS}", place)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        outer = [module_name[:at] for at, letter in enumerate(module_name) if letter == "."]
        if error.name not in (module_name, *outer):  # it is there, and what it imports is not
            raise _broken(kind, place, module_name, error) from error
        rule = (
            f"in a module that can be imported; there is no module {error.name!r} (not "
            f"module:Class? Give {WITH_SETTINGS})"
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
    ours = str(Path(__file__).parents[1])
    lines = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((ours, "<frozen")) and "importlib" not in frame.filename
    ]
    where = f" ({Path(lines[-1].filename).name}, line {lines[-1].lineno})" if lines else ""
    return f"{type(error).__name__}{f': {words}' if words else ''}{where}"


def own(kind: str, what: str, call: Callable[[], Any]) -> Any:
    """Call code of a user's own; report its error in one line.

    Raises:
        InvalidInput: it raised an error from outside this package.
    """
    try:
        return call()
    except AffinityError:
        raise
    except Exception as error:
        raise InvalidInput(kind, f"one whose {what} raises nothing", cause(error)) from error


def is_own(cls: type) -> bool:
    """Return whether a class is a user's own, from outside this package."""
    return cls.__module__.partition(".")[0] != __name__.partition(".")[0]


ClassT = TypeVar("ClassT", bound=type)
Own = TypeVar("Own", bound=type)


@dataclass(frozen=True)
class Description:
    """A frozen dataclass with a name whose fields are its settings."""

    name: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON-ready data.

        Raises:
            InvalidInput: an attribute is no field, so that two settings would look the same; a
                setting is no plain data; or a class assigns a setting that instances ignore.
        """
        settings = {item.name: _plain(item.name, getattr(self, item.name)) for item in fields(self)}
        slots = [name for cls in type(self).__mro__ for name in _slots(cls) if hasattr(self, name)]
        for name in (*vars(self), *slots):
            derived = isinstance(getattr(type(self), name, None), cached_property)
            if name not in settings and not derived:
                rule = (
                    f"a field of class {type(self).__name__}, or descriptions with different "
                    f"values would look the same: write @dataclass(frozen=True) above the class "
                    f"and the line '{name}: {type(getattr(self, name)).__name__}' in it, in place "
                    f"of __init__"
                )
                raise InvalidInput(name, rule, getattr(self, name))
        for item in fields(self):
            _check_default(type(self), item)
        return {"name": self.name, **settings}

    def __str__(self) -> str:
        """Return the name and the settings, as tables and pictures show them."""
        settings = [f"{item.name}={getattr(self, item.name):g}" for item in fields(self)]
        return f"{self.name}({', '.join(settings)})" if settings else self.name

    def _set(self, **values: Any) -> None:
        """Store validated values; only for `__post_init__`."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check(self, check: Callable[..., Any], *settings: str, **limits: Any) -> None:
        """Validate settings with a function of `checks`; only for `__post_init__`."""
        for name in settings:
            self._set(**{name: check(name, getattr(self, name), **limits)})

    def _check_optional(self, check: Callable[..., Any], *settings: str, **limits: Any) -> None:
        """Validate those of the settings that are not None; only for `__post_init__`."""
        given = (name for name in settings if getattr(self, name) is not None)
        self._check(check, *given, **limits)


class Registry(dict[str, ClassT]):
    """The classes of one kind by name, which users can extend.

    Args:
        kind: "policy", "bias" or "noise".
        base: the base of every class.
        rule: the requirement on a class, for error messages.
        classes: those to begin with.
    """

    def __init__(
        self, kind: str, base: type | tuple[type, ...], rule: str, classes: Iterable[ClassT]
    ) -> None:
        super().__init__((cls.name, cls) for cls in classes)  # type: ignore[attr-defined]
        self.kind, self.base, self.rule = kind, base, rule
        self.unlisted: dict[str, Any] = {}  # what `find` knows besides

    def register(self, cls: Own) -> Own:
        """Add a class of your own; also works as a decorator.

        Every process that builds it from its name must register it: each server process of a
        service, and every program that replays its trail.

        Raises:
            InvalidInput: the class is of another kind, or its name is missing or taken.
        """
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise InvalidInput(self.kind, self.rule, cls)
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not name or is_place(name):
            rule = f"a word without a colon (a class variable of {cls.__name__})"
            raise InvalidInput("name", rule, name)
        before = self.get(name)
        # A class that is defined again, as in a notebook, replaces itself.
        if before is not None and place_of(before) != place_of(cls):
            raise InvalidInput("name", f"not taken ({before.__name__} has it)", name)
        self[name] = cls  # type: ignore[assignment]
        return cls

    def add(self, found: Any) -> Any:
        """Add an imported object; return it."""
        return self.register(found)

    def find(self, name: Any, *, imports: bool = False) -> Any:
        """Return the class with a name, importing and adding it if necessary.

        Args:
            name: a registered name, or "module:Class".
            imports: whether "module:Class" is imported.

        Raises:
            UnknownName: the name is unknown.
            NotImported: "module:Class" is not to be imported (`importing_only`).
            InvalidInput: the class cannot be imported, or is of another kind.
        """
        limit = _limit.get()
        if is_place(name) and imports and limit is not None and name not in limit[0]:
            raise NotImported(self.kind, limit[1], name)
        for known in (self, self.unlisted):
            if name in known:
                return known[name]
        if is_place(name) and imports:
            sys.path[:0] = [folder for folder in _folders if folder not in sys.path]
            return self.add(import_object(self.kind, name))
        raise UnknownName(self.kind, name, self, f"'affinity {COMMANDS[self.kind]}'")

    def build(
        self,
        data: Mapping[str, Any] | str,
        functions: Mapping[str, Callable[..., float]] | None = None,
        *,
        imports: bool = False,
    ) -> Any:
        """Build a description from its name or from `to_json`.

        Args:
            data: the name, or a table with a "name" and settings.
            functions: the user's functions by label, for descriptions of kind "custom".
            imports: whether a name may be "module:Class", which is then imported.
        """
        if isinstance(data, str):
            data = {"name": data}
        given = checks.table(self.kind, data)
        name = given.pop("name")
        cls = self.find(name, imports=imports)
        if name == "custom":
            known = dict(functions or {})
            label = given.get("label")
            if label not in known:
                if known:
                    raise UnknownName(f"{self.kind} label", label, known)
                argument = "samplers" if self.kind == "noise" else "functions"
                rule = f"the label of a function that you pass: {argument}={{{shown(label)}: f}}"
                raise InvalidInput(f"{self.kind} label", rule, label)
            given = {fields(cls)[0].name: known[label], **given}
        checks.settings(f"parameter of {self.kind} {name}", cls, given)
        return own(self.kind, "constructor", lambda: cls(**given))


def _slots(cls: type) -> tuple[str, ...]:
    """Return the attributes that a class keeps outside of `__dict__`."""
    names = vars(cls).get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)


def _check_default(cls: type, item: Field[Any]) -> None:
    """Check that no class assigns a value to a setting whose default is that of a base."""
    bases = list(cls.__mro__)
    setter = next((one for one in bases if item.name in vars(one)), None)
    if setter is None:
        return
    later = bases[bases.index(setter) + 1 :]
    if any(vars(one).get("__dataclass_fields__", {}).get(item.name) is item for one in later):
        value = vars(setter)[item.name]
        rule = (
            f"set as a field of class {setter.__name__}, which otherwise keeps the default of its "
            f"base: write @dataclass(frozen=True) above the class and "
            f"'{item.name}: {type(value).__name__} = {value!r}' in it"
        )
        raise InvalidInput(item.name, rule, value)


def _plain(name: str, value: Any) -> Any:
    """Return a setting as JSON-ready data; numbers of numpy become Python's."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, tuple | list):
        return [_plain(name, one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(name, one) for key, one in value.items()}
    raise InvalidInput(name, "a number, a flag, a word, or a tuple of these", value)
