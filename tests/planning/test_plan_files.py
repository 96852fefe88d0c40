"""Plan files are read as they were written, refused if damaged, and never half written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import affinity_bandits.planning.files as files_module
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning import Assumptions, Plan, make_plan
from affinity_bandits.planning.files import (
    plan_from_toml,
    plan_to_toml,
    read_plan,
    remembered_plan,
    write_plan,
)

from .assumed import HOPELESS, TINY

# Plan files.


STARS = replace(
    TINY, lowest=1.0, highest=5.0, largest_mean=5.0, smallest_difference=2.0, in_flight=7
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "assumptions", [TINY, HOPELESS, STARS], ids=["tiny", "hopeless", "one-to-five-stars"]
)
def test_a_plan_file_is_read_as_it_was_written(assumptions: Assumptions, tmp_path: Path) -> None:
    plan = make_plan(assumptions, seed=2**62, progress=False)
    again = plan_from_toml(plan_to_toml(plan))
    assert same(again, plan)
    assert again.policy == plan.policy
    assert (again.failure, again.enough) == (plan.failure, plan.enough)
    assert (again.cost, again.example) == (plan.cost, plan.example)
    path = tmp_path / "plan.toml"
    write_plan(plan, path)
    assert same(read_plan(path), plan)
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.toml"]


def same(one: Plan, other: Plan) -> bool:
    """Return whether two plans are equal; worlds hold arrays, which do not say so."""
    texts = plan_to_toml(one) == plan_to_toml(other)
    return texts and list(map(str, one.worlds)) == list(map(str, other.worlds))


def test_a_plan_file_carries_the_scale_for_whoever_runs_it(tiny: Plan) -> None:
    import tomllib

    given = tomllib.loads(plan_to_toml(replace(tiny, assumptions=STARS)))["assumptions"]
    assert (given["lowest"], given["highest"], given["in_flight"]) == (1.0, 5.0, 7)


def torn(text: str) -> str:
    return text[: len(text) // 2]


def of_other_groups(text: str) -> str:
    return text.replace("groups = 2\n", "groups = 3\n")


DAMAGES: dict[str, Callable[[str], str | bytes]] = {
    "torn": torn,
    "empty": lambda _: "",
    "not-text": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "not-toml": lambda text: text.replace("=", ":"),
    "nested": lambda _: "a = " + "[" * 100_000,
    "a-study": lambda _: "[bandit]\ntrue_means = [0.4, 0.6]\n",
    "a-number": lambda _: "plan = 3\n",
    "another-format": lambda text: text.replace("format = 5\n", "format = 4\n"),
    "another-policy": lambda text: text.replace("handicap-elimination", "ucb1"),
    "impossible": lambda text: text.replace("failure = 0.05", "failure = 5"),
    "without-verdict": lambda text: text.replace("[[plan.hardest]]", "[[plan.other]]"),
    "of-other-groups": of_other_groups,
}


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_a_plan_is_refused_by_its_name(
    damage: str, tiny: Plan, tmp_path: Path
) -> None:
    content = DAMAGES[damage](plan_to_toml(tiny))
    path = written(tmp_path / "holiday.toml", content)
    with pytest.raises(InvalidInput) as caught:
        read_plan(path)
    message = str(caught.value)
    assert "holiday.toml" in message
    assert len(message.splitlines()) == 1


@pytest.mark.slow
def test_a_plan_file_that_ends_too_early_is_refused_wherever_it_ends(tiny: Plan) -> None:
    text = plan_to_toml(tiny)
    taken = []
    for end in re.finditer("\n", text):
        if text[end.end() :].strip():
            try:
                plan_from_toml(text[: end.end()])
            except InvalidInput:
                continue
            taken.append(text[: end.end()].count("\n"))
    assert taken == []


def test_a_file_that_is_not_there_stays_the_error_that_everyone_knows(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "plan.toml")


# Plans that were made before.


@pytest.fixture
def makes(tiny: Plan, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Making takes no time here; which plans were made."""
    made: list[tuple[Any, ...]] = []

    def make(assumptions: Any, *, seed: int, progress: Any) -> Plan:
        made.append((assumptions, seed))
        return replace(tiny, assumptions=assumptions, seed=seed)

    monkeypatch.setattr(files_module, "make_plan", make)
    return made


