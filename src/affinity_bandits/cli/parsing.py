"""Parse command-line options and TOML files into settings, which are validated elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput


def number(parameter: str, text: str) -> float | int:
    """Return the number that a word spells; 1e6 is a whole number."""
    digits = text.strip().replace("_", "")
    if digits.lstrip("+-").isdecimal() and len(digits) < 1000:
        return int(digits)  # not by way of a float, which would round a long seed
    try:
        value = float(digits)
    except ValueError:
        raise InvalidInput(parameter, "a number", text) from None
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def numbers(parameter: str, text: str) -> list[float | int]:
    """Return the numbers of a comma-separated list."""
    return [number(f"{parameter}[{i}]", part) for i, part in enumerate(text.split(","))]


def described(parameter: str, text: str, *, places: bool = True) -> dict[str, Any]:
    """Return the settings spelled as NAME or NAME:key=value,key=value.

    NAME may be module:Class, if there are such places.

    A dotted key sets something inside: "clipped:base.name=power,base.alpha=2,low=0.1".
    """
    name, _, rest = text.partition(":")
    word, _, after = rest.partition(":")
    if places and word.strip() and "=" not in word and "," not in word:
        name, rest = f"{name.strip()}:{word.strip()}", after
    settings: dict[str, Any] = {"name": name.strip()}
    for part in filter(None, (part.strip() for part in rest.split(","))):
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


def given(**settings: Any) -> dict[str, Any]:
    """Return the settings that were given at all."""
    return {key: value for key, value in settings.items() if value is not None}


def read_toml(
    path: Path, known: Mapping[str, tuple[str, ...]], ignored: tuple[str, ...] = ()
) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file.

    `known` says which tables and keys there are, `ignored` which tables are left unread.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also what tomllib lets through
        raise InvalidInput(str(path), "a TOML file", str(error)) from None
    data = {table: content for table, content in data.items() if table not in ignored}
    checks.known_keys(f"table of {path}", data, known)
    for table, content in data.items():
        if not isinstance(content, dict):
            raise InvalidInput(f"{table} of {path}", "a table", content)
        checks.known_keys(f"key of [{table}] in {path}", content, known[table])
    return data


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return number("value", text)
    except InvalidInput:
        return text
