"""The format of plan files: its number, and what is said of a file of another one.

Planning writes such files and the client of the service reads them; neither knows the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from affinity_bandits.errors import InvalidInput

FORMAT = 5


def check_format(plan: Mapping[str, object]) -> None:
    """Refuse the table [plan] of a file of another format, and say what to do.

    Raises:
        InvalidInput: this version cannot read the file.
    """
    found = plan.get("format")
    if found == FORMAT:
        return
    if isinstance(found, int) and found > FORMAT:
        rule = f"{FORMAT}: the plan is of a newer version of this package, which can read it"
    else:
        rule = f"{FORMAT}: the plan is of an older version, make it again with 'affinity plan'"
    raise InvalidInput("format", rule, found)
