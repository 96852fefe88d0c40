"""A module's tests are found by its name, or this table says where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = {
    "src/affinity_bandits": "tests",
    "packages/client/src/affinity_bandits_client": "packages/client/tests",
    "packages/service/src/affinity_bandits_service": "packages/service/tests",
}
TWINS = "tests/contracts/test_twins.py"  # beside a naive implementation of the same name
ELSEWHERE = {
    "app/application.py": "tests/app/test_hosting.py",
    "app/audit_steps.py": "tests/app/test_audit_page.py",
    "app/forms.py": "tests/app/test_pages.py",
    "app/rendering.py": "tests/app/test_pages.py",
    "app/see.py": "tests/app/test_pages.py",
    "base/checks.py": "tests/base/errors",  # a row for each refusal
    "base/plan_format.py": "packages/service/tests/core/test_spec.py",  # who reads plans
    "base/words.py": "packages/service/tests/ui/test_wording.py",
    "paper/standard_algorithms.py": "tests/paper/test_runner.py",
    "planning/making.py": "tests/planning/test_plan.py",
    "planning/reach.py": "tests/planning/test_what_if.py",
    "planning/runs.py": "tests/planning/test_hardest_rounds.py",
    "planning/target.py": "tests/planning/test_plan.py",
    "policies/baselines.py": TWINS,
    "policies/block_bets.py": "tests/policies/test_neutral.py",
    "policies/exp3.py": TWINS,
    "policies/planned.py": "tests/planning/test_policy.py",
    "policies/recusal.py": "tests/policies/test_judged.py",  # with panels and members
    "policies/state.py": "tests/policies/test_wealth.py",
    "policies/thompson.py": TWINS,
    "policies/ucb_v.py": TWINS,
    "core/backend.py": "packages/service/tests/core/test_campaigns.py",  # all by real campaigns
    "core/queries.py": "packages/service/tests/core/test_campaigns.py",
    "health/words.py": "packages/service/tests/health/checks",
    "metrics.py": "packages/service/tests/http/test_probes.py",
    "problems.py": "packages/service/tests/http/test_errors.py",
    "trail/block_log.py": "packages/service/tests/trail/test_blocks_trail.py",
}


def modules() -> list[tuple[str, str, Path]]:
    """The name below its package, the stem, and the folder of its package's tests."""
    return [
        (path.relative_to(ROOT / source).as_posix(), path.stem.strip("_"), ROOT / tests)
        for source, tests in SOURCES.items()
        for path in sorted((ROOT / source).rglob("*.py"))
        if not path.stem.startswith("__") and path.stem != "_version"
    ]


def has_tests_of_its_name(name: str, stem: str, tests: Path) -> bool:
    """`test_stem.py`, or with the room before it, or a folder `stem` in the room's tests."""
    room = name.rpartition("/")[0].rpartition("/")[2]
    files = {path.name for path in tests.rglob("test_*.py")}
    return (
        not files.isdisjoint({f"test_{stem}.py", f"test_{room}_{stem}.py"})
        or (tests / room / stem).is_dir()
    )


def test_the_tests_of_a_module_are_found_by_its_name() -> None:
    found = modules()
    assert len(found) > 200
    missing = {name for name, *where in found if not has_tests_of_its_name(name, *where)}
    assert missing == set(ELSEWHERE)


@pytest.mark.parametrize("place", sorted(set(ELSEWHERE.values())))
def test_what_the_table_says_is_there(place: str) -> None:
    assert (ROOT / place).exists()
