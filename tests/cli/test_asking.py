"""Dialogues: every refusal says why, with an example; the groups are asked for once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from affinity_bandits.base.declaration import ASKS, Declaration
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.cli import options
from affinity_bandits.cli import plan as plan_command
from tests.cli.inside import Done, inside

SCORES = "candidate,source,judge,judge source,{},hired\n" + "".join(
    f"c{n},{'ab'[n % 2]},{judge},{group},{1 + (n + len(judge)) % 5},{'no' if n % 3 else 'yes'}\n"
    for n in range(20)
    for judge, group in (("Ann", "a"), ("Jo", "b"))
)


class Typed:
    """Somebody who types replies in this order; Enter is an empty one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *replies: str) -> None:
        self.left, self.asked = list(replies), list[str]()
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr(typer, "prompt", self.prompt)

    def prompt(self, text: str, default: str | None = None, **_: object) -> str:
        self.asked.append(text)
        return self.left.pop(0) or default or ""


def refusals(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if "Not understood" in line]


def test_protected_attributes_end_the_dialogue_of_a_plan_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = Typed(monkeypatch, "men and women", "yes")
    with pytest.raises(InvalidInput, match="affinity audit --protected --purpose 'monitoring"):
        options.ask_declaration(comparison=True)
    assert typed.asked == [ASKS["groups_are"], ASKS["protected"]]


def test_an_audit_of_protected_attributes_is_told_its_purpose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Typed(monkeypatch, "men and women", "yes", "us", "curiosity", "Monitoring equality 2026")
    made = options.ask_declaration(comparison=False)
    assert (made.protected, made.purpose) == (True, "Monitoring equality 2026")
    (line,) = refusals(capsys)
    assert "'monitoring equality', or begin so" in line
    assert "For example: monitoring equality" in line


@pytest.mark.parametrize(
    ("groups", "reply", "declared"),
    [
        ("referrals, agencies", "", "referrals, agencies"),
        ("referrals, agencies", "sources", "sources"),
        ("2", "sources", "sources"),
    ],
)
def test_a_plan_asks_for_the_groups_once_and_for_the_declaration_last(
    groups: str, reply: str, declared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges = ["", "", "", "", "panels"]  # what differs between them, how many, outsiders, which way
    scores = ["1..5", "", "20%"]
    replies = [groups, "", *scores, *judges, "1", "2000", "", "", reply, "no", "us", "x"]
    typed = Typed(monkeypatch, *replies)
    told, asked, made, *_ = plan_command._situation(None, None, Flags())
    assert asked
    assert typed.left == []
    assert typed.asked[0].startswith("Which groups are compared")
    assert typed.asked[-4:] == list(ASKS.values())
    assert made == Declaration(declared, "us", "x")
    assert told.said["difference"] == "1"


class Flags(dict[str, Any], Mapping[str, Any]):
    """No flag was given."""

    def __missing__(self, name: str) -> None:
        return None


def test_a_number_of_groups_says_nothing_of_what_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = ["", "", "", "", "panels"]
    replies = ["2", "", "yes/no", "20%", *judges, "1", "2000", "", "", "", "teams", "no", "us", ""]
    Typed(monkeypatch, *replies, "x")
    _, _, made, *_ = plan_command._situation(None, None, Flags())
    assert made == Declaration("teams", "us", "x")
    assert len(refusals(capsys)) == 2


def written(folder: Path, column: str) -> Path:
    path = folder / "log.csv"
    path.write_text(SCORES.format(column), encoding="utf-8")
    return path


def plain(done: Done) -> str:
    return " ".join(done.stdout.split())


def audit(*words: object) -> Done:
    return inside(("audit", *words), {})


@pytest.mark.parametrize("column", ["Note", "grade"])
def test_the_best_score_is_asked_for_where_1_often_is(
    column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, column)
    flags = ("--score", column)
    done = audit(path, "--scale", "1..5", *flags)
    assert done.returncode == 2
    assert f"1 often is in a column called {column!r}: --best lowest or --best highest" in (
        done.stderr
    )
    for words, direction in (
        (("--scale", "5..1"), "The best score is 1, the worst 5."),
        (("--scale", "1..5", "--best", "lowest"), "The best score is 1, the worst 5."),
        (("--scale", "1..5", "--best", "highest"), "The best score is 5, the worst 1."),
    ):
        done = audit(path, *flags, *words)
        assert done.returncode == 0, done.stderr
        assert direction in plain(done)
    replies = ("middle", "", "lowest", "", "sources", "no", "us", "a check")
    typed = Typed(monkeypatch, *replies)
    done = audit(path, "--scale", "1..5", *flags)
    assert done.returncode == 0, done.stderr
    assert "The best score is 1, the worst 5." in plain(done)
    assert done.stdout.count("Not understood: it must be highest or lowest") == 2
    assert "Declared" not in done.stdout
    assert typed.left == []


def test_a_score_is_better_the_higher_unless_told_otherwise(tmp_path: Path) -> None:
    done = audit(written(tmp_path, "score"), "--scale", "1..5")
    assert "The best score is 5, the worst 1." in plain(done)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--scale", "5..1", "--best", "highest"), "best must be left out or lowest"),
        (("--scale", "1..5", "--best", "top"), "best must be highest or lowest"),
        (("--scale", "5..5"), "two different scores"),
        (("--scale", "1..5", "--matters", "9"), "matters must be"),
        (("--scale", "1..5", "--matters", "much"), "a number of points such as 0.3"),
        (("--scale", "yes/no", "--matters", "2"), "a part of all answers such as 5%"),
    ],
)
def test_contradictions_are_told(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = audit(written(tmp_path, "score"), *words)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_column_that_is_not_there_is_refused_with_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("who,kind,score\nc1,north,2\nc2,south,4\n", encoding="utf-8")
    Typed(monkeypatch, "team", "kind", "from a to b", "1..5", "", "", "sources", "no", "us", "x")
    done = audit(path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "Not understood" in line]
    assert lines[0] == (
        "  Not understood: it must be one of the columns who, kind, score; 'team' is not. "
        "For example: who"
    )
    assert "'from a to b' is not" in lines[1]


def test_of_many_columns_the_closest_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A survey's file has hundreds; before, all were printed at each mistake."""
    path = tmp_path / "log.csv"
    more = [f"question {number}" for number in range(300)]
    rows = (f"c{n},{'ab'[n % 2]},{1 + n % 5}," + ",".join(["x"] * 300) for n in range(8))
    path.write_text("\n".join([f"who,kind,score,{','.join(more)}", *rows]), encoding="utf-8")
    done = audit(path, "--scale", "1..5", "--score", "scoer")
    assert done.returncode == 2
    assert done.stderr == (
        "affinity: score must be one of 303 columns, of which the closest are score, who, question "
        "9, got 'scoer'\n"
    )
    typed = Typed(monkeypatch, "knid", "kind", "1..5", "", "", "sources", "no", "us", "a check")
    done = audit(path)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "Not understood" in line]
    assert "it must be one of 303 columns, of which the closest are kind, " in line
    assert all(len(words) < 400 for words in typed.asked)
