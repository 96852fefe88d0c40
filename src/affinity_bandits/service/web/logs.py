"""One JSON line on standard error for every request and for whatever else there is to say.

Never in it: headers, bodies, paths as they were sent, the text of unexpected errors.
"""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

from affinity_bandits.service.problems import NeedsAttention


class RequestLog:
    """Writes lines.

    Args:
        quiet: leave out requests that did not fail by the service's own fault.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def request(
        self,
        *,
        method: str,
        route: str,
        status: int,
        seconds: float,
        request_id: str,
        key_id: str | None,
        fault: NeedsAttention | None = None,
    ) -> None:
        """Write down a request that was answered."""
        if self._quiet and status < 500:
            return
        line: dict[str, Any] = {
            "time": datetime.now(UTC),
            "level": "info" if status < 500 else "error",
            "method": method[:20],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 3),
            "request": request_id,
            "key": key_id,
        }
        if fault is not None:
            line |= {"campaign": fault.campaign, "fault": fault.kind}
        _write(line)

    def fault(self, fault: NeedsAttention) -> None:
        """Write down what is wrong with a campaign by the service's own fault, and where."""
        line = {
            "time": datetime.now(UTC),
            "level": "error",
            "event": "campaign needs attention",
            "campaign": fault.campaign,
            "kind": fault.kind,
            "reason": fault.reason,
        }
        _write(line | _without_words(fault.__cause__ or fault))

    def failure(self, error: BaseException, request_id: str | None = None) -> None:
        """Write down an error that nobody expected: its type and where it was raised."""
        line = {
            "time": datetime.now(UTC),
            "level": "error",
            "event": "unexpected error",
            "request": request_id,
        }
        _write(line | _without_words(error))


class JsonLines(logging.Formatter):
    """The records of the standard library's loggers as such lines."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            # The first line: asyncio goes on to quote errors, which may quote what a client sent.
            "event": record.getMessage().partition("\n")[0],
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= _without_words(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


def uvicorn_logging(*, quiet: bool) -> dict[str, Any]:
    """Return the logging configuration of the server's own messages."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": f"{__name__}.JsonLines"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "lines",
                "stream": "ext://sys.stderr",
            }
        },
        "loggers": {
            name: {
                "handlers": ["stderr"],
                "level": "WARNING" if quiet else "INFO",
                "propagate": False,
            }
            for name in ("uvicorn", "asyncpg", "asyncio")
        },
    }


def _without_words(error: BaseException) -> dict[str, Any]:
    # The message of an error may quote what a client sent; its place cannot.
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {
        "error": type(error).__qualname__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def _write(line: dict[str, Any]) -> None:
    # One call a line, so that lines of several processes do not mix.
    sys.stderr.write(orjson.dumps(line, default=str).decode() + "\n")
