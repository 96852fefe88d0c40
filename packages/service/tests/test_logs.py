"""What is logged of requests are records of a logger that operators can route."""

from __future__ import annotations

import logging

from affinity_bandits_service.logs import REQUESTS
from tests.support.web_site import (
    Site,
    on_site,
)


def test_a_request_is_a_record_of_a_logger_that_operators_can_route(dsn: str) -> None:
    records: list[logging.LogRecord] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    async def work(at: Site) -> None:
        kept = Kept()
        REQUESTS.addHandler(kept)
        try:
            async with at.client() as client:
                await client.get("/v1/campaigns")
                await client.get("/nowhere")
        finally:
            REQUESTS.removeHandler(kept)

    on_site(dsn, work)
    assert [one.getMessage() for one in records] == ["GET /v1/campaigns 401", "GET other 404"]
    assert {one.name for one in records} == {"affinity_bandits_service.requests"}
