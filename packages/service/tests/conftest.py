"""Tests that are coroutines run in the event loop in which their campaign or their site lives.

The mark `campaign(policy, horizon, ...)` says which campaign `one` is to be, `site(...)` with which
settings `at` is to run.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from typing import TypeVar

import httpx
import pytest

from tests.support.one_campaign import OneCampaign, checked_campaign
from tests.support.web_site import Site, site

T = TypeVar("T")
PATIENCE = 600.0
"""Seconds, after which a test waits for what will not come."""
RUNNER = pytest.StashKey[asyncio.Runner]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "campaign(policy, horizon, ...): what `one` is to be")
    config.addinivalue_line("markers", "site(...): settings of `at`")


@contextmanager
def opened_in(item: pytest.Item, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Open an asynchronous context in the event loop that is to run a test."""
    with asyncio.Runner() as runner:
        item.stash[RUNNER] = runner
        stack = AsyncExitStack()
        yield runner.run(stack.enter_async_context(context))
        runner.run(stack.aclose())


@pytest.fixture
def one(dsn: str, request: pytest.FixtureRequest) -> Iterator[OneCampaign]:
    """A new campaign, as the mark `campaign` says; its state follows from its trail afterwards."""
    mark = request.node.get_closest_marker("campaign") or pytest.mark.campaign().mark
    with opened_in(request.node, checked_campaign(dsn, *mark.args, **mark.kwargs)) as found:
        yield found


@pytest.fixture
def at(dsn: str, request: pytest.FixtureRequest) -> Iterator[Site]:
    """An app on a database, and clients of it."""
    mark = request.node.get_closest_marker("site")
    with opened_in(request.node, site(dsn, **mark.kwargs if mark else {})) as found:
        yield found


@pytest.fixture
def client(at: Site, request: pytest.FixtureRequest) -> Iterator[httpx.AsyncClient]:
    """A client of the app with a key of a tenant of its own, which may do everything."""
    runner = request.node.stash[RUNNER]
    made = at.client(runner.run(at.key()))
    yield made
    runner.run(made.aclose())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    run = pyfuncitem.stash[RUNNER].run if RUNNER in pyfuncitem.stash else asyncio.run
    run(asyncio.wait_for(pyfuncitem.obj(**given), PATIENCE))
    return True
