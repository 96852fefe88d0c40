"""Spans of requests, queries and ends of rounds, where OpenTelemetry is installed and wanted."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from affinity_bandits.base.errors import MissingExtra
from affinity_bandits_service import tracing
from affinity_bandits_service.serving import serve
from tests.support.web_site import Site, on_site, opened

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def traced(dsn: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Play a round with spans on; return them."""
    reason = "OpenTelemetry is not installed (the extra otel of the service)"
    export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=reason)
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = memory.InMemorySpanExporter()
    begin = tracing.begin
    monkeypatch.setattr(tracing, "begin", lambda: begin(export.SimpleSpanProcessor(exporter)))

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            policy = {"name": "explore-then-commit", "pulls_per_arm": 1}
            path = f"/v1/campaigns/{await opened(client, policy=policy)}"
            sent = {"traceparent": PARENT}
            lease = (await client.post(f"{path}/ask", json={"count": 2}, headers=sent)).json()
            answers = [{"slot": slot, "score": slot} for slot in range(2)]
            told = await client.post(
                f"{path}/tell", json={"lease": lease["lease"], "answers": answers}
            )
            assert told.json()["counted"] == 2
            assert (await client.get("/v1/nowhere")).status_code == 404
            found.extend(exporter.get_finished_spans())

    found: list[Any] = []
    on_site(dsn, work, traces=True)
    return found


def test_requests_queries_and_ends_of_rounds_have_spans(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = traced(dsn, monkeypatch)
    by_name = {one.name: one for one in spans}
    asked = by_name["POST /v1/campaigns/{campaign}/ask"]
    assert asked.attributes["http.response.status_code"] == 200
    assert asked.parent.span_id == int(PARENT.split("-")[2], 16)
    assert f"{asked.context.trace_id:032x}" == PARENT.split("-")[1]
    assert by_name["database ask"].end_time > by_name["database ask"].start_time
    # The request and the look every second may both try to close it; one of them does.
    closings = {one.context.span_id for one in spans if one.name == "close round"}
    within = [one.name for one in spans if one.parent and one.parent.span_id in closings]
    assert {"database take_sums", "database close_round"} <= set(within)
    assert by_name["GET other"].attributes["http.response.status_code"] == 404


def test_no_span_quotes_an_argument_or_a_body(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {
        *("http.request.method", "http.route", "http.response.status_code"),
        *("db.system.name", "db.operation.name", "campaign"),
    }
    for one in traced(dsn, monkeypatch):
        assert set(one.attributes) <= allowed
        assert not one.events


def test_without_the_packages_the_command_says_what_to_install(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtra):
        tracing.import_opentelemetry()  # before the service, which would else run for ever
    with pytest.raises(MissingExtra, match=r'"\./packages/service\[otel\]"'):
        serve(dsn, port=0, traces=True)


async def test_without_the_setting_there_is_nothing(at: Site) -> None:
    async with at.client() as client:
        assert (await client.get("/openapi.json")).status_code == 200
    assert tracing._tracer is None
