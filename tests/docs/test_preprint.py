"""The preprint has the statements of the pages, and pdflatex accepts it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from affinity_bandits.paper import Claim, ItemOutcome
from affinity_bandits.paper.runner import PlantedOutcome
from research.studies import STUDIES
from tests.support.environments import ROOT

SCRIPT = ROOT / "research" / "preprint" / "build.py"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = spec_from_file_location("preprint_build", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_theorem_claim_and_planted_world_is_in_the_source(build: ModuleType) -> None:
    claim = Claim("5% of x_1 & n^0.6 runs", "", "", "1 of 2", holds=True)
    planted = (PlantedOutcome("a false world", ["a false claim"], as_planted=True),)
    outcomes = {
        name: ItemOutcome(study, "quick", (claim,), planted, Path())
        for name, study in STUDIES.items().items()
    }
    source = build.document(outcomes, "quick")
    pages = [ROOT / "docs" / "study" / "studies" / f"{page}.md" for page in build.PAGES]
    pages += [ROOT / "docs" / f"{page}.md" for page in build.APPENDIX]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for head in re.findall(r"^\*\*((?:Theorem|Lemma|Proposition) \d+)\.\*\*", text, re.M):
            assert f"\\textbf{{{head}.}}" in source
    assert r"5\% of x\_1 \& $n^{0.6}$ runs" in source
    assert source.count("a false world & a false claim") == len(outcomes)
    assert source.count(r"\includegraphics") == len(outcomes)
    assert re.findall(r"FIGURE-|\.md\b", source) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_the_pdf_is_made(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is missing: apt-get install texlive-latex-recommended lmodern")
    subprocess.run([sys.executable, SCRIPT, "--out", tmp_path], check=True)
    assert (tmp_path / "preprint.pdf").stat().st_size > 100_000
    log = (tmp_path / "preprint.log").read_text(encoding="latin-1")
    assert "There were undefined references" not in log
    assert [one for one in re.findall(r"Overfull \\hbox \((\d+)", log) if int(one) > 20] == []
