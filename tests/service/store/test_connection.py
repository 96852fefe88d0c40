"""What is wrong with the database when a connection is opened, in words."""

from __future__ import annotations

import asyncio

import pytest

from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import connect


def test_servers_of_which_none_is_what_was_asked_for_are_away(dsn: str) -> None:
    """Between the end of a primary and the promotion of its standby, requests get 503."""
    with pytest.raises(Unavailable):
        asyncio.run(connect(f"{dsn}?target_session_attrs=standby"))
