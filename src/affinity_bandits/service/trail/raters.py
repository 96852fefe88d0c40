"""Who rated, as events of the audit trail say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affinity_bandits.service.core.tells import SlotTell

Row = Mapping[str, Any]
Counts = dict[str, tuple[int, int, int]]
"""By rater: scores, the event with the first one, and its place there, from 1."""


def fits_request(event: Row) -> bool:
    """Return whether a tell's raters are those of its request's digest; nothing else shows them."""
    if event["detail"] is None:
        return True
    raters = zip(event["detail"]["raters"], event["detail"]["rater_arms"], strict=True)
    told = (tuple(event["told"]), tuple(event["units"]), tuple(raters))
    request = SlotTell(event["lease"], event["key"], event["actor"], *told)
    return event["counts"] is None and request.digest == event["digest"]


def count_raters(counts: Counts, event: Row) -> None:
    """Add the scores of a tell, of which all answers counted, to those of their raters."""
    if event["detail"] is None:
        return
    for place, rater in enumerate(event["detail"]["raters"], start=1):
        if rater is not None:
            scores, *first = counts.get(rater, (0, event["number"], place))
            counts[rater] = (scores + 1, first[0], first[1])
