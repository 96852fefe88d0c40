"""Mutants that measure the tests: every one can be run, and a seed draws the same ones again."""

from __future__ import annotations

import ast

import pytest
from bench.mutants import PACKAGE, WEIGHTS, draw_mutants, find_mutants


@pytest.mark.parametrize(
    ("file", "least"),
    [("planning/runs.py", 150), ("policies/members.py", 40), ("service/core/scores.py", 60)],
)
def test_every_mutant_is_another_program(file: str, least: int) -> None:
    source = (PACKAGE / file).read_bytes()
    mutants = find_mutants(file)
    assert len(mutants) >= least
    tree = ast.dump(ast.parse(source))
    for one in mutants:
        assert ast.dump(ast.parse(one.apply(source))) != tree, one


def test_a_mutant_of_sql_changes_its_own_line() -> None:
    file = "service/store/sql/ask_function.sql"
    source = (PACKAGE / file).read_bytes()
    before = source.splitlines()
    for one in find_mutants(file):
        after = one.apply(source).splitlines()
        assert [row for row in range(len(before)) if before[row] != after[row]] == [one.line - 1]


@pytest.mark.slow
def test_a_seed_draws_the_same_mutants_again() -> None:
    drawn = draw_mutants(7, 60)
    assert drawn == draw_mutants(7, 60)
    assert drawn != draw_mutants(8, 60)
    assert len({(one.file, one.line) for one in drawn}) == 60
    # These files have a quarter of the weight; fewer than 5 of 60 has probability 3e-4.
    assert sum(one.file.startswith(tuple(WEIGHTS)) for one in drawn) >= 5
