"""How lists of names are printed."""

from __future__ import annotations

from collections.abc import Iterable


def print_lines(columns: Iterable[str], lines: Iterable[tuple[str, ...]]) -> None:
    """Print a plain table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column)
    for line in lines:
        table.add_row(*line)
    Console().print(table)
