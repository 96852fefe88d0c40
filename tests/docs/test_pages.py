"""The README and every page of the documentation, typed as printed, with only what they need.

    python -m pytest tests/docs -k sweeps     one page

A block that must not be run here says so in a comment with the reason; the run lists all of them.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs.pages import EVERY_PAGE, read_page
from tests.docs.reader import follow
from tests.support.databases import SERVER
from tests.support.environments import ROOT, SERVING, STUDY, environment

PAGES = {str(path.relative_to(ROOT).with_suffix("")): path for path in EVERY_PAGE}
DATABASE = "postgresql://127.0.0.1:5432/affinity"
MOST_EXCEPTIONS = 4
STORIES = "stories/"
INSTALLED = {"docs/study/model": STUDY, "docs/run/backend": SERVING}
"""Pages that are followed in a real environment of their own."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly)
        if STORIES in name and "hiring" not in name
        else name
        for name in PAGES
    ],
)
def test_the_page_does_what_it_says(name: str, tmp_path: Path) -> None:
    page = read_page(PAGES[name])
    place = None
    if name in INSTALLED:
        assert page.needs == INSTALLED[name]
        place = environment(INSTALLED[name])
    with adapted(PAGES[name].read_text(encoding="utf-8")) as instead:
        follow(page, tmp_path, instead, place)


def test_few_blocks_are_not_run_and_each_has_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [line for path in PAGES.values() for line in read_page(path).exceptions]
    with capsys.disabled():
        print("\nnot run:", *found, sep="\n  ")
    assert len(found) <= MOST_EXCEPTIONS


def test_the_readme_example_is_at_most_ten_lines() -> None:
    text = PAGES["README"].read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    code = [line for line in example.splitlines() if line and not line.startswith("#")]
    assert len(code) <= 10


@contextmanager
def adapted(text: str) -> Iterator[dict[str, str]]:
    """Replace fixed ports and the database of a page by free ones."""
    instead = {}
    for printed in ("8000", "8001", "8080", "8400"):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        instead[f"127.0.0.1:{printed}"] = f"127.0.0.1:{port}"
        instead[f"port {printed}"] = f"port {port}"
    if DATABASE not in text:
        yield instead
        return
    name = f"affinity_docs_{os.getpid()}"
    instead[DATABASE] = urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    instead["createdb affinity"] = f"createdb --maintenance-db='{SERVER}' {name}"
    try:
        yield instead
    finally:
        drop = ["dropdb", "--if-exists", "--force", f"--maintenance-db={SERVER}"]
        for more in {"", *re.findall(r"createdb affinity(_\w+)", text)}:
            subprocess.run([*drop, f"{name}{more}"], check=True)
