"""A server on the loopback that the tests of the client share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.clients import Service, running


@pytest.fixture(scope="package")
def service(dsn: str) -> Iterator[Service]:
    with running(dsn) as made:
        yield made
