"""The databases behind a service: one, or several by name, each with tenants of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput

MAIN = "main"
"""The name of a database that is the only one."""
NAME = re.compile(r"[a-z0-9_-]{1,63}")


@dataclass(frozen=True)
class Database:
    """The addresses of a database. They are left out of `repr`, because DSNs may have passwords.

    Attributes:
        dsn: of the primary.
        read_dsn: of a replica for pages, lists and exports; None to read them from the primary.
    """

    dsn: str = field(repr=False)
    read_dsn: str | None = field(default=None, repr=False)

    @property
    def for_reading(self) -> str:
        """The DSN for reads that may be a little behind."""
        return self.read_dsn or self.dsn


Databases = Mapping[str, Database]


def databases_of(given: str | Databases) -> Databases:
    """Return databases by name; a DSN stands for the only one."""
    return {MAIN: Database(given)} if isinstance(given, str) else given


def read_databases(path: Path) -> Databases:
    """Read the databases from a TOML file with a table for each.

    Raises:
        InvalidInput: the file is not TOML, or has no database, a wrong name or a wrong entry.
    """
    found = {}
    known = [one.name for one in fields(Database)]
    for name, entry in checks.toml_file(path).items():
        if NAME.fullmatch(name) is None or not isinstance(entry, dict):
            raise InvalidInput(str(path), "a table like [europe] for each database", name)
        checks.known_keys(f"{name} in {path}", entry, known)
        if not isinstance(entry.get("dsn"), str) or not all(
            isinstance(v, str) for v in entry.values()
        ):
            # The message has no value: it may be a secret.
            raise InvalidInput(
                f"{name} in {path}", 'dsn = "...", and read_dsn as a text', list(entry)
            )
        found[name] = Database(**entry)
    if not found:
        raise InvalidInput(str(path), "a file with one or more databases", "none")
    return found
