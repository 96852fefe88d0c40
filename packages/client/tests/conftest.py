"""A server on the loopback that the tests of a file share.

No longer: what it does in the background would be seen by tests on the same database.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.clients import Service, running


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Service]:
    with running(dsn) as made:
        yield made
