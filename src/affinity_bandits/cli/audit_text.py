"""What an audit found, as a text of 80 columns."""

from __future__ import annotations

from affinity_bandits.audit.conclusions import LIMITS, bonus_words
from affinity_bandits.audit.result import Audit
from affinity_bandits.audit_report.sentences import (
    ASKED,
    assumed_words,
    compared_words,
    odds_words,
    rows_words,
    seen_words,
    strength_words,
)
from affinity_bandits.cli.formatting import aligned, wrapped


def text_of(audit: Audit) -> str:
    """Return the answer, what it rests on, and what would explain it away."""
    parts = [
        wrapped(audit.sentence),
        *map(wrapped, audit.because),
        "",
        wrapped(f"{rows_words(audit).capitalize()}. {ASKED}"),
        aligned(
            [("", "evidence", "")]
            + [
                (f"  {one.words}", odds_words(one.odds), assumed_words(one))
                for one in audit.assumed
            ]
        ),
        "",
        wrapped(strength_words(audit)),
        "",
        *_power(audit),
        *_compared(audit),
        "What would explain it away:",
        *(wrapped(f"- {limit}", "  ") for limit in LIMITS),
        "From now on, write down:",
        *(wrapped(f"- {one}", "  ") for one in audit.record),
        *(wrapped(f"Note: {one}") for one in audit.notes),
    ]
    return "\n".join(parts)


def _power(audit: Audit) -> list[str]:
    if not audit.power:
        return []
    rows = [("what would have been seen", "of 100 logs", "for 80 of 100 it takes")]
    rows += [
        (f"  {bonus_words(one.bonus)}", f"{100.0 * one.probability:.0f}", seen_words(one))
        for one in audit.power
    ]
    return [aligned(rows), ""]


def _compared(audit: Audit) -> list[str]:
    told = [one for one in audit.compared if one.ratio is not None or one.at_least is not None]
    if not told:
        return [wrapped("What the groups are worth beside each other cannot be said."), ""]
    lines = ["What is left of the comparison:"]
    lines += [
        wrapped(f"- {one.group} over {one.than}: {compared_words(one)}", "  ") for one in told
    ]
    return [*lines, ""]
