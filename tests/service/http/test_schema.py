"""Every answer of the service is one that its OpenAPI description announces.

`python -m tests.service.http.fuzz --requests 100000` is its long form.
"""

from __future__ import annotations

import pytest

from tests.service.http.fuzz import fuzz
from tests.support.web_site import scopes

LENGTHS = [pytest.param(1_000, 3), pytest.param(2_600, 10, marks=pytest.mark.nightly)]
"""Requests in all, and at least how many to each route succeed, and are refused."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("requests", "least"), LENGTHS)
def test_no_generated_request_gets_an_answer_that_the_description_does_not_know(
    dsn: str, requests: int, least: int
) -> None:
    outcome = fuzz(dsn, requests, chunk=requests // 85)
    assert not outcome.failures, "\n".join(outcome.failures)
    assert outcome.sent == requests, outcome.table()
    for (method, template), scope in scopes().items():
        label = f"{method} {template}"
        # A test that meets nothing but refusals would pass whatever the rest does.
        assert outcome.of(label, 2) >= (1 if scope is None else least), outcome.table()
        assert scope is None or outcome.of(label, 4) >= least, outcome.table()
    assert outcome.repeats >= requests // 50
    assert outcome.events >= requests // 17
