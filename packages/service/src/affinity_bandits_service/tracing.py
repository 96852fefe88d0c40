"""Spans for OpenTelemetry: requests, database calls and closed rounds. Off by default.

OpenTelemetry is imported when tracing begins, and configured by its own environment variables
(OTEL_EXPORTER_OTLP_ENDPOINT, ...). Bodies and arguments of queries are never in spans.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.base.errors import MissingExtra

_provider: Any = None
_tracer: Any = None


def begin(processor: Any = None) -> None:
    """Make spans from now on, in this process.

    Args:
        processor: handles them; by default they are sent by OTLP over HTTP, in batches.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    global _provider, _tracer  # noqa: PLW0603 - a process makes spans or does not
    provider, batches, exporter = import_opentelemetry()
    _provider = provider()
    _provider.add_span_processor(batches(exporter()) if processor is None else processor)
    _tracer = _provider.get_tracer("affinity_bandits", __version__)


def import_opentelemetry() -> tuple[Any, Any, Any]:
    """Return the classes needed of OpenTelemetry.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra(
            "opentelemetry-sdk", '. ./packages/client "./packages/service[otel]"'
        ) from error
    return TracerProvider, BatchSpanProcessor, OTLPSpanExporter


def end() -> None:
    """Send the spans that are left, and stop."""
    global _provider, _tracer  # noqa: PLW0603
    if _provider is not None:
        _provider.shutdown()
    _provider = _tracer = None


@contextmanager
def timed(name: str, **attributes: str) -> Iterator[None]:
    """Time the block, if spans are made."""
    if _tracer is None:
        yield
        return
    with _tracer.start_as_current_span(name, attributes=attributes):
        yield


@contextmanager
def request_span(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[Any]:
    """Time a request as a part of its caller's trace; yield the span, if spans are made."""
    if _tracer is None:
        yield None
        return
    from opentelemetry import propagate
    from opentelemetry.trace import SpanKind

    sent = {
        name.decode(): value.decode("latin-1")
        for name, value in headers
        if name in (b"traceparent", b"tracestate")
    }
    context = propagate.extract(sent)
    with _tracer.start_as_current_span("request", context=context, kind=SpanKind.SERVER) as made:
        yield made


def name_span(span: Any, method: str, route: str, status: int) -> None:
    """Name the span of a request."""
    if span is not None:
        span.update_name(f"{method} {route}")
        span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            }
        )


def watch(connection: Any, names: Mapping[str, str]) -> None:
    """Make a span of every query of a connection, if spans are made.

    Args:
        connection: one of asyncpg's.
        names: of queries, by their text; others are called "query".
    """
    if _tracer is not None:
        connection.add_query_logger(lambda query: _record(query, names))


def _record(query: Any, names: Mapping[str, str]) -> None:
    """Make a span of a query that is over; asyncpg calls this in the context of the caller."""
    if _tracer is None:
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    name = names.get(query.query, "query")
    ended = time.time_ns()
    made = _tracer.start_span(
        f"database {name}",
        kind=SpanKind.CLIENT,
        start_time=ended - int(query.elapsed * 1e9),
        attributes={"db.system.name": "postgresql", "db.operation.name": name},
    )
    if query.exception is not None:
        made.set_status(Status(StatusCode.ERROR, type(query.exception).__name__))
    made.end(ended)
