"""The files of a release agree with each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import affinity_bandits_client
import affinity_bandits_service
from affinity_bandits import __version__
from tests.support.environments import CLIENT, LIBRARY, ROOT, SERVICE, project


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert affinity_bandits_client.__version__ == __version__
    assert affinity_bandits_service.__version__ == __version__
    required = project(SERVICE)["dependencies"]
    assert {f"{one}=={__version__}" for one in (LIBRARY, CLIENT)} <= set(required)
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == __version__
    assert re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)[0] == __version__


def pins(name: str) -> list[str]:
    return re.findall(r"^[\w.-]+==[^\s\\]+", text_of(name), flags=re.MULTILINE)


def test_every_pinned_version_has_its_digests() -> None:
    """After a change of constraints.txt, `make hashes` writes hashes.txt anew."""
    normal = [pin.lower().replace("_", "-") for pin in pins("constraints.txt")]
    assert sorted(normal) == sorted(pin.replace("_", "-") for pin in pins("hashes.txt"))
    blocks = re.split(r"^(?=\S)", text_of("hashes.txt"), flags=re.MULTILINE)[1:]
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}$", block, re.M) for block in blocks)
    assert "://" not in text_of("hashes.txt")


def test_a_release_of_another_version_is_refused() -> None:
    command = ["bash", str(ROOT / "checks" / "scripts" / "release"), "99.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["src/affinity_bandits/_version.py does not say 99.0.0"]


def test_every_promised_python_is_checked() -> None:
    promised = [
        line.rpartition(" ")[2] for line in project()["classifiers"] if "Python :: 3." in line
    ]
    jobs = yaml.safe_load(text_of(".github/workflows/check.yml"))["jobs"]
    assert jobs["nightly"]["strategy"]["matrix"]["python"] == promised
    assert jobs["check"]["steps"][-1] == {"run": "bash .ci/run"}


def test_the_paper_is_what_is_cited_first() -> None:
    cited = yaml.safe_load(text_of("CITATION.cff"))["preferred-citation"]
    address = f"https://arxiv.org/abs/{cited['identifiers'][0]['value'].removeprefix('arXiv:')}"
    assert project()["urls"]["Paper"] == address
    for page in ("README.md", "docs/index.md"):
        linked = dict(
            re.findall(r"\[([^]]+)\]\((https://[^)]+)\)", " ".join(text_of(page).split()))
        )
        assert linked[cited["title"]] == address


def test_the_page_on_citing_has_the_facts_of_the_citation_file() -> None:
    cited = yaml.safe_load(text_of("CITATION.cff"))
    paper = cited["preferred-citation"]
    page = text_of("docs/reference/cite.md")
    of_paper, of_software = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)
    number = paper["identifiers"][0]["value"].removeprefix("arXiv:")
    names = " and ".join(f"{one['family-names']}, {one['given-names']}" for one in paper["authors"])
    for fact in (paper["title"], paper["conference"]["name"], str(paper["year"]), number, names):
        assert f"{{{fact}}}" in of_paper
    for fact in (cited["title"], cited["version"], str(cited["date-released"].year)):
        assert f"{{{fact}}}" in of_software


GOOD = {"name": "idna", "version": "3.20", "vulns": []}
BAD = {
    "name": "attrs",
    "version": "26.1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["26.1.1"], "aliases": [], "description": "x"}],
}
MISSED = {"name": "anyio", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("report", "status", "ends", "said"),
    [
        ([GOOD], 0, 0, ["advisories: 0, in 1 versions of constraints.txt"]),
        (
            [GOOD, BAD],
            1,
            1,
            [
                "attrs 26.1.0: PYSEC-1; mended in: 26.1.1",
                "advisories: 1, in 2 versions of constraints.txt",
            ],
        ),
        (None, 1, 0, ["NOT checked for advisories: no database knows any version"]),
        ([MISSED], 0, 0, ["NOT checked for advisories: no database knows any version"]),
        (
            [GOOD, MISSED],
            0,
            0,
            [
                "advisories: 0, in 1 versions of constraints.txt",
                "NOT checked for advisories, because no database knows them: anyio",
            ],
        ),
    ],
)
def test_a_release_says_what_was_not_checked_for_advisories(
    tmp_path: Path, report: list[Any] | None, status: int, ends: int, said: list[str]
) -> None:
    # The status is what pip-audit 2.10 ends with: its 1 and its 0 have two meanings each.
    program = tmp_path / "pip-audit"
    written = "" if report is None else json.dumps({"dependencies": report, "fixes": []})
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom pathlib import Path\n"
        "given = sys.argv[1:]\n"
        "assert Path(given[given.index('--requirement') + 1]).name == 'constraints.txt'\n"
        f"text = {written!r}\n"
        "if text: Path(given[given.index('--output') + 1]).write_text(text)\n"
        f"sys.exit({status})\n"
    )
    program.chmod(0o755)
    command = [sys.executable, str(ROOT / "checks" / "scripts" / "advisories.py"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (ends, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(text) for line, text in zip(lines, said, strict=True))
    assert 'checks/scripts/advisories.py "$work/venv/bin/pip-audit"' in text_of(
        "checks/scripts/release"
    )
