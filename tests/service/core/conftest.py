"""Tests of the core are given a campaign, whose state follows from its trail afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.conftest import opened_in
from tests.support.one_campaign import OneCampaign, checked_campaign


@pytest.fixture
def one(dsn: str, request: pytest.FixtureRequest) -> Iterator[OneCampaign]:
    """A new campaign, as the mark `campaign` says."""
    mark = request.node.get_closest_marker("campaign") or pytest.mark.campaign().mark
    with opened_in(request.node, checked_campaign(dsn, *mark.args, **mark.kwargs)) as found:
        yield found
