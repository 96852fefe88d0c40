"""`affinity biases`: what bias models there are."""

from __future__ import annotations


def biases() -> None:
    """List the bias models, a line each."""
    from rich.console import Console
    from rich.table import Table

    from affinity_bandits.catalogue import bias_lines

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("bias", "settings", "formula"):
        table.add_column(column)
    for line in bias_lines():
        table.add_row(*line)
    Console().print(table)
