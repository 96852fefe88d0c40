"""Settings of every test, and which tests run when.

`pytest --quick` runs the fast tests of the rooms in QUICK, and the first fast test of every other
file. The marks `slow` (over 0.3 s), `long` and `nightly` stand at the tests; NIGHTLY adds to them.
"""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

pytest_plugins = ("tests.support.databases",)

QUICK = (
    "packages/client/tests/",
    "tests/audit/",
    "tests/base/",
    "tests/contracts/",
    "tests/kernels/",
    "tests/model/",
    "tests/planning/",
    "tests/policies/",
    "packages/service/tests/core/",
    "packages/service/tests/trail/",
    "tests/simulation/",
    "tests/theory/",
    "tests/test_no_import_circles.py",
    "tests/test_one_name_one_thing.py",
    "tests/test_public_names.py",
)
NIGHTLY = ("packages/service/tests/test_soak.py::test_nor_",)
"""Tests that are too long for every change; the check has others of the same kind."""

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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="the fast tests of `make quick` only")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is not asked for
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark nightly tests, choose the quick ones, and begin with the long ones."""
    for item in items:
        mark = item.get_closest_marker("nightly_but")
        left_out = mark is not None and not any(part in item.name for part in mark.args)
        if left_out or item.nodeid.startswith(NIGHTLY):
            item.add_marker(pytest.mark.nightly)
    if config.getoption("--quick"):
        chosen = list(_quick(items))
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once which test failed: the whole run takes half an hour."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nfailed: {report.nodeid}: {report.longreprtext.rpartition('E  ')[2][:300]}")


def _quick(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    seen: set[Path] = set()
    for item in items:
        if any(item.get_closest_marker(mark) for mark in ("slow", "nightly")):
            continue
        if item.nodeid.startswith(QUICK) or item.path not in seen:
            yield item
        seen.add(item.path)


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
