"""Every answer of the service is one that its OpenAPI description announces."""

from __future__ import annotations

import pytest

from tests.service.http.fuzz import fuzz
from tests.support.web_site import scopes

REQUESTS = 5000


@pytest.mark.slow
@pytest.mark.long
def test_no_generated_request_gets_an_answer_that_the_description_does_not_know(dsn: str) -> None:
    outcome = fuzz(dsn, REQUESTS, chunk=160)
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.sent == REQUESTS, outcome.table()
    for (method, template), scope in scopes().items():
        label = f"{method} {template}"
        # A test that meets nothing but refusals would pass whatever the rest does.
        assert outcome.of(label, 2) >= (1 if scope is None else 50), outcome.table()
        assert scope is None or outcome.of(label, 4) >= 50, outcome.table()
    assert outcome.repeats >= 100
    assert outcome.events >= 300
