"""The files of a release agree with each other."""

from __future__ import annotations

import re
import subprocess

import yaml

from affinity_bandits import __version__
from tests.support.environments import ROOT, project


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == __version__
    assert re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)[0] == __version__


def test_a_release_of_another_version_is_refused() -> None:
    command = ["bash", str(ROOT / ".ci" / "release"), "99.0.0"]
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
    of_paper, of_software = re.findall(r"^```text\n(.*?)^```", text_of("docs/cite.md"), re.M | re.S)
    number = paper["identifiers"][0]["value"].removeprefix("arXiv:")
    names = " and ".join(f"{one['family-names']}, {one['given-names']}" for one in paper["authors"])
    for fact in (paper["title"], paper["conference"]["name"], str(paper["year"]), number, names):
        assert f"{{{fact}}}" in of_paper
    for fact in (cited["title"], cited["version"], str(cited["date-released"].year)):
        assert f"{{{fact}}}" in of_software
