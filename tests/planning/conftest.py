"""What the tests of plans share."""

from __future__ import annotations

import pytest

from affinity_bandits.planning import Plan, make_plan

from .assumed import TINY


@pytest.fixture(scope="session")
def tiny() -> Plan:
    return make_plan(TINY, progress=False)
