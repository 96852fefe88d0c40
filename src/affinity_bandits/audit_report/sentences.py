"""The sentences that page and text have in common."""

from __future__ import annotations

import math

from affinity_bandits.audit.conclusions import percent
from affinity_bandits.audit.result import Assumed, Audit, Compared, Seen

HEADINGS = {
    "shown": "Shown",
    "indicated": "Indicated, not proven",
    "not seen": "Not seen",
    "cannot tell": "Cannot tell",
}
ASKED = "Do scores of a group rise with its share among those who judge?"


def rows_words(audit: Audit) -> str:
    """Return what was looked at."""
    text = f"{audit.rows:,} scores of {len(audit.groups)} groups"
    if audit.panels == "random":
        text += ", with panels drawn at random"
    elif audit.panels == "recorded":
        text += ", with who sat on each panel"
    if audit.committees > 1:
        text += f"; the weakest answer for {audit.committees} initial committees of the range"
    return text


def strength_words(audit: Audit) -> str:
    """Return how strong the bias can be, if it is a bonus."""
    if audit.bonus is None:
        return "No bonus fits these scores: the bias, if any, has another shape, or levels changed."
    low, high = audit.bonus
    if low == 0.0 and math.isinf(high):
        return "How strong it is cannot be said: the log leaves every bonus possible."
    if low == 0.0:
        text = f"A judge from one's own group gives at most {percent(high)} more"
    elif math.isinf(high):
        text = f"A judge from one's own group gives at least {percent(low)} more"
    else:
        text = f"A judge from one's own group gives between {percent(low)} and {percent(high)} more"
    return (
        text + ", if the bias is a bonus and no level changes over time (right in 19 of 20 logs)."
    )


def odds_words(odds: float) -> str:
    """Return odds, so many to 1.

    >>> odds_words(23.4), odds_words(0.01), odds_words(5e9)
    ('23 to 1', 'below 1 to 1', 'over a million to 1')
    """
    if odds < 1.0:
        return "below 1 to 1"
    return "over a million to 1" if odds > 1e6 else f"{odds:,.0f} to 1"


def assumed_words(one: Assumed) -> str:
    """Return whether something is shown under one assumption."""
    return "shown" if one.shown else "not shown"


def compared_words(one: Compared) -> str:
    """Return what can be said of two groups."""
    parts = []
    if one.at_least is not None:
        parts.append(
            f"{one.group} is worth at least {one.at_least:.3g} times {one.than}, whatever the bias"
        )
    if one.ratio is not None:
        parts.append(
            f"between {one.ratio[0]:.3g} and {one.ratio[1]:.3g} times, if the bias is a bonus"
        )
    return "; ".join(parts) or "the log leaves everything possible"


def seen_words(one: Seen) -> str:
    """Return how many times the rows a bonus would take to be seen."""
    if one.times is None:
        return "more than 64 times as many rows"
    if math.isinf(one.times):
        return "no number of rows like these"
    if one.times <= 1.0:
        return "these rows"
    return f"{one.times:.2g} times as many rows"
