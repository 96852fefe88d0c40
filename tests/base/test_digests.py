"""Digests of a user's own code: edited, it has another; in another process or folder, the same."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.base.digests import own_code
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.policies import POLICIES
from tests.experiments.own_code import MINE, in_a_process, loaded, write

EDITS = {
    "a constant": ("LEVEL = 1", "LEVEL = 2"),
    "a kernel": ("state.pulls[arm] += 1", "state.pulls[arm] += 2"),
    "a method": ("counts(arms)", "counts(arms + 0)"),
    "a class variable": ("eliminates: ClassVar[bool] = False", "eliminates = True"),
}


def digest_of(folder: Path, text: str) -> str | None:
    with loaded(folder, text) as module:
        return own_code(module.Mine())


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_other_code(tmp_path: Path, edit: tuple[str, str]) -> None:
    before = digest_of(tmp_path / "a", MINE)
    assert before is not None
    assert digest_of(tmp_path / "b", MINE.replace(*edit)) not in (before, None)


@pytest.mark.slow
def test_the_same_code_is_the_same_in_any_process_and_folder(tmp_path: Path) -> None:
    program = (
        "from mine import Mine; from affinity_bandits.base.digests import own_code;"
        "print(own_code(Mine()))"
    )
    found = {
        in_a_process(write(tmp_path / name, MINE), program, PYTHONHASHSEED=seed)
        for name, seed in (("one", "1"), ("two", "2"))
    }
    assert found == {digest_of(tmp_path / "here", MINE)}


def test_built_in_code_is_its_name_and_settings() -> None:
    for name, cls in POLICIES.items():
        for policy in cls.examples():
            assert own_code(policy) is None, name


def test_code_that_cannot_be_compared_raises_an_error() -> None:
    lock = threading.Lock()

    def locked(share: float) -> float:
        with lock:
            return share

    with pytest.raises(NotSupported, match=r"lock object.* cannot be compared"):
        own_code(locked)
    typed: dict[str, Any] = {"__name__": "no_file"}
    exec("def linear(share): return share", typed)  # as at a prompt
    with pytest.raises(NotSupported, match="module no_file has no source file"):
        own_code(typed["linear"])
