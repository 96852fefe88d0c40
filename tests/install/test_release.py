"""What goes out with a release agrees with itself."""

from __future__ import annotations

import re
import subprocess
import tomllib

import yaml

from affinity_bandits import __version__
from tests.support.environments import ROOT


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["version"] == __version__
    first = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    assert first is not None
    assert first[1] == __version__


def test_a_release_of_another_version_is_refused() -> None:
    done = subprocess.run(
        ["bash", str(ROOT / ".ci" / "release"), "99.0.0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["src/affinity_bandits/_version.py does not say 99.0.0"]


def test_every_python_that_is_promised_is_checked() -> None:
    classifiers = tomllib.loads(text_of("pyproject.toml"))["project"]["classifiers"]
    promised = [one.rpartition(" ")[2] for one in classifiers if "Python :: 3." in one]
    job = yaml.safe_load(text_of(".github/workflows/check.yml"))["jobs"]["check"]
    assert job["strategy"]["matrix"]["python"] == promised
    assert job["steps"][-1] == {"run": "bash .ci/run"}


def test_the_paper_is_what_is_cited_first() -> None:
    cited = yaml.safe_load(text_of("CITATION.cff"))["preferred-citation"]
    assert cited["title"] in " ".join(text_of("README.md").split())
