"""The pages of the commands: what `affinity COMMAND --help` says, with options as tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

FOLDER = "reference/cli/"
LISTS = ("policies", "biases", "noises")
"""Commands whose output belongs to their page."""
LISTED = re.compile(r"((?:^\* `.*\n)+)", flags=re.MULTILINE)
ENTRY = re.compile(r"\* `(?P<name>[^`]+)`: (?P<help>.*?)(?:  \[(?P<facts>[^][]*)\])?$")


def append_help(app: object, page: str, source: list[str]) -> None:
    """Append the help of a command to its page, which has only a title."""
    if page.startswith(FOLDER):
        command = page.removeprefix(FOLDER)
        source[0] += help_of(command)
        if command in LISTS:
            source[0] += f"```text\n{printed(command)}```\n"


@cache
def helps() -> dict[str, str]:
    """Return the help of each command and of its commands, in Markdown."""
    command = ["typer", "affinity_bandits.cli.app", "utils", "docs", "--name", "affinity"]
    found = subprocess.run([sys.executable, "-m", *command], capture_output=True, check=True)
    parts = re.split(r"^## `affinity ([\w-]+)`\n", found.stdout.decode(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def printed(command: str) -> str:
    """Return what a command prints."""
    affinity = Path(sys.executable).with_name("affinity")
    variables = {**os.environ, "COLUMNS": "100"}
    found = subprocess.run([affinity, command], capture_output=True, check=True, env=variables)
    return found.stdout.decode()


def help_of(command: str) -> str:
    """Return the help of a command with tables instead of lists."""
    text = helps()[command]
    text = re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+\n?", "", text)  # they follow in full
    text = re.sub(r"^#(#+) `(.*)`$", r"\1 \2", text, flags=re.MULTILINE)
    text = re.sub(r"^\*\*(\w+)\*\*:$", r"**\1**", text, flags=re.MULTILINE)
    text = re.sub(r"^\* `--help`: .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\*\*Options\*\*\n\n(?!\*)", "", text)
    # Click's mark for lines that are not to be joined.
    text = re.sub(r"\x08\s*Example:\s*(.+)", r"**Example**\n\n```console\n$ \1\n```", text)
    return LISTED.sub(lambda found: as_table(found[1]), text)


def as_table(entries: str) -> str:
    """Return a list of arguments or options as a table."""
    rows = [match for line in entries.splitlines() if (match := ENTRY.match(line))]
    if len(rows) != len(entries.splitlines()):
        raise ValueError(f"an entry of typer's Markdown has another form:\n{entries}")
    lines = [cells(row["name"], row["help"], row["facts"] or "") for row in rows]
    return "\n".join(["| name | what it does | default |", "|---|---|---|", *lines]) + "\n"


def cells(name: str, help_text: str, facts: str) -> str:
    """Return a row: the name without its type, the help, and the default."""
    known = dict(fact.split(": ", 1) for fact in facts.split("; ") if ": " in fact)
    said = re.fullmatch(r"(?P<rest>.*?) \[(?P<default>[^][]+)\]", help_text)
    default = known.get("default", said["default"] if said else "")
    rest = said["rest"] if said else help_text
    if "required" in facts:
        default = "required"
    if "env var" in known:
        rest += f" Variable: `{known['env var']}`."
    shown = f"`{default}`" if "default" in known else default
    plain = re.sub(r" <[^>]*>", "", name)
    return f"| `{plain}` | {escaped(rest)} | {shown} |"


def escaped(text: str) -> str:
    """Return help, which is no markup, as Markdown."""
    return re.sub(r"([|*<\[\]])", r"\\\1", text)
