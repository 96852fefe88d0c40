"""`affinity audit`: from a file to a verdict, a page, JSON and a plan."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affinity_bandits.audit.result import read_result
from affinity_bandits.base.declaration import ASKS
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning.from_audit import answers_of_audit
from tests.cli.inside import Done, inside

DATA = Path(__file__).parents[2] / "docs" / "data"
DECLARED = ("--groups-are", "teams", "--responsible", "us", "--purpose", "a check")
HEADER = ["candidate", "group", "judge", "judge_group", "score", "date"]


def audit(*words: object) -> Done:
    return inside(("audit", *words), {})


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 scores of 1..5; judges give their own group about half a point more."""
    rng = np.random.default_rng(5)
    place = tmp_path_factory.mktemp("logs") / "scores.csv"
    with place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(HEADER)
        for number in range(300):
            group, quality = number % 2, rng.normal(3.0, 0.4)
            for judge in rng.choice(20, 3, replace=False):
                own = judge % 2 == group
                score = np.clip(round(quality + 0.6 * own + rng.normal(0.0, 0.5)), 1, 5)
                who = (f"c{number}", f"g{group}", f"j{judge}", f"g{judge % 2}")
                rows.writerow([*who, int(score), number // 10])
    return place


@pytest.mark.slow
def test_a_favor_is_shown_reported_and_planned_from(log: Path, tmp_path: Path) -> None:
    page, kept = tmp_path / "report.html", tmp_path / "audit.json"
    done = audit(log, "--scale", "1..5", "--report", page, "--json", kept, *DECLARED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Yes: judges give their own group 0.")
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if str(tmp_path) not in line)
    assert "a check" in page.read_text(encoding="utf-8")
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert (found["format"], found["version"]) == ("affinity audit", 1)
    assert (found["word"], found["declaration"]["purpose"]) == ("shown", "a check")
    said = answers_of_audit(read_result(kept))
    assert said["groups"] == ["g0", "g1"]
    assert said["scale"] == "1..5"
    assert "committee" not in said
    assert 0.2 <= float(said["bonus"].removesuffix("%")) / 100 <= 0.6
    assert 0.5 <= float(said["spread"]) <= 1.0
    words = ("--judges", "panels", "--difference", "0.5", "--budget", "20000")
    planned = inside(("plan", "--from", kept, *words), {"XDG_CACHE_HOME": str(tmp_path)})
    assert planned.returncode == 0, planned.stderr
    told = " ".join(planned.stdout.split())
    assert (
        "Taken from the audit: the groups; the scale; the spread of scores within a group,"
        f" {said['spread']}; the upper end of the favor of all judges together as the bonus,"
        f" {said['bonus']}; the number of judges per group, 10." in told
    )
    assert "With two groups scores cannot tell by how much each favors its own" in told
    assert told.startswith("No number of choices is enough.")
    assert (
        "Not known from it: how much more one group's judges favor their own than another's do"
        in told
    )


@pytest.mark.slow
def test_the_workbook_of_the_guide(tmp_path: Path) -> None:
    words = ("--scale", "1..5", "--people", DATA / "people.csv")
    done = audit(DATA / "interviews.xlsx", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Yes: ")
    for note in ("header again", "decimal comma", "no score", "typed like 31.12.2026"):
        assert note in done.stdout


def test_a_log_without_judges_gets_means_and_what_to_write_down(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text("group,score\na,1\nb,2\nb,3\n", encoding="utf-8")
    done = audit(place, "--scale", "1..5", "--report", tmp_path / "r.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("This file cannot tell whether judges favor their own group.")
    assert "Write down who judged" in done.stdout
    assert "2.50 (2)" in done.stdout


def test_judges_without_groups_are_told_from_no_judges() -> None:
    done = audit(DATA / "interviews.xlsx", "--scale", "1..5")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "The file says who judged, but not which group the judges belong to" in text
    assert "(--people people.csv)" in text
    assert "Write down who judged" not in text


def test_what_is_missing_is_listed_at_once_with_what_the_file_has(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text("who,kind,score\nc1,north,2\nc2,south,4\n", encoding="utf-8")
    done = audit(place)
    assert done.returncode == 2
    assert "which column is the candidate's group, for example --group 'who'" in done.stderr
    assert "kind (north, south)" in done.stderr
    assert "--scale 1..5 (the file has 2 to 4)" in done.stderr


def test_what_is_missing_is_asked_for_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "log.csv"
    place.write_text("who,kind,score\nc1,north,2\nc2,south,4\n", encoding="utf-8")
    said = {
        "Which column": "kind",
        "Which scores": "1..5",
        "Which score is the best": "highest",
        "How small": "0.5",
        "Are they protected": "no",
        "": "teams",
    }
    asked: list[str] = []

    def answer(text: str, **_: Any) -> str:
        asked.append(text)
        return next(reply for start, reply in said.items() if text.startswith(start))

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", answer)
    done = audit(place)
    assert done.returncode == 0, done.stderr
    assert len(asked) == 8
    assert asked[4:] == list(ASKS.values())
    assert "the file has 2 to 4" in asked[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--scale", "5..5"), "two different scores"),
        (("--scale", "1..3"), "is not between 1 and 3"),
        (("--scale", "1..5", "--group", "team"), "group must be one of the columns"),
        (("--scale", "1..5", "--sheet", "x"), "unless the file is a workbook"),
        (("--scale", "1..5", "--people", "nobody.csv"), "a file that can be read"),
        (("--report", "report.pdf"), "ends in .html"),
        (
            ("--purpose", "a check"),
            "groups_are and responsible must be given with the rest of the declaration",
        ),
        ((*DECLARED, "--protected"), "purpose must be 'monitoring equality'"),
        (("--report", "nowhere/report.html"), "in a directory"),
        (("--json", "audit.html"), "ends in .json"),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    log: Path, words: tuple[str, ...], says: str
) -> None:
    done = audit(log, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr


def shell(line: str, folder: Path) -> str:
    """Run a line in bash, `affinity` being the command of this checkout, and return its output."""
    command = shlex.join([sys.executable, "-c", "from affinity_bandits.cli import main; main()"])
    script = f'set -eo pipefail; affinity() {{ {command} "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "cat scores.csv | affinity audit - --scale 1..5",
        "cat scores.csv | affinity audit /dev/stdin --scale 1..5",
        "affinity audit <(cat scores.csv) --scale 1..5",
        "affinity audit - --scale 1..5 < scores.csv",
    ],
)
def test_a_pipe_is_audited_as_its_file_is(log: Path, line: str) -> None:
    usual = " ".join(audit(log, "--scale", "1..5").stdout.split())
    told = " ".join(shell(line, log.parent).split())
    assert told.replace("from the pipe.", "from scores.csv.") == usual


@pytest.mark.slow
def test_a_workbook_and_people_come_through_pipes(tmp_path: Path) -> None:
    line = f"affinity audit <(cat {DATA}/interviews.xlsx) --people <(cat {DATA}/people.csv)"
    told = shell(f"{line} --scale 1..5", tmp_path)
    assert told.startswith("Yes: judges give their own group 0.43 points more. ")
    assert "from the pipe, sheet" in " ".join(told.split())


@pytest.mark.slow
def test_what_a_database_writes_is_audited(log: Path, empty_dsn: str) -> None:
    columns = ", ".join(f'"{name}" text' for name in HEADER)
    load = f"CREATE TABLE marks ({columns}); \\copy marks FROM scores.csv CSV HEADER"
    made = "\n".join(f"psql --quiet {empty_dsn} -c {shlex.quote(one)}" for one in load.split("; "))
    query = "SELECT *, score::int > 3 AS hired FROM marks"
    told = shell(
        f"{made}\npsql --csv {empty_dsn} -c {shlex.quote(query)} | affinity audit - --scale 1..5",
        log.parent,
    )
    told = " ".join(told.split())
    assert told.startswith("Yes: ")
    assert "Read 900 scores of 300 candidates by 20 judges" in told
    assert "hired = hired" in told
    assert "not used" not in told


def test_a_plan_from_an_audit_takes_the_upper_end_of_the_interval(tmp_path: Path) -> None:
    kept = tmp_path / "audit.json"
    about: dict[str, Any] = {
        "format": "affinity audit",
        "version": 1,
        "word": "shown",
        "groups": [{"name": n, "scores": 50, "mean": 3.0} for n in ("a", "b")],
        "scale": [1.0, 5.0],
        "spread": 0.9,
        "favor": {"points": 0.5, "low": 0.2, "high": 0.77},
    }
    kept.write_text(json.dumps(about), encoding="utf-8")
    unknown = {"favor_gap": "no idea", "strictness": "no idea"}
    assert answers_of_audit(read_result(kept)) == {
        "groups": ["a", "b"], "scale": "1..5", "bonus": "39%", "spread": "0.9", **unknown
    }  # fmt: skip
    # The gap is that of the difference itself; a mean number of judges is rounded.
    judging = {"strictness": [], "deviation": None, "favors": [], "favor_gap": 0.41}
    groups = [one | {"judges": n} for one, n in zip(about["groups"], (8, 5), strict=True)]
    kept.write_text(json.dumps(about | {"judging": judging, "groups": groups}), encoding="utf-8")
    answers = answers_of_audit(read_result(kept))
    assert (answers["favor_gap"], answers["judges_per_group"]) == ("0.41", "6")
    kept.write_text(json.dumps(about | {"word": "cannot tell"}), encoding="utf-8")
    assert answers_of_audit(read_result(kept))["bonus"] == "no idea"
    for wrong in ("[]", "{", json.dumps(about | {"version": 2})):
        kept.write_text(wrong, encoding="utf-8")
        with pytest.raises(InvalidInput, match="affinity audit --json"):
            read_result(kept)
