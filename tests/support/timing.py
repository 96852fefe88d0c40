"""Which tests take long, and whether they have the mark that says so: a plugin of pytest.

    python -m pytest -n 2 -p tests.support.timing tests

It prints the tests that take more than LIMIT and lack the mark `slow`, those that have the mark
and take less, and what each directory costs. What counts is the time of the processor, of the test
and of processes that it started and saw end: the clock says little where the machine is busy.
Fixtures count for the test that first asks for them, which is by chance, so they are told apart.
"""

from __future__ import annotations

import resource
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

LIMIT = 0.3
"""Seconds of the processor that a case of a test may take without the mark."""
BEFORE = pytest.StashKey[float]()


@dataclass
class Case:
    """What a case of a test took, in seconds of the processor, and whether it is marked."""

    slow: bool = False
    call: float = 0.0
    fixtures: float = 0.0


class Timing:
    """What all tests took, as told by whichever process ran them."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = defaultdict(Case)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        case, noted = self.cases[report.nodeid], dict(report.user_properties)
        case.slow = bool(noted["slow"])
        if report.when == "call":
            case.call += float(str(noted["processor"]))
        else:
            case.fixtures += float(str(noted["processor"]))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for title, lines in (
            (f"more than {LIMIT} s, and not marked slow", self.unmarked()),
            (f"marked slow, and no case takes {LIMIT} s", self.marked()),
            ("tests, not slow, seconds of them and of their fixtures", self.directories()),
        ):
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.line(line)

    def unmarked(self) -> Iterator[str]:
        long = {id_: case.call for id_, case in self.cases.items() if not case.slow}
        for id_ in sorted(long, key=lambda id_: -long[id_]):
            if long[id_] > LIMIT:
                yield f"{long[id_]:7.2f} {id_}"

    def marked(self) -> Iterator[str]:
        tests: dict[str, float] = {}
        for id_, case in self.cases.items():
            if case.slow:
                test = id_.partition("[")[0]
                tests[test] = max(tests.get(test, 0.0), case.call + case.fixtures)
        for test, longest in sorted(tests.items()):
            if longest < LIMIT:
                yield f"{longest:7.2f} {test}"

    def directories(self) -> Iterator[str]:
        found: dict[str, list[Case]] = defaultdict(list)
        for id_, case in self.cases.items():
            found[id_.partition("::")[0].rpartition("/")[0]].append(case)
        for directory, cases in sorted(found.items()):
            quick = [case for case in cases if not case.slow]
            call = sum(case.call for case in quick)
            fixtures = sum(case.fixtures for case in quick)
            yield f"{len(cases):6} {len(quick):6} {call:7.1f} {fixtures:7.1f}  {directory}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[BEFORE] = processor()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note what a phase took; a worker's notes travel with its report."""
    report: Any = yield
    now = processor()
    slow = item.get_closest_marker("slow") is not None
    report.user_properties += [("processor", now - item.stash[BEFORE]), ("slow", slow)]
    item.stash[BEFORE] = now
    return report


def processor() -> float:
    """Return the seconds of the processor that this process and its ended children used."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist prints nothing
        config.pluginmanager.register(Timing())
