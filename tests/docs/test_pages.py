"""The README and every page of the documentation, typed as printed, in the environment they name.

    python -m pytest tests/docs -k sweeps     one page

A page that must not be run somewhere says so in its source, in a comment with the reason; the run
lists all of them.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs.pages import EVERY_PAGE, read_page
from tests.docs.reader import Adapted, follow
from tests.support.environments import ROOT

pytestmark = pytest.mark.slow  # makes environments, compiles

PAGES = {str(path.relative_to(ROOT).with_suffix("")): path for path in EVERY_PAGE}
SERVER = os.environ.get("AFFINITY_DSN", "postgresql://127.0.0.1:5432/test")
DATABASE = "postgresql://127.0.0.1:5432/affinity"
MOST_EXCEPTIONS = 4


@pytest.mark.parametrize("name", PAGES)
def test_the_page_does_what_it_says(name: str, tmp_path: Path) -> None:
    with adapted(PAGES[name].read_text(encoding="utf-8")) as instead:
        follow(read_page(PAGES[name]), tmp_path, instead)


def test_few_blocks_are_not_run_and_each_has_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [line for path in PAGES.values() for line in read_page(path).exceptions]
    with capsys.disabled():
        print("\nnot run:", *(found or ["nothing is left out"]), sep="\n  ")
    assert len(found) <= MOST_EXCEPTIONS


@contextmanager
def adapted(text: str) -> Iterator[Adapted]:
    """What must differ here from what a page says: no fixed port, no database of others."""
    instead = {}
    for printed in ("8000", "8080"):
        if f":{printed}" in text:
            port = free_port()
            instead |= {
                f"127.0.0.1:{printed}": f"127.0.0.1:{port}",
                f"--port {printed}": f"--port {port}",
            }
    if DATABASE not in text:
        yield Adapted(instead)
        return
    name = f"affinity_docs_{os.getpid()}"
    instead[DATABASE] = urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    instead["createdb affinity"] = f"createdb --maintenance-db='{SERVER}' {name}"
    try:
        yield Adapted(instead)
    finally:
        drop = ["dropdb", "--if-exists", "--force", f"--maintenance-db={SERVER}", name]
        subprocess.run(drop, check=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])
