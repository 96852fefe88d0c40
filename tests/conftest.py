"""Settings of every test, and turns for those that cannot share the machine with their like."""

from __future__ import annotations

import fcntl
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

pytest_plugins = ("tests.support.databases",)

settings.register_profile(
    "default",
    deadline=None,  # a first call compiles
    derandomize=True,  # a test that passes today passes tomorrow
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")

# Hypothesis also tries the constants of whichever modules of the checkout are loaded by then, so
# that what a test is given would depend on the tests before it in the same worker.
assert hasattr(providers, "is_local_module_file")
providers.is_local_module_file = lambda path: False  # there is no setting for it

# A shell's background jobs ignore SIGINT, and hand that down to every command that is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is not asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that have the mark `long`; the others stay in their order.

    Of a test with the mark `nightly_but`, the cases that it does not name are marked `nightly`.
    """
    for item in items:
        mark = item.get_closest_marker("nightly_but")
        if mark is not None and not any(part in item.name for part in mark.args):
            item.add_marker(pytest.mark.nightly)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True)
def _in_turn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests with the mark `one_at_a_time(name)` wait for others of that name, in any worker."""
    mark = request.node.get_closest_marker("one_at_a_time")
    if mark is None:
        yield
        return
    with (Path(tempfile.gettempdir()) / f"affinity-tests-{mark.args[0]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released with the process, however it ends
        yield
