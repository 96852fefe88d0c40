"""Options that commands share: parsed from flags and TOML files, printed as tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from affinity_bandits.base import checks
from affinity_bandits.base.declaration import ASKS, EQUALITY, EXAMPLES, Declaration
from affinity_bandits.base.errors import InvalidInput, shown
from affinity_bandits.base.plan_format import check_format
from affinity_bandits.base.registry import read_number

if TYPE_CHECKING:
    from affinity_bandits.experiments import Executor


Answer = TypeVar("Answer")
YES_OR_NO = {"yes": True, "y": True, "no": False, "n": False}
PICTURES = (".png", ".svg", ".pdf")
PLAN_TABLES = ("plan", "assumptions", "declaration", "end")
"""Tables of a plan file that no command needs."""


OWN_CODE_HELP = "Import module:Class names of the file, which runs their code."


def numbers(parameter: str, text: str) -> list[float | int]:
    """Return the numbers of a comma-separated list."""
    return [read_number(f"{parameter}[{i}]", part) for i, part in enumerate(text.split(","))]


def drop_missing(**settings: Any) -> dict[str, Any]:
    """Return the settings that were given at all."""
    return {key: value for key, value in settings.items() if value is not None}


def ask_until(
    words: str, read: Callable[[str], Answer], *, usual: str = "", example: str = ""
) -> Answer:
    """Ask until an answer is understood; say each time why it is not.

    Args:
        words: the question.
        read: returns what an answer means, or raises `InvalidInput`.
        usual: the answer of somebody who presses Enter.
        example: an answer.
    """
    import typer

    while True:
        said = typer.prompt(words, default=usual, show_default=bool(usual), type=str).strip()
        try:
            return read(said)
        except InvalidInput as error:
            got = f"{shown(said)} is not" if said else "nothing was given"
            line = f"  Not understood: it must be {error.rule}; {got}."
            typer.echo(f"{line} For example: {example}" if example else line)


def ask_declaration(*, comparison: bool, groups_are: str = "") -> Declaration:
    """Ask what the groups are, who is responsible and for which purpose.

    Args:
        comparison: whether groups are to be compared, which protected attributes may not be.
        groups_are: what the groups are if the user presses Enter, such as their names.

    Raises:
        InvalidInput: the groups are protected attributes and are to be compared.
    """
    made = Declaration("?", "?", "?")

    def read(name: str, said: str) -> Declaration:
        if name != "protected":
            answers: dict[str, Any] = {name: said}
            answered = replace(made, **answers)
            if name == "purpose":
                answered.check_audit()
            return answered
        if said.casefold() not in YES_OR_NO:
            raise InvalidInput(name, "yes or no", said)
        return replace(made, protected=YES_OR_NO[said.casefold()])

    for name, words in ASKS.items():
        usual = groups_are if name == "groups_are" else ""
        example = EXAMPLES.get(name, "no")
        if name == "purpose" and made.protected:
            example = f"{EQUALITY} of interviews, 2026"
        made = ask_until(words, partial(read, name), usual=usual, example=example)
        if comparison:
            made.check_comparison()
    return made


def check_place(name: str, path: Path | None, suffixes: Sequence[str] = ()) -> None:
    """Check that a file can be written, before the work begins."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        ends = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise InvalidInput(name, f"a file that ends in {ends}", str(path))
    if not path.parent.is_dir():
        raise InvalidInput(name, "in a directory", str(path))
    if path.is_dir():
        raise InvalidInput(name, "a file, not a directory", str(path))


def check_picture(path: Path | None) -> None:
    """Check that a picture can be drawn and written."""
    check_place("plot", path, PICTURES)
    if path is not None:
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()


def read_tables(
    path: Path, known: Mapping[str, tuple[str, ...]], ignored: tuple[str, ...] = PLAN_TABLES
) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file, which may be a plan."""
    return known_tables(path, read_file(path), known, ignored)


def read_file(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; of a plan, check the format."""
    data = checks.toml_file(path)
    if isinstance(data.get("plan"), dict):
        try:
            check_format(data["plan"])
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error.parameter}", error.rule, error.value) from None
    return data


