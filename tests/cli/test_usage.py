"""Each command's help names the kind of each value, and has an example that the command takes."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from affinity_bandits.cli.app import app
from affinity_bandits.cli.usage import EXAMPLES
from tests.cli.test_app import ALL


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) or "-" for path, _ in ALL])
def test_help_names_the_kind_of_each_value_and_has_an_example(
    path: tuple[str, ...], command: Any
) -> None:
    words = " ".join(path)
    if getattr(command, "commands", {}) and words not in EXAMPLES:
        return
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"}).output
    assert not re.search("--[a-z-]+ <", shown)
    assert f"\n  Example:\n    {EXAMPLES[words]}\n" in f"{shown}\n"
    typed = shlex.split(EXAMPLES[words].partition(" > ")[0])
    assert typed[: 1 + len(path)] == ["affinity", *path] or path == ("serve", "migrate")
    # Options that the command does not have end it here.
    get_command(app).make_context("affinity", typed[1:2], resilient_parsing=True)
    if path != ("serve", "migrate"):
        command.make_context(words, typed[1 + len(path) :])
