"""The `affinity` command: one file per command, which parses, calls and prints."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn

from affinity_bandits.errors import AffinityError
from affinity_bandits.extras import need
from affinity_bandits.heartbeat import heartbeat
from affinity_bandits.names import look_in_current_folder


def main() -> None:
    """Run the command; a user's mistake ends in one line and status 2, never in a traceback."""
    look_in_current_folder()
    try:
        _need_what_every_command_needs()
        from affinity_bandits.cli.app import app

        with _saying_something():
            app()
    except AffinityError as error:
        _end(str(error), 2)
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        # An object store's errors have no number, only words, sometimes on several lines.
        words = error.strerror or " ".join(str(error).split())
        _end(f"{words}{place}", 2)
    except KeyboardInterrupt:
        _end("interrupted before anything was finished", 130)


def _saying_something() -> AbstractContextManager[None]:
    """Return what keeps a command from being silent where there is no terminal to draw a bar on."""
    if sys.argv[1:2] == ["serve"] or sys.stderr is None or sys.stderr.isatty():
        return nullcontext()
    return heartbeat("at work")


def _need_what_every_command_needs() -> None:
    """Say what to install before typer is imported: the package can be there without it."""
    if sys.argv[1:2] == ["serve"]:
        need("service")
    else:
        need("simulation", "numpy", "rich", "typer")


def _end(words: str, status: int) -> NoReturn:
    print(f"affinity: {words}", file=sys.stderr)
    sys.exit(status)
