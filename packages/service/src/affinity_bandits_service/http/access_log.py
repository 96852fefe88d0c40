"""Middleware: log and trace every request, record its metrics, turn defects into 500."""

from __future__ import annotations

import logging
import re
import secrets
from ipaddress import ip_address
from time import perf_counter
from typing import Any
from uuid import UUID

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affinity_bandits_client.messages.base import API_KEY
from affinity_bandits_service import tracing
from affinity_bandits_service.http.errors import HEAD_TOO_LARGE, UNEXPECTED, problem_response
from affinity_bandits_service.logs import REQUESTS
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import ServiceProblem

LARGEST_HEAD = 32_768
"""Bytes of a request's path and headers: as many as the documented proxy passes on."""
GONE = 499
"""The status, in the log, of a client that left before its response."""
REQUEST_ID = re.compile(rb"[!-~]{1,128}")
"""A request id that is taken over: visible ASCII, and short enough for every line of a log."""
UI = "/ui"
"""What all pages are called in the log and the metrics."""


class AccessLog:
    """The outermost middleware: logs and counts every request, and turns defects into 500.

    Args:
        app: the application inside.
        metrics: counts requests and faults.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, then log and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        request_id = _request_id(scope["headers"])
        scope["request_id"] = request_id
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                ]
            await send(message)

        with tracing.request_span(scope["headers"]) as span:
            try:
                if _head_size(scope) > LARGEST_HEAD:
                    problem = problem_response(
                        ServiceProblem(HEAD_TOO_LARGE, LARGEST_HEAD), request_id
                    )
                    await problem(scope, receive, sending)
                else:
                    await self._app(scope, receive, sending)
            except ClientDisconnect:
                pass
            except Exception as error:
                self._metrics.count_failure(error, request_id)
                if not status:
                    answer = problem_response(ServiceProblem(UNEXPECTED), request_id)
                    await answer(scope, receive, sending)
            finally:
                self._end(scope, status or GONE, perf_counter() - begun, request_id)
                tracing.name_span(span, scope["method"][:20], route_of(scope), status or GONE)

    def _end(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        method, route = scope["method"], route_of(scope)
        self._metrics.request(route, method, status, seconds)
        level = logging.INFO if status < 500 else logging.ERROR
        if not REQUESTS.isEnabledFor(level):
            return
        principal, fault, client = (scope.get(one) for one in ("principal", "fault", "client"))
        line: dict[str, Any] = {
            "method": method[:20],
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 3),
            "request": request_id,
            "client": _address(client),
            "key": None if principal is None else principal.key_id,
            "database": None if principal is None else principal.database,
            "tenant": None if principal is None else principal.tenant,
            "campaign": _campaign(scope),
        }
        if fault is not None:
            line["fault"] = fault.kind
        REQUESTS.log(level, "%s %s %d", line["method"], route, status, extra={"line": line})


def _head_size(scope: Scope) -> int:
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    return headers + len(scope["path"]) + len(scope["query_string"])


def _address(client: tuple[str, int] | None) -> str | None:
    """Return the address of a client, if its proxy handed on a valid one."""
    try:
        return None if client is None else str(ip_address(client[0]))
    except ValueError:
        return None


def _campaign(scope: Scope) -> str | None:
    """Return the id of the campaign that a path names, if it is one."""
    try:
        return str(UUID(scope["path_params"]["campaign"]))
    except (KeyError, ValueError):
        return None


def _request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the request id that the client sent, or a new one if that is invalid."""
    found = [value for name, value in headers if name == b"x-request-id"]
    if len(found) == 1 and REQUEST_ID.fullmatch(found[0]):
        text = found[0].decode("ascii")
        if API_KEY.search(text) is None:  # no log may have one
            return text
    return secrets.token_hex(8)


def route_of(scope: Scope) -> str:
    """Return the template of a request's route, since the path itself may contain anything."""
    route = scope.get("route")
    path = "other" if route is None else str(route.path)
    return UI if path.startswith(UI) else path
