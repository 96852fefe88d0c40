"""`affinity policies`, `affinity biases` and `affinity noises`: what there is, a line each."""

from __future__ import annotations

from collections.abc import Iterable


def policies() -> None:
    """List the policies, a line each."""
    from affinity_bandits.catalogue import policy_lines

    print_lines(("policy", "kind", "assumes feedback", "what it does"), policy_lines())


def biases() -> None:
    """List the bias models, a line each."""
    from affinity_bandits.catalogue import bias_lines

    print_lines(("bias", "settings", "formula"), bias_lines())


def noises() -> None:
    """List the noises, a line each; the mechanism that is taken if none is named comes first."""
    from affinity_bandits.catalogue import noise_lines

    print_lines(("noise", "settings", "mechanisms", "what scores are like"), noise_lines())


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
