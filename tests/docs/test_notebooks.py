"""Every notebook runs from top to bottom and draws a picture."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.environments import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MOST_SECONDS = 30.0
"""CPU time of one cell."""
CLOCK = "import time as _time; print(_time.process_time())"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.nightly] * (path.stem != "quickstart"))
        for path in NOTEBOOKS
    ],
)
def test_the_notebook_runs_and_draws(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    clock = nbformat.v4.new_code_cell(CLOCK)
    notebook.cells = [one for cell in notebook.cells for one in (cell, clock.copy())]
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    clocks = [float(cell.outputs[0]["text"]) for cell in notebook.cells[1::2]]
    slow = [
        (later - before, cell["source"])
        for before, later, cell in zip(clocks, clocks[1:], notebook.cells[2::2], strict=False)
        if later - before > MOST_SECONDS
    ]
    assert slow == []
    outputs = [one for cell in notebook.cells[::2] for one in cell.get("outputs", [])]
    assert any("image/png" in one.get("data", {}) for one in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_every_example_of_the_gallery_is_at_most_ten_lines() -> None:
    text = (ROOT / "docs" / "start" / "gallery.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 8
    assert [one for one in blocks if len([line for line in one.splitlines() if line]) > 10] == []
