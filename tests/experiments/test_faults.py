"""Whatever disturbs a sweep, what is finished in the end is what it would have been.

These are the short forms of `make soak-sweep`: real processes, killed; a real full disk; every
write call; damaged files. The controls take a guard out, and the same checker must find fault.
"""

from __future__ import annotations

import pytest
from soak.sweep import SHORT_NAMES, run

QUICK = ("control-labels", "control-done")


def marks(name: str) -> list[pytest.MarkDecorator]:
    alone = pytest.mark.one_at_a_time("ray")  # two clusters can be in each other's way
    return ([] if name in QUICK else [pytest.mark.slow]) + [alone] * name.endswith("-ray")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in SHORT_NAMES])
def test_nothing_is_lost_made_up_or_read_as_good(name: str) -> None:
    row = run(name)
    assert not row.violations
    assert row.kills + row.faults + row.shards > 0
    assert (row.lost, row.duplicated, row.as_good) == (0, 0, 0)
