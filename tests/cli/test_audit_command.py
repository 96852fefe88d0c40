"""`affinity audit`: from a file to a verdict, a page and JSON, and whatever can be said wrongly."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.cli.committees import committees
from affinity_bandits.cli.from_audit import said_by
from affinity_bandits.cli.protected import refuse_protected
from affinity_bandits.errors import InvalidInput
from tests.cli.inside import Done, inside

SAID = ("--scale", "1..5", "--committee", "own 100, other 10")


def audit(*words: object) -> Done:
    return inside(("audit", *words), {})


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stars in proportion to shares, both groups in turn: the example of docs/audit.md."""
    rng = np.random.default_rng(5)
    members = [100, 10]
    place = tmp_path_factory.mktemp("logs") / "decisions.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["time", "group", "score"])
        for row in range(2_000):
            one = row % 2
            score = 1 + rng.binomial(4, (0.4, 0.6)[one] * members[one] / sum(members))
            rows.writerow([row, ("own", "other")[one], score])
            members[one] += 1
    return place


@pytest.mark.slow
def test_a_bias_is_shown_reported_and_planned_from(log: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "report.html", tmp_path / "audit.json"
    done = audit(log, *SAID, "--report", page, "--json", kept)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Shown: ")
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if str(tmp_path) not in line)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert found["word"] == "shown"
    assert [group["members"] for group in found["groups"]] == [1100, 1010]
    said = said_by(kept)
    assert said["groups"] == ["own", "other"]
    assert said["committee"] == [1100, 1010]
    assert said["scale"] == "1..5"
    assert said["bonus"] == "no idea"  # the truth is f(x) = x: no limit to the bonus


@pytest.mark.slow
def test_a_range_of_committees_gives_the_weakest_answer(log: Path) -> None:
    done = audit(log, "--scale", "1..5", "--committee", "own 100, other 5..20")
    assert done.returncode == 0, done.stderr
    assert "3 initial committees" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (SAID[:2], "committee must be given"),
        (SAID[2:], "scale must be given"),
        (("--scale", "5..1", *SAID[2:]), "the lowest first"),
        ((*SAID[:2], "--committee", "own, other"), "a name and a number"),
        ((*SAID[:2], "--committee", "own 1"), "at least two groups"),
        ((*SAID[:2], "--committee", "own 5, own 6"), "once"),
        ((*SAID[:2], "--committee", "own 9..5, other 1"), "from the smaller"),
        ((*SAID[:2], "--committee", "women 9, men 5"), "not protected attributes"),
        ((*SAID, "--group", "team"), "group must be"),
        ((*SAID, "--score", "stars"), "score must be"),
        ((*SAID, "--time", "score", "--in-order"), "time must be left out"),
        ((*SAID, "--query", "SELECT 1"), "a file or --query"),
        ((*SAID, "--panels", "random"), "unless panels are in the log"),
        ((*SAID, "--panels", "often"), "panels must be"),
        ((*SAID, "--panel", "own=a,=b"), "a column of shares"),
        ((*SAID, "--report", "report.pdf"), "ends in .html"),
        ((*SAID, "--report", "nowhere/report.html"), "in a directory"),
        ((*SAID, "--json", "audit.html"), "ends in .json"),
        ((*SAID, "--seed", "x"), "seed must be"),
        (("--scale", "1..4", *SAID[2:]), "score in line"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(log: Path, words: tuple[str, ...], says: str) -> None:
    done = audit(log, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert says in line


def test_a_column_named_like_a_protected_attribute_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text("time,gender,score\n1,own,3\n2,other,4\n", encoding="utf-8")
    done = audit(place, *SAID, "--group", "gender")
    assert done.returncode == 2
    assert "not protected attributes" in done.stderr


def test_groups_named_like_protected_attributes_are_refused_by_whole_words() -> None:
    for name in ("Women", "age_group", "national origin", "the disabled"):
        with pytest.raises(InvalidInput, match="responsible-use"):
            refuse_protected("group", [name])
    refuse_protected("group", ["agencies", "management", "mentors", "Essex", "terrace", "raceway"])


def test_committees_at_the_ends_of_ranges() -> None:
    assert committees("committee", "a 3; b: 4") == [{"a": 3, "b": 4}]
    found = committees("committee", "a 1..3, b 10-20, c=7")
    assert found[0] == {"a": 2, "b": 15, "c": 7}
    assert {(one["a"], one["b"]) for one in found[1:]} == {(1, 10), (1, 20), (3, 10), (3, 20)}
    with pytest.raises(InvalidInput, match="at most 4 ranges"):
        committees("committee", ", ".join(f"g{place} 1..2" for place in range(5)))


def test_a_plan_from_an_audit_takes_the_largest_bonus(tmp_path: Path) -> None:
    kept = tmp_path / "audit.json"
    about = {
        "format": "affinity audit",
        "format_version": 1,
        "groups": [{"name": "a", "members": 3}, {"name": "b", "members": 4}],
        "scale": "yes/no",
        "spread": 0.4,
        "bonus": [0.1, 0.381],
        "joining": 0.0,
    }
    kept.write_text(json.dumps(about), encoding="utf-8")
    said = said_by(kept)
    assert said["bonus"] == "39%"
    assert "spread" not in said  # yes and no spread as they must
    assert said["judges"] == "panels"  # nobody joined
    kept.write_text(json.dumps(about | {"bonus": [0.1, "infinite"]}), encoding="utf-8")
    assert said_by(kept)["bonus"] == "no idea"
