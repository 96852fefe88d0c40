"""Options that commands share: lists of names, and the questions of a dialogue."""

from __future__ import annotations

import pytest

from affinity_bandits.base.declaration import ASKS, Declaration
from affinity_bandits.cli import options
from affinity_bandits.model.bias import BIASES
from affinity_bandits.model.noise import NOISES
from affinity_bandits.policies import POLICIES
from tests.cli.test_asking import Typed, refusals
from tests.cli.test_simulate import succeeded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "names"), [("policies", POLICIES), ("biases", BIASES), ("noises", NOISES)]
)
def test_lists_every_name_on_a_line_of_its_own(word: str, names: dict[str, object]) -> None:
    _, *lines = succeeded(word).splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(names)


def test_an_unreadable_yes_or_no_is_refused_with_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = Typed(monkeypatch, "teams", "perhaps", "", "NO", "us", "a check")
    made = options.ask_declaration(comparison=True)
    assert made == Declaration("teams", "us", "a check")
    assert typed.asked.count(ASKS["protected"]) == 3
    assert refusals(capsys) == [
        "  Not understood: it must be yes or no; 'perhaps' is not. For example: no",
        "  Not understood: it must be yes or no; nothing was given. For example: no",
    ]


@pytest.mark.parametrize("place", ["groups_are", "responsible", "purpose"])
@pytest.mark.parametrize("wrong", ["", " ", "x" * 201, "a\x07b"])
def test_each_answer_of_a_declaration_is_checked_when_it_is_given(
    place: str, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = {"groups_are": "teams", "protected": "n", "responsible": "us", "purpose": "a check"}
    replies = [one for name, said in right.items() for one in ([wrong] * (name == place) + [said])]
    typed = Typed(monkeypatch, *replies)
    assert options.ask_declaration(comparison=False) == Declaration("teams", "us", "a check")
    assert typed.asked.count(ASKS[place]) == 2
    (line,) = refusals(capsys)
    assert "a text of 1 to 200 printable characters" in line
    assert "For example: " in line
