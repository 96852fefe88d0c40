"""Whether this version can replay a campaign: it must have the campaign's policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affinity_bandits.errors import InvalidInput, NotSupported, UnknownName, shown
from affinity_bandits.service.core.campaign_spec import served_policy


def check_replayable(data: Mapping[str, Any]) -> None:
    """Check that this version has the policy of a campaign.

    Raises:
        NotSupported: it has not, so nothing can be said of what was decided.
    """
    try:
        served_policy(data)
    except UnknownName as error:
        found = f"no policy of the name {shown(error.value)}"
    except InvalidInput as error:
        found = f"no such settings of its policy ({error})"
    else:
        return
    raise not_replayable(found)


def not_replayable(found: str) -> NotSupported:
    """Return the error for a campaign of which this version has something else."""
    return NotSupported(
        f"the campaign cannot be replayed by this version, which has {found}; that says nothing"
        " against its record: verify it with the version that it was made with"
    )
