"""What it does to a plan if judges differ: each row changes one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affinity_bandits.planning.judges_differ import unlike_worlds
from tests.planning.assumed import STARS


def test_rows_of_judges_who_differ_change_one_thing_each() -> None:
    worlds = dict(unlike_worlds(replace(STARS, judges_per_group=5)))
    alike, own, *strict, favors, lead = worlds.values()
    assert [one.judge_strictness for one in worlds.values()] == [0.0, 0.4, 0, 0, 0, 0, 0]
    assert alike.favors == (0.5, 0.5, 0.5)
    assert own.judges == 5
    assert [max(one.strictness) for one in strict] == pytest.approx([0.1, 0.2, 0.4])
    assert max(favors.favors) - min(favors.favors) == pytest.approx(0.34)
    assert favors.best == 2
    assert len(set(favors.quality)) == 1
    assert lead.quality[2] > lead.quality[0]
