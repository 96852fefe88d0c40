"""The format number of plan files, which `planning` writes and the client of the service reads."""

from __future__ import annotations

from collections.abc import Mapping

from affinity_bandits.base.errors import InvalidInput

FORMAT = 1


def check_format(plan: Mapping[str, object]) -> None:
    """Check the format of the table [plan] of a plan file.

    Raises:
        InvalidInput: the file has another format.
    """
    if plan.get("format") != FORMAT:
        rule = f"{FORMAT}: make the plan again with this version's 'affinity plan'"
        raise InvalidInput("format", rule, plan.get("format"))
