"""Tests of trails make their own campaigns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from packages.service.tests.conftest import opened_in
from tests.support.one_campaign import OneCampaign, opened


@pytest.fixture
def one(dsn: str, request: pytest.FixtureRequest) -> Iterator[OneCampaign]:
    """Where a test makes its campaign."""
    with opened_in(request.node, opened(dsn)) as found:
        yield found
