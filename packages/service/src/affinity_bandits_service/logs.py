"""Logging: named loggers of the standard library, written as lines of JSON.

Never in it: headers, bodies, paths as they were sent, the text of unexpected errors.
"""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

from affinity_bandits_service.problems import NeedsAttention

SERVICE = logging.getLogger("affinity_bandits_service")
"""What goes wrong by the service's own fault."""
REQUESTS = logging.getLogger("affinity_bandits_service.requests")
"""A record a request: an error where the service failed, else an info."""


def log_fault(fault: NeedsAttention) -> None:
    """Log a fault on a campaign, and where it was raised."""
    line = {
        "event": "campaign needs attention",
        "campaign": fault.campaign,
        "kind": fault.kind,
        "reason": fault.reason,
    }
    _error(line | _without_words(fault.__cause__ or fault))


def log_failure(error: BaseException, request_id: str | None = None) -> None:
    """Log an unexpected error: its type and where it was raised."""
    _error({"event": "unexpected error", "request": request_id} | _without_words(error))


class JsonLines(logging.Formatter):
    """A formatter that writes log records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line of JSON."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
        }
        if hasattr(record, "line"):
            line |= record.line
        else:
            # The first line: asyncio goes on to quote errors, which may quote what a client sent.
            line["event"] = record.getMessage().partition("\n")[0]
        if record.exc_info and record.exc_info[1] is not None:
            line |= _without_words(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


def log_config(*, quiet: bool) -> dict[str, Any]:
    """Return the logging configuration of `affinity serve`: lines of JSON on stderr.

    Args:
        quiet: log only requests that failed by the service's own fault.
    """
    level = "WARNING" if quiet else "INFO"
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
            name: {"handlers": ["stderr"], "level": level, "propagate": False}
            for name in (SERVICE.name, "uvicorn", "asyncpg", "asyncio")
        },
    }


def _error(line: dict[str, Any]) -> None:
    SERVICE.error(line["event"], extra={"line": line})


def _without_words(error: BaseException) -> dict[str, Any]:
    # The message of an error may quote what a client sent; its place cannot.
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {
        "error": type(error).__qualname__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
