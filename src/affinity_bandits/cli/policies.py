"""`affinity policies`: what policies there are."""

from __future__ import annotations


def policies() -> None:
    """List the policies, a line each."""
    from rich.console import Console
    from rich.table import Table

    from affinity_bandits.catalogue import policy_lines

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("policy", "kind", "what it does"):
        table.add_column(column)
    for line in policy_lines():
        table.add_row(*line)
    Console().print(table)
