"""The `affinity` command: each command parses options, calls the library and prints."""

from __future__ import annotations

import sys
import traceback
import warnings
from contextlib import nullcontext
from typing import NoReturn

from affinity_bandits.base.errors import AffinityError
from affinity_bandits.base.progress import heartbeat
from affinity_bandits.base.registry import look_in_current_folder
from affinity_bandits.kernels.pack import use_pack

DEBUG = "--debug"
QUICK = {"show", "app", "plan", "audit", "simulate"}
"""Commands that people wait for: they use machine code that came with the package."""


def main() -> None:
    """Run the command; a user's mistake prints a few lines and exits with status 2.

    With `--debug` anywhere among the arguments, it also prints the traceback and its causes.
    """
    # One line for people; where in the code it was raised is for programmers.
    warnings.formatwarning = lambda message, *_, **__: f"affinity: {message}\n"
    debug = DEBUG in sys.argv
    sys.argv = [word for word in sys.argv if word != DEBUG]
    look_in_current_folder()
    if QUICK.intersection(sys.argv[1:2]):
        use_pack()
    try:
        from affinity_bandits.cli.app import app

        bars = sys.stderr is None or sys.stderr.isatty()
        # On a terminal, commands show how far they are; beside them, only delays are said.
        words = "" if bars or sys.argv[1:2] == ["app"] else "at work"
        with nullcontext() if sys.argv[1:2] == ["serve"] else heartbeat(words):
            app()
    except AffinityError as error:
        if debug:
            error.__suppress_context__ = False
            traceback.print_exc()
        _end(str(error), 2)
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        # Errors of object stores have only a message, sometimes of several lines.
        words = error.strerror or " ".join(str(error).split())
        _end(f"{words}{place}", 2)
    except KeyboardInterrupt:
        _end("interrupted before anything was finished", 130)


def _end(words: str, status: int) -> NoReturn:
    print(f"affinity: {words}", file=sys.stderr)
    sys.exit(status)
