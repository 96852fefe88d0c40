"""The command line as a whole: how it is used, and that `--help` shows all that was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from affinity_bandits import __version__
from affinity_bandits.cli.app import app
from tests.cli.test_simulate import affinity, succeeded


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)


ALL = list(commands(get_command(app)))


def lost(shown: typer.Typer, path: tuple[str, ...], command: Any) -> list[str]:
    """The help texts of a command that its --help does not show as they are."""
    done = CliRunner().invoke(shown, [*path, "--help"], env={"COLUMNS": "100"})
    assert done.exit_code == 0
    seen = plain(done.output)
    texts = [command.help, *(parameter.help for parameter in command.params)]
    return [text for text in texts if text is not None and plain(text) not in seen]


def plain(text: str) -> str:
    """Letters without lines, spaces and boxes."""
    return "".join(character for character in text if character not in "│╭╮╰╯─ \n")


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) or "-" for path, _ in ALL])
def test_help_shows_every_text_as_it_is(path: tuple[str, ...], command: Any) -> None:
    assert lost(app, path, command) == []


LONGEST_SUMMARY = 55
GROUPS = [(path, command) for path, command in ALL if getattr(command, "commands", {})]


@pytest.mark.parametrize(
    ("path", "group"), GROUPS, ids=[" ".join(path) or "-" for path, _ in GROUPS]
)
def test_every_summary_fits_beside_its_command(path: tuple[str, ...], group: Any) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"}).output
    for name, command in group.commands.items():
        summary = command.get_short_help_str(200)
        assert len(summary) <= LONGEST_SUMMARY
        assert re.search(rf"^  {name} +{re.escape(summary)}$", shown, flags=re.MULTILINE)


def test_every_command_is_in_one_of_three_panels() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    panels = re.findall(r"^(\w+):\n((?:  .+\n)+)", shown, flags=re.MULTILINE)[1:]  # after Options
    assert [len(re.findall(r"^  (\w+)", lines, re.MULTILINE)) for _, lines in panels] == [3, 3, 6]
    listed = [name for _, lines in panels for name in re.findall(r"^  (\w+)", lines, re.MULTILINE)]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]


def test_there_are_brackets_to_lose() -> None:
    texts = [parameter.help or "" for _, command in ALL for parameter in command.params]
    assert sum("[" in text for text in texts) >= 5


def test_a_lost_bracket_is_seen() -> None:
    marked = typer.Typer(rich_markup_mode="rich")

    @marked.command()
    def one(file: Annotated[str, typer.Option(help="A file with a table [run].")] = "") -> None:
        """Do nothing."""

    assert lost(marked, (), get_command(marked)) == ["A file with a table [run]."]


@pytest.mark.slow
def test_without_arguments_it_shows_how_it_is_used() -> None:
    assert succeeded("--version") == f"{__version__}\n"
    done = affinity()
    # Older click shows the same help with status 0.
    assert done.returncode in (0, 2)
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    assert "Usage" in text
    assert all(command in text for command in ("simulate", "policies", "biases", "noises"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("frobnicate",), "frobnicate"),
        (("simulate", "--frobnicate"), "--frobnicate"),
        (("simulate", "--horizon"), "--horizon"),
        (("plan", "--method", "bets"), "--method"),
        (("simulate", "one.toml", "two.toml"), "two.toml"),
    ],
)
def test_a_command_line_that_cannot_be_read_ends_with_status_2(
    arguments: tuple[str, ...], says: str
) -> None:
    done = affinity(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
