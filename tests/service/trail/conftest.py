"""Tests that are coroutines run where their campaign lives."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager

import pytest

from tests.support.one_campaign import OneCampaign, opened

RUNNER = pytest.StashKey[asyncio.Runner]()


@contextmanager
def campaigns_at(dsn: str, item: pytest.Item) -> Iterator[OneCampaign]:
    """Open connections in the event loop that is to run a test."""
    with asyncio.Runner() as runner:
        item.stash[RUNNER] = runner
        stack = AsyncExitStack()
        yield runner.run(stack.enter_async_context(opened(dsn)))
        runner.run(stack.aclose())


@pytest.fixture
def one(dsn: str, request: pytest.FixtureRequest) -> Iterator[OneCampaign]:
    """Where a test makes its campaign."""
    with campaigns_at(dsn, request.node) as found:
        yield found


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    pyfuncitem.stash[RUNNER].run(pyfuncitem.obj(**given))
    return True
