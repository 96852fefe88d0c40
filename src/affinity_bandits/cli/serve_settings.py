"""Settings of `affinity serve`: from a flag, a variable or a file, in this order.

The options of the command are the one definition: each has a variable named after it, and may be
a line of the file that `--config` names.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import unquote

import typer

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

PREFIX = "AFFINITY_"
OF_OTHERS = ("AFFINITY_KEY", "AFFINITY_URL")
"""Variables that callers of the service use, as the documentation does."""
KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "float": (int, float),
    "boolean": (bool,),
}
RULES = {
    "text": "a text",
    "integer": "a whole number",
    "float": "a number",
    "boolean": "true or false",
}
SOURCES = {"COMMANDLINE": "flag", "ENVIRONMENT": "variable", "DEFAULT_MAP": "file"}


@dataclass(frozen=True)
class Setting:
    """One setting: its name in a file, its flag and variable, what it is without them."""

    name: str
    flag: str
    variable: str
    default: str
    kind: str
    help: str


def settings_of(command: Any) -> list[Setting]:
    """Return the settings of a command: its options that have a variable."""
    # Kinds are read from the function itself: what typer makes of it changes with its versions.
    hints = get_type_hints(inspect.unwrap(command.callback))
    found = []
    for option in command.params:
        if option.name in hints and option.envvar is not None:
            types = get_args(hints[option.name]) or (hints[option.name],)
            kind = next((name for name, one in KINDS.items() if one[-1] in types), "text")
            default = json.dumps(option.default) if kind == "boolean" else str(option.default)
            parts = (option.name, option.opts[0], option.envvar, default, kind, option.help)
            found.append(Setting(*parts))
    return found


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take what a file says for the defaults of a command's options.

    Raises:
        InvalidInput: the file is no TOML, or has a name that is no setting, or a value that
            is not of the setting's kind.
    """
    if path is None or context.resilient_parsing:
        return path
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also what tomllib lets through
        raise InvalidInput(str(path), "a TOML file", str(error)) from None
    known = {one.name: one for one in settings_of(context.command) if one.name != "config"}
    checks.known_keys(f"setting in {path}", data, known)
    for name, value in data.items():
        kind = known[name].kind
        if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
            # A value of the wrong kind may be a secret all the same.
            raise InvalidInput(f"{name} in {path}", RULES[kind], type(value).__name__)
    context.default_map = data
    return path


def unknown_variables(command: Any, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give each variable that looks like a setting and is none, and the closest one or ''."""
    known = {one.variable for one in settings_of(command)}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known and name not in OF_OTHERS:
            close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.7)
            yield name, close[0] if close else ""


def warn_of_variables(context: typer.Context) -> None:
    """Say on stderr which variables are taken for settings and are none: a line of JSON each.

    A line of the log, since the service's log is read by programs.
    """
    for name, close in unknown_variables(context.command, os.environ):
        line = {"level": "warning", "event": "unknown setting", "variable": name}
        line |= {"did_you_mean": close} if close else {}
        print(json.dumps(line), file=sys.stderr, flush=True)


def lines(context: Any) -> Iterator[str]:
    """Give each setting as it is for this command line: name, value, and where it is from."""
    for one in settings_of(context.command):
        source = context.get_parameter_source(one.name)
        where = SOURCES.get("" if source is None else source.name, "default")
        value = context.params.get(one.name)
        if one.name == "dsn":
            value = _without_password(str(value))
        shown = json.dumps(value) if isinstance(value, bool) else str(value)
        yield f"{one.name:<20} {shown}  ({where})"


def _without_password(dsn: str) -> str:
    # Only what surely has none is shown: a URL in which no colon comes before the user's @.
    if re.fullmatch(r"postgres(ql)?://([^:@/?#]*@)?[^@]*", dsn) and "password" not in unquote(dsn):
        return dsn
    return "(not shown: it may have a password)"
