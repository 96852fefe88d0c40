"""`affinity noises`: what noises there are."""

from __future__ import annotations

from affinity_bandits.cli.listing import print_lines


def noises() -> None:
    """List the noises, a line each; the mechanism that is taken if none is named comes first."""
    from affinity_bandits.catalogue import noise_lines

    print_lines(("noise", "settings", "mechanisms", "what scores are like"), noise_lines())