def made_before(tiny: Plan, found: tuple[Plan, bool]) -> bool:
    assert same(found[0], tiny)
    return found[1]


def test_a_plan_is_made_once(tiny: Plan, makes: list[Any], tmp_path: Path) -> None:
    cache = tmp_path / "made" / "on" / "demand"
    assert made_before(tiny, remembered_plan(TINY, cache=cache)) is False
    assert made_before(tiny, remembered_plan(TINY, cache=cache)) is True
    assert len(makes) == 1
    assert len(list(cache.iterdir())) == 1


def test_what_a_plan_depends_on_is_not_mixed_up(makes: list[Any], tmp_path: Path) -> None:
    asked = [
        (TINY, 0),
        (TINY, 1),
        (replace(TINY, failure=0.01), 0),
        (replace(TINY, in_flight=2), 0),
        (replace(TINY, head_start=3), 0),
    ]
    for made_before in (False, True):
        for assumptions, seed in asked:
            plan, before = remembered_plan(assumptions, seed=seed, cache=tmp_path)
            assert before == made_before
            assert (plan.assumptions, plan.seed) == (assumptions, seed)
    assert makes == asked


def test_a_new_version_makes_its_plans_anew(
    makes: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered_plan(TINY, cache=tmp_path)
    monkeypatch.setattr(files_module, "__version__", "99.0")
    assert not remembered_plan(TINY, cache=tmp_path)[1]
    assert len(makes) == 2


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_kept_plan_that_cannot_be_read_is_made_again(
    damage: str, tiny: Plan, makes: list[Any], tmp_path: Path
) -> None:
    remembered_plan(TINY, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    written(kept, DAMAGES[damage](kept.read_text(encoding="utf-8")))
    assert made_before(tiny, remembered_plan(TINY, cache=tmp_path)) is False
    assert made_before(tiny, remembered_plan(TINY, cache=tmp_path)) is True  # and repaired
    assert len(makes) == 2


@contextmanager
def forbidden(directory: Path, mode: int) -> Iterator[None]:
    """Take permissions away; root has them all, so it becomes nobody for a moment."""
    directory.chmod(mode)
    root = os.geteuid() == 0
    if root:
        try:
            os.seteuid(65534)
        except OSError:
            pytest.skip("root cannot become nobody here")
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        directory.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are those of Unix")
@pytest.mark.parametrize("mode", [0o555, 0o000], ids=["not-writable", "not-even-readable"])
def test_a_cache_that_may_not_be_used_is_done_without(
    mode: int, tiny: Plan, makes: list[Any], tmp_path: Path
) -> None:
    remembered_plan(TINY, cache=tmp_path)  # whatever is imported on the way is imported now
    with TemporaryDirectory() as outer:  # nobody may not enter those of pytest
        Path(outer).chmod(0o755)
        cache = Path(outer) / "cache"
        cache.mkdir()
        with forbidden(cache, mode):
            assert made_before(tiny, remembered_plan(TINY, cache=cache / "plans")) is False
            assert made_before(tiny, remembered_plan(TINY, cache=cache)) is False
        assert list(cache.iterdir()) == []
    assert len(makes) == 3


def test_a_file_in_the_place_of_the_cache_is_left_alone(
    tiny: Plan, makes: list[Any], tmp_path: Path
) -> None:
    file = written(tmp_path / "file", "mine")
    for cache in (file, file / "plans"):
        assert made_before(tiny, remembered_plan(TINY, cache=cache)) is False
    assert file.read_text() == "mine"
    assert len(makes) == 2


# Interrupts.


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupt_while_writing_leaves_the_file_as_it_was(
    error: type[BaseException], tiny: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> None:
        raise error

    monkeypatch.setattr(files_module.os, "fsync", interrupted)
    for before in ([], ["plan.toml"]):
        with pytest.raises(error):
            write_plan(tiny, tmp_path / "plan.toml")
        assert [entry.name for entry in tmp_path.iterdir()] == before
        written(tmp_path / "plan.toml", "as it was")
    assert (tmp_path / "plan.toml").read_text() == "as it was"
