"""Plan files are read as they were written, refused if damaged, and never half written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import affinity_bandits.planning.files as files_module
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning import Assumptions, Plan, make_plan
from affinity_bandits.planning.files import (
    plan_from_toml,
    plan_to_toml,
    read_plan,
    remembered_plan,
    write_plan,
)

from .assumed import HOPELESS, TINY

STARS = replace(
    TINY, lowest=1.0, highest=5.0, largest_mean=5.0, smallest_difference=2.0, in_flight=7
)


@pytest.mark.slow
@pytest.mark.parametrize("assumptions", [HOPELESS, STARS], ids=["hopeless", "one-to-five-stars"])
def test_a_plan_file_is_read_as_it_was_written(assumptions: Assumptions, tmp_path: Path) -> None:
    plan = make_plan(assumptions, seed=2**62, progress=False)
    path = tmp_path / "plan.toml"
    write_plan(plan, path)
    again = read_plan(path)
    assert again == plan
    assert plan_to_toml(again) == plan_to_toml(plan)
    assert list(tmp_path.iterdir()) == [path]


DAMAGES: dict[str, Callable[[str], str | bytes]] = {
    "torn": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "not-text": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "not-toml": lambda text: text.replace("=", ":"),
    "nested": lambda _: "a = " + "[" * 100_000,
    "a-study": lambda _: "[bandit]\ntrue_means = [0.4, 0.6]\n",
    "a-number": lambda _: "plan = 3\n",
    "another-format": lambda text: text.replace("format = 1\n", "format = 2\n"),
    "another-policy": lambda text: text.replace("head-start-elimination", "ucb1"),
    "impossible": lambda text: text.replace("failure = 0.05", "failure = 5"),
    "without-verdict": lambda text: text.replace("[[plan.hardest]]", "[[plan.other]]"),
    "of-other-groups": lambda text: text.replace("groups = 2\n", "groups = 3\n"),
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
    with pytest.raises(FileNotFoundError):
        read_plan(Path("no such plan.toml"))
    text = plan_to_toml(tiny).rstrip()
    for end in re.finditer("\n", text):
        with pytest.raises(InvalidInput):
            plan_from_toml(text[: end.end()])


@pytest.fixture
def makes(tiny: Plan, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Making takes no time here; which plans were made."""
    made: list[tuple[Any, ...]] = []

    def make(assumptions: Any, *, seed: int, progress: Any) -> Plan:
        made.append((assumptions, seed))
        return replace(tiny, assumptions=assumptions, seed=seed)

    monkeypatch.setattr(files_module, "make_plan", make)
    return made


def test_a_plan_is_made_once_for_all_that_it_depends_on(
    makes: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "made" / "on" / "demand"
    asked = [
        *((TINY, 0), (TINY, 1), (replace(TINY, failure=0.01), 0), (replace(TINY, in_flight=2), 0)),
        (replace(TINY, initial_lead=3), 0),
    ]
    for made_before in (False, True):
        for assumptions, seed in asked:
            plan, before = remembered_plan(assumptions, seed=seed, cache=cache)
            assert before == made_before
            assert (plan.assumptions, plan.seed) == (assumptions, seed)
    assert makes == asked
    monkeypatch.setattr(files_module, "__version__", "99.0")
    assert not remembered_plan(TINY, cache=cache)[1]


@pytest.mark.parametrize("damage", ["torn", "not-text", "another-format", "of-other-groups"])
def test_a_kept_plan_that_cannot_be_read_is_made_again(
    damage: str, tiny: Plan, makes: list[Any], tmp_path: Path
) -> None:
    remembered_plan(TINY, cache=tmp_path)
    (kept,) = tmp_path.iterdir()
    written(kept, DAMAGES[damage](kept.read_text(encoding="utf-8")))
    assert remembered_plan(TINY, cache=tmp_path) == (tiny, False)
    assert remembered_plan(TINY, cache=tmp_path) == (tiny, True)  # and repaired


def test_a_cache_that_cannot_be_used_is_done_without(
    tiny: Plan, makes: list[Any], tmp_path: Path
) -> None:
    file = written(tmp_path / "file", "mine")
    for cache in (file, file / "plans"):
        assert remembered_plan(TINY, cache=cache) == (tiny, False)
    assert file.read_text() == "mine"


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
