"""Print which files of the package run in three flows: a simulation, a tell, an audit.

    PYTHONPATH=. python .ci/flows.py     needs PostgreSQL at AFFINITY_DSN for the tell

Each flow runs once to load its modules and once traced. A file counts if one of its functions runs.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import affinity_bandits
from affinity_bandits.cli import main as affinity

PACKAGE = Path(affinity_bandits.__file__).parent
SIMULATE = "simulate --policy ucb1 --means 0.4,0.6 --bias power --horizon 1e4 --replicates 4"
AUDIT = "audit {} --scale 1..5"
LOG = "candidate,group,judge,judge group,score\n" + "".join(
    f"c{row // 2},{'ab'[row // 2 % 2]},j{row % 8},{'ab'[row % 2]},{1 + row * 7 % 5}\n"
    for row in range(400)
)
HORIZON, ROUND = 1000, 2
"""The campaign's horizon, and the number of answers in its first round."""


@contextlib.contextmanager
def traced() -> Iterator[list[str]]:
    """Collect the files of the package whose functions run, in the order of their first call."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            files.setdefault(str(Path(code.co_filename).relative_to(PACKAGE)))

    found: list[str] = []
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        found += files


def command(words: str) -> list[str]:
    """Return the files that run in a command."""
    for _ in range(2):
        with (
            patch.object(sys, "argv", ["affinity", *words.split()]),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()) as said,
            contextlib.suppress(SystemExit),
            traced() as found,
        ):
            affinity()
    if "affinity:" in said.getvalue():
        raise SystemExit(said.getvalue())
    return found


def simulate() -> list[str]:
    """Return the files that run in a small simulation."""
    return command(SIMULATE)


def audit() -> list[str]:
    """Return the files that run in the audit of a small log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.csv")
        log.write_text(LOG, encoding="utf-8")
        return command(AUDIT.format(log))


def tell() -> list[str]:
    """Return the files that run in a request that closes a round, from the route on."""
    from tests.support.databases import made_database
    from tests.support.web_site import on_site, opened

    from affinity_bandits.service.store.migrate import migrate

    found: list[str] = []

    async def work(site: Any) -> None:
        nonlocal found
        async with site.client(await site.key()) as client:
            for _ in range(2):
                policy = {"name": "explore-then-commit", "pulls_per_arm": 1}
                campaign = await opened(client, policy=policy, horizon=HORIZON)
                path = f"/v1/campaigns/{campaign}"
                lease = (await client.post(f"{path}/ask", json={"count": ROUND})).json()
                answers = [{"slot": one["slot"], "score": 1} for one in lease["slots"]]
                with traced() as found:
                    told = await client.post(
                        f"{path}/tell", json={"lease": lease["lease"], "answers": answers}
                    )
                assert told.json()["counted"] == ROUND, told.text
                assert (await client.get(path)).json()["round"]["number"] == 1

    with made_database("affinity_flows") as dsn:
        migrate(dsn)
        on_site(dsn, work, quiet=True)
    return found


def main() -> None:
    """Print the number of files of each flow, and their names."""
    flows: dict[str, Callable[[], list[str]]] = {
        "affinity simulate": simulate,
        "a tell that closes a round": tell,
        "affinity audit": audit,
    }
    for name, flow in flows.items():
        files = flow()
        print(f"{name}: {len(files)} files", *files, sep="\n  ")


if __name__ == "__main__":
    main()
