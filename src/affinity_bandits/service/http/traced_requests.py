"""Spans of requests, where tracing is on."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affinity_bandits.service import tracing
from affinity_bandits.service.http.access_log import route_of

PASSED_ON = (b"traceparent", b"tracestate")


class TracedRequests:
    """ASGI middleware that makes a span of every request, as a part of its caller's trace.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode(): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in PASSED_ON
        }
        with tracing.request_span(headers) as span:

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, sending)
            finally:
                method, route = scope["method"][:20], route_of(scope)
                span.update_name(f"{method} {route}")
                span.set_attributes({"http.request.method": method, "http.route": route})
