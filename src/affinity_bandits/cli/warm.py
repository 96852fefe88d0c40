"""`affinity warm`: compile now what first commands need."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from affinity_bandits.base.errors import InvalidInput, need
from affinity_bandits.kernels.pack import VARIABLE, make_pack, missing_features, pack_processor

EXAMPLE = files("affinity_bandits") / "app" / "static" / "example"
SMALL = ("--horizon", "1000", "--replicates", "2")
POLICIES = ("ucb1", "exp3", "elimination", "head-start-elimination")
FIRST: Mapping[str, tuple[str, ...]] = {
    "simulate": (
        *("simulate", "--means", "0.4,0.6", "--bias", "power", "--initial-pulls", "100,10"),
        *(word for policy in POLICIES for word in ("--policy", policy)),
        *SMALL,
    ),
    "show": ("show", "--out", "loop.html", "--horizon", "1000"),
    "plan": (
        *("plan", "--groups", "referrals, agencies, open call", "--unit", "interview"),
        *("--scale", "1..5", "--bonus", "20%", "--committee", "30,10,10", "--joining", "1 in 10"),
        *("--difference", "0.3", "--budget", "2,000 a year", "--again"),
    ),
    "audit": ("audit", "interviews.xlsx", "--people", "people.csv", "--scale", "1..5"),
}
"""The first commands of the documentation, on small runs: loops do not depend on their length."""
PROGRAM = (
    "from affinity_bandits.simulation.engines import compile_at_once; compile_at_once(); "
    "from affinity_bandits.cli import main; main()"
)


def warm(
    pack: Annotated[
        Path | None,
        typer.Option(help="Put the compiled code into this folder, for a wheel, and not to use."),
    ] = None,
) -> None:
    """Compile now what first commands need.

    Afterwards, the first simulation, page, plan and audit compile nothing, in notebooks neither. It
    takes about a minute.
    """
    need("study", "numba")
    if pack is None:
        failed = warm_up(FIRST, {VARIABLE: ""})
        warmed = [f"affinity {name}" for name in FIRST if name not in failed]
        if warmed:
            typer.echo(f"compiled: {', '.join(warmed)}")
        if failed:
            raise typer.Exit(1)
        return
    if pack.exists():
        raise InvalidInput("pack", "a new folder", str(pack))
    lacking = missing_features()
    if lacking:
        rule = f"made on a processor with {', '.join(lacking)}"
        raise InvalidInput("pack", rule, "this one, which lacks them")
    with tempfile.TemporaryDirectory() as cache:
        failed = warm_up(FIRST, pack_processor() | {VARIABLE: "", "NUMBA_CACHE_DIR": cache})
        if failed:
            raise typer.Exit(1)
        typer.echo(f"written: {make_pack(Path(cache), pack)}")


def warm_up(commands: Mapping[str, Sequence[str]], variables: Mapping[str, str]) -> list[str]:
    """Run commands in processes with some environment variables; return which of them failed.

    Their output is not kept. The last line of an error is printed.
    """
    failed = []
    with tempfile.TemporaryDirectory() as folder, as_file(EXAMPLE) as example:
        for path in example.iterdir():
            Path(folder, path.name).write_bytes(path.read_bytes())
        for name, words in commands.items():
            typer.echo(f"compiling for affinity {name}", err=True)
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, *words],
                cwd=folder,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                failed.append(name)
                typer.echo(done.stderr.strip().splitlines()[-1], err=True)
    return failed
