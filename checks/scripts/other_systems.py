"""Run what should work on Windows and macOS, on the installed package.

    python checks/scripts/other_systems.py

It needs the extras app and experiments, and the client. Any failure ends it with a traceback.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"
COMMAND = [sys.executable, "-c", "from affinity_bandits.cli import main; main()"]
SWEEP = """
replicates = 4
[axes]
policy = ["uniform", "elimination"]
[fixed]
"bandit.true_means" = [0.4, 0.6]
horizon = 100
"""
GROUPS = ("--groups", "2", "--budget", "300", "--difference", "0.5", "--scale", "1..5")
COMMANDS = {
    ("simulate", "--means", "0.4,0.6", "--horizon", "1000", "--replicates", "4"): "ucb1",
    ("plan", *GROUPS, "--judges", "panels", "--out", "plan.toml"): "saved as plan.toml",
    ("simulate", "plan.toml", "--replicates", "4", "--log", "log.csv"): "log: log.csv",
    (
        *("audit", DATA / "interviews.xlsx", "--people", DATA / "people.csv"),
        *("--scale", "1..5", "--report", "report.html"),
    ): "report: report.html",
    ("sweep", "run", "s.toml", "--workers", "2"): "8 were run",
    ("sweep", "status", "s.toml"): "8 of 8 replicates (100%)",
    ("sweep", "export", "s.toml", "cells.csv"): "table: cells.csv (2 rows)",
}


def run_all(folder: str) -> None:
    """Run every command in a folder, then the application and the client without a journal."""
    Path(folder, "s.toml").write_text(SWEEP, encoding="utf-8")
    for words, printed in COMMANDS.items():
        done = subprocess.run(
            [*COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode or printed not in done.stdout:
            raise RuntimeError(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        print("works:", words[0], *map(str, words[1:2]))
    serve = [*COMMAND, "app", "--port", "0", "--no-browser"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as app:
        try:
            assert app.stdout is not None
            address = app.stdout.readline().split()[3]
            with urllib.request.urlopen(address, timeout=60) as answer:
                if b"Affinity" not in answer.read():
                    raise RuntimeError(f"{address} shows something else")
        finally:
            app.terminate()
    print("works: app")
    importlib.import_module("affinity_bandits_client")
    print("works: client")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run_all(folder)
