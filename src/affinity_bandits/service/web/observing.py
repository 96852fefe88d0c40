"""Sees every request to its end: one line of log, two metrics, and an answer to any defect."""

from __future__ import annotations

import secrets
from time import perf_counter

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affinity_bandits.service.web.logs import RequestLog
from affinity_bandits.service.web.metrics import Metrics
from affinity_bandits.service.web.problem_json import Unexpected, problem_response
from affinity_bandits.service.web.scopes import template_of

GONE = 499
"""The status, in the log, of a client that left before it was answered."""


class Observer:
    """The outermost layer.

    Args:
        app: the rest.
        log: where lines go.
        metrics: where numbers go.
    """

    def __init__(self, app: ASGIApp, log: RequestLog, metrics: Metrics) -> None:
        self._app = app
        self._log = log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = perf_counter()
        request_id = secrets.token_hex(8)
        template = scope["template"] = template_of(scope["path"])
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

        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            pass
        except Exception as error:
            self._log.failure(error, request_id)
            self._metrics.fault("unexpected")
            if not status:
                await problem_response(Unexpected())(scope, receive, sending)
        finally:
            seconds = perf_counter() - begun
            method, route = scope["method"], template or "other"
            self._metrics.request(route, method, status or GONE, seconds)
            principal = scope.get("principal")
            self._log.request(
                method=method,
                route=route,
                status=status or GONE,
                seconds=seconds,
                request_id=request_id,
                key_id=None if principal is None else principal.key_id,
                fault=scope.get("fault"),
            )
