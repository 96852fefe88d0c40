"""Mutants that measure the tests: every one can be run, and a seed draws the same ones again."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from checks.bench.mutants import ROOT, WEIGHTS, Copy, draw_mutants, find_mutants, path_of


@pytest.mark.parametrize(
    ("file", "least"),
    [
        ("planning/hardest_rounds.py", 150),
        ("policies/members.py", 40),
        ("service/core/scores.py", 60),
    ],
)
def test_every_mutant_is_another_program(file: str, least: int) -> None:
    source = (ROOT / path_of(file)).read_bytes()
    mutants = find_mutants(file)
    assert len(mutants) >= least
    tree = ast.dump(ast.parse(source))
    for one in mutants:
        assert ast.dump(ast.parse(one.apply(source))) != tree, one


def test_a_mutant_of_sql_changes_its_own_line() -> None:
    file = "service/store/sql/ask_function.sql"
    source = (ROOT / path_of(file)).read_bytes()
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
    # These files have 0.32 of the weight; fewer than 8 of 60 has probability 3e-4.
    assert sum(one.file.startswith(tuple(WEIGHTS)) for one in drawn) >= 8


FILE = "policies/members.py"
ALWAYS, NEVER = "fails", "passes"
"""What a test does; or how often it fails, and passes from then on."""


class Scripted(Copy):
    """A copy whose tests are known: what each does with a mutant, and what without."""

    def __init__(self, folder: Path, tests: Mapping[str, tuple[str | int, str]]) -> None:
        super().__init__(folder)
        self.target = folder / path_of(FILE)
        self.target.parent.mkdir(parents=True)
        self.target.write_bytes((ROOT / path_of(FILE)).read_bytes())
        (folder / "tests" / "policies").mkdir(parents=True)
        self.tests, self.runs = tests, Counter[str]()

    def run_tests(self, arguments: Sequence[str]) -> str:
        mutated = self.target.read_bytes() != (ROOT / path_of(FILE)).read_bytes()
        for test, (with_it, without) in self.tests.items():
            alone = any(one.startswith("t.py") for one in arguments)
            if (alone and test not in arguments) or f"--deselect={test}" in arguments:
                continue
            self.runs[test] += mutated
            does = with_it if mutated else without
            if does == ALWAYS or (isinstance(does, int) and self.runs[test] <= does):
                return test
        return ""


@pytest.mark.parametrize(
    ("tests", "noticed"),
    [
        ({"t.py::sees it": (ALWAYS, NEVER)}, "t.py::sees it"),
        ({"t.py::sees nothing": (NEVER, NEVER)}, None),
        ({"t.py::fails anyway": (ALWAYS, ALWAYS)}, None),
        ({"t.py::failed once": (1, NEVER)}, None),
        (
            {
                "t.py::fails anyway": (ALWAYS, ALWAYS),
                "t.py::failed once": (1, NEVER),
                "t.py::sees it": (ALWAYS, NEVER),
            },
            "t.py::sees it",
        ),
        ({"t.py": (ALWAYS, NEVER)}, "t.py"),  # a file that cannot be collected
        ({"hangs": (ALWAYS, NEVER)}, "hangs"),
    ],
)
def test_only_a_test_that_passes_without_the_mutant_notices_it(
    tests: dict[str, tuple[str | int, str]], noticed: str | None, tmp_path: Path
) -> None:
    copy = Scripted(tmp_path, tests)
    found = copy.notices(find_mutants(FILE)[0])
    assert found == (f"doctests: {noticed}" if noticed else "")
    assert copy.target.read_bytes() == (ROOT / path_of(FILE)).read_bytes()
