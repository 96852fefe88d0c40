"""Every answer of the service is one that its OpenAPI description announces.

`python -m tests.service.http.fuzz --requests 100000` is its long form.
"""

from __future__ import annotations

import pytest

from tests.service.http.fuzz import fuzz
from tests.support.web_site import scopes

REQUESTS = 2_600
LEAST = 10
"""Requests to each route that succeed, and that are refused."""


@pytest.mark.slow
@pytest.mark.long
def test_no_generated_request_gets_an_answer_that_the_description_does_not_know(dsn: str) -> None:
    outcome = fuzz(dsn, REQUESTS, chunk=REQUESTS // 85)
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.sent == REQUESTS, outcome.table()
    for (method, template), scope in scopes().items():
        label = f"{method} {template}"
        # A test that meets nothing but refusals would pass whatever the rest does.
        assert outcome.of(label, 2) >= (1 if scope is None else LEAST), outcome.table()
        assert scope is None or outcome.of(label, 4) >= LEAST, outcome.table()
    assert outcome.repeats >= REQUESTS // 50
    assert outcome.events >= REQUESTS // 17
