"""A service that another environment runs, for tests of the client where the server's code is not.

tests/install starts it with the `affinity` command of an environment that has the extra `service`
only, and says where it is in a variable.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from uuid import uuid4

VARIABLE = "AFFINITY_SERVED"
"""Names url, database, command and keys, as JSON."""
EVERYTHING = ("ask", "tell", "read", "admin")


@dataclass(frozen=True)
class Elsewhere:
    """A running server, the database behind it, and the command that manages both.

    Of the keys that may do everything there is a supply: the command takes most of a second.
    """

    url: str
    dsn: str
    command: str
    keys: list[str]

    def key(self, *scopes: str, tenant: str | None = None, **limits: float) -> str:
        """Make a key, of a new tenant unless one is named."""
        if self.keys and not (scopes or tenant or limits):
            return self.keys.pop()
        names = {"requests_per_second": "--rate", "largest_body": "--body"}
        return self._serve(
            *("keys", "add", "--tenant", tenant or uuid4().hex, "--name", "test"),
            *("--scopes", ",".join(scopes or EVERYTHING)),
            *(word for name, limit in limits.items() for word in (names[name], str(limit))),
        ).stdout.strip()

    def differences(self, campaign: str) -> tuple[str, ...]:
        """Return in what a replay differs from what is stored."""
        done = self._serve("verify", campaign, check=False)
        assert done.returncode in (0, 1), done.stderr
        return tuple(done.stdout.splitlines()) if done.returncode else ()

    def _serve(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [self.command, "serve", "--dsn", self.dsn, *words]
        return subprocess.run(command, capture_output=True, text=True, check=check, timeout=60)


@cache  # a key is used once
def served_elsewhere() -> Elsewhere | None:
    """Return the service that the variable names."""
    return Elsewhere(**json.loads(os.environ[VARIABLE])) if VARIABLE in os.environ else None
