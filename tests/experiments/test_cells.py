"""Cells are identified by their content."""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.experiments import Cell, Experiment
from affinity_bandits.policies import EXP3, UCB1, DebiasedUCBV, Elimination

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
CELLS = (
    Cell(BANDIT, UCB1(), 500, (10, 100)),
    Cell(BANDIT, EXP3(), 500),
    Cell(BANDIT, Elimination(), 10**9, (10**6,)),
)


def test_a_cell_is_its_content() -> None:
    again = Cell.from_json(CELLS[0].to_json())
    assert again.identity == CELLS[0].identity
    others = {cell.identity for cell in CELLS}
    changed = [
        Cell(BANDIT, UCB1(), 501, (10, 100)),
        Cell(BANDIT, UCB1(1.0), 500, (10, 100)),
        Cell(BANDIT, UCB1(), 500, (10, 100), seed=1),
        Cell(BANDIT, UCB1(), 500, (10, 101)),
    ]
    assert len(others | {cell.identity for cell in changed}) == 7
    assert len(Experiment((CELLS[0], again, CELLS[1]), 5).cells) == 2


def test_the_package_version_is_part_of_the_identity_and_not_of_the_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = Cell(BANDIT, UCB1(), 500)
    identity = before.identity
    monkeypatch.setattr("affinity_bandits.experiments.cells.__version__", "99.0")
    after = Cell(BANDIT, UCB1(), 500)
    assert after.identity != identity
    assert before.stream_seed == after.stream_seed


@pytest.mark.parametrize(
    ("cell", "seed"),
    [
        (CELLS[0], "ebe166ef2e00ad78a6c8cb670c47815f"),
        (CELLS[1], "6c82586652293636062589b37dcad32f"),
        (Cell(BANDIT, DebiasedUCBV(Power(1.0)), 100), "45ca54146295f28e17862a75390f2108"),
    ],
)
def test_the_streams_of_a_cell_stay_as_they_are(cell: Cell, seed: str) -> None:
    assert cell.stream_seed.to_bytes(16, "little").hex() == seed
