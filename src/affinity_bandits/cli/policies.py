"""`affinity policies`: what policies there are."""

from __future__ import annotations

from affinity_bandits.cli.listing import print_lines


def policies() -> None:
    """List the policies, a line each."""
    from affinity_bandits.catalogue import policy_lines

    print_lines(("policy", "kind", "assumes feedback", "what it does"), policy_lines())
