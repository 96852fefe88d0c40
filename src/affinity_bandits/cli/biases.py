"""`affinity biases`: what bias models there are."""

from __future__ import annotations

from affinity_bandits.cli.listing import print_lines


def biases() -> None:
    """List the bias models, a line each."""
    from affinity_bandits.catalogue import bias_lines

    print_lines(("bias", "settings", "formula"), bias_lines())