def known_tables(
    path: Path,
    data: dict[str, Any],
    known: Mapping[str, tuple[str, ...]],
    ignored: tuple[str, ...] = PLAN_TABLES,
) -> dict[str, dict[str, Any]]:
    """Return the tables of a file that a command needs; check their keys."""
    data = {table: content for table, content in data.items() if table not in ignored}
    checks.known_keys(f"table of {path}", data, known)
    for table, content in data.items():
        if not isinstance(content, dict):
            raise InvalidInput(f"{table} of {path}", "a table", content)
        checks.known_keys(f"key of [{table}] in {path}", content, known[table])
    return data


@contextmanager
def resumable() -> Iterator[None]:
    """Exit with status 130 if interrupted; for work that the same command continues."""
    import typer

    try:
        yield
    except KeyboardInterrupt:
        words = "affinity: interrupted; the same command goes on where this one stopped"
        typer.echo(words, err=True)
        raise typer.Exit(130) from None


WIDTH = 80  # columns of a text


def align_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines, the first column left-aligned and the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def wrap_text(text: str, indent: str = "") -> str:
    """Return a text in lines of 80 columns; lines after the first are indented."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def say(*texts: str, style: str = "") -> None:
    """Print lines as they are, with a style on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for text in texts:
        console.print(Text(text, style=style))


def print_table(
    columns: Iterable[str], rows: Iterable[Sequence[str]], left: int | None = None
) -> None:
    """Print a plain table; columns after the first `left` are right-aligned and unwrapped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        right = left is not None and place >= left
        table.add_column(name, justify="right" if right else "left", no_wrap=right)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


KINDS = ("processes", "serial", "ray")
KIND_HELP = "processes (this machine), serial (this process) or ray (a cluster)."
ADDRESS_HELP = "Of a Ray cluster: auto, or host:port. Left out: Ray on this machine alone."


def executor(
    kind: str,
    workers: int | None,
    address: str | None,
    usual: int | None = None,
    time_limit: float | None = None,
) -> Executor:
    """Return the executor that a command's flags ask for.

    Args:
        kind: processes, serial or ray.
        workers: how many at once; by default `usual` processes, or all of a cluster.
        address: of a Ray cluster.
        usual: the default number of processes; if left out, one for each core.
        time_limit: seconds that a shard may take.
    """
    from affinity_bandits.experiments import ProcessExecutor, SerialExecutor

    checks.choice("executor", kind, KINDS)
    if workers is not None:
        checks.integer("workers", workers, low=1, high=100_000)
    if address is not None and kind != "ray":
        raise InvalidInput("address", "left out unless --executor is ray", address)
    if kind == "serial" and workers not in (None, 1):
        raise InvalidInput("workers", "1 or left out where --executor is serial", workers)
    if kind == "ray":
        from affinity_bandits.experiments.ray_executor import RayExecutor

        return RayExecutor(address, workers, time_limit, _tell_dashboard)
    if kind == "serial" or (workers == 1 and time_limit is None):
        if time_limit is not None:
            rule = "left out where --executor is serial, as it would end this process"
            raise InvalidInput("time_limit", rule, time_limit)
        return SerialExecutor()
    return ProcessExecutor(workers or usual, time_limit)


def _tell_dashboard(address: str) -> None:
    import typer

    typer.echo(f"Ray's dashboard: {address}", err=True)


def policies() -> None:
    """List the policies."""
    from affinity_bandits.catalogue import policy_lines

    print_table(("policy", "kind", "assumes feedback", "what it does"), policy_lines())


def biases() -> None:
    """List the bias models."""
    from affinity_bandits.catalogue import bias_lines

    print_table(("bias", "settings", "formula"), bias_lines())


def noises() -> None:
    """List the noises: how scores scatter.

    The default mechanism of each comes first.
    """
    from affinity_bandits.catalogue import noise_lines

    print_table(("noise", "settings", "mechanisms", "what scores are like"), noise_lines())
