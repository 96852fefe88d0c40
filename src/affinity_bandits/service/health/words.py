"""What health checks found, in words: what was seen, what it would do, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from affinity_bandits.service.health.checks import (
    NEAR,
    AtEnd,
    Misfit,
    Missing,
    OneRater,
    Standstill,
)

Kind = Literal["missing", "uneven", "ends", "standstill", "rater", "committee"]
Severity = Literal["note", "warning"]
LONGEST_SHOWN = 60
"""Characters of a name in a sentence."""
MOST_NAMED = 3
UNITS = ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))


@dataclass(frozen=True)
class Words:
    """A finding in words.

    Attributes:
        kind: the check that found it.
        severity: "warning" if a guarantee may not hold or nothing goes on, else "note".
        arms: the groups concerned; empty for all.
        seen: what was seen, and how much of it.
        effect: its effect on the comparison.
        advice: what to do.
    """

    kind: Kind
    severity: Severity
    arms: tuple[int, ...]
    seen: str
    effect: str
    advice: str


def missing_words(found: Missing, names: Sequence[str]) -> Words:
    """Say that answers are missing more often, or less often, for one group."""
    name = quoted(names[found.arm])
    often = "more often" if found.more else "less often"
    return Words(
        "missing",
        "warning",
        (found.arm,),
        f"Answers are missing or late {often} for {name} than for the other groups:"
        f" {_percent(found.own)} of its {found.slots:,} slots had no answer when their lease ended,"
        f" against {_percent(found.others)} of the others' in the same rounds. Chance alone would"
        " ever show this in at most one campaign of 1,000.",
        "Who is left out may not be like who is rated. Missing answers are a bias of their own,"
        " which no guarantee here covers: where raters leave out what they do not like, scores"
        " look better than they are.",
        f"Find out who leaves {name if found.more else 'the others'} unanswered, and why: a broken"
        " form, raters of one group who are slower, candidates who do not come. If leases are too"
        " short for one group, lengthen them for all in a new campaign. Do not trust a decision"
        " that was made since.",
    )


def uneven_words(number: int) -> Words:
    """Say that groups of a closed round have different numbers of answers."""
    return Words(
        "uneven",
        "warning",
        (),
        f"In round {number + 1} the groups do not have equal numbers of answers, which cannot come"
        " of asks and tells.",
        "Groups that take turns in equal numbers are what makes scores of a round comparable.",
        "Somebody or something has changed the database. Run 'affinity serve verify' for this"
        " campaign, and trust no decision before it says that all fits.",
    )


def ends_words(found: AtEnd, names: Sequence[str], lowest: float, highest: float) -> Words:
    """Say that nearly all scores are at one end."""
    end = lowest if found.end == "lowest" else highest
    far = found.distance * (highest - lowest)
    near = NEAR * (highest - lowest)
    what = f"on average they are {far:.2g} from {end:g}, in {found.answers:,} answers"
    if found.all:
        return Words(
            "ends",
            "warning",
            (),
            f"Nearly all scores of all groups are the {found.end} there are: {what}.",
            f"No two groups can differ by more than {near:g} on such scores, so the comparison sees"
            " next to nothing of what sets them apart, and will take very long.",
            "Check that the form sends what raters enter, and that lowest and highest are what"
            " raters use. If raters really give everybody the same score, begin a new campaign with"
            " a question or a scale that leaves room above and below.",
        )
    which = _listed([quoted(names[arm]) for arm in found.arms])
    return Words(
        "ends",
        "note",
        found.arms,
        f"Nearly all scores of {which} are the {found.end} there are: {what}.",
        "If these are real scores, nothing is wrong: such a group is told apart soon. If they stand"
        " for something else, such as no score at all, they decide the comparison all the same.",
        "Look at some of these ratings, and check that nothing sends this score where there is"
        " none: what is not known should not be told.",
    )


def standstill_words(found: Standstill) -> Words:
    """Say that a round stands still."""
    pace = f"No answer has come for {_time(found.silent)}"
    if found.usual is not None:
        pace += f"; before that, tells came {_time(found.usual)} apart on average"
    slots = "slot" if found.outstanding == 1 else "slots"
    return Words(
        "standstill",
        "warning",
        (),
        f"{pace}. {found.outstanding:,} {slots} that were handed out have no answer.",
        "Nothing is decided meanwhile. No group gains by it: a round is compared only once it has"
        " all its answers.",
        "Check that whoever asks still runs, and that tells arrive. Slots whose lease has expired"
        " are offered to whoever asks next; a round that only waits for answers needs somebody to"
        " ask.",
    )


def rater_words(found: OneRater) -> Words:
    """Say that one rater gives nearly all scores."""
    part = _percent(found.scores / max(1, found.total))
    return Words(
        "rater",
        "note",
        (),
        f"Rater {quoted(found.rater)} gave {found.scores:,} of the {found.total:,} scores that say"
        f" who gave them ({part}).",
        "What is promised holds, but of this rater's scores: the comparison says which group one"
        " person prefers.",
        "Have others rate as well, or say with the result whose it is.",
    )


def committee_words(found: Misfit, names: Sequence[str]) -> Words:
    """Say that a committee does not fit those who were chosen."""
    arms = tuple(one.arm for one in found.groups)
    parts = [
        f"{quoted(names[one.arm])} has {one.members:,}, where at most {one.most:,} fit"
        for one in found.groups
    ]
    told = f"The committee that was told before round {found.round + 1}"
    if found.ever:
        return Words(
            "committee",
            "warning",
            arms,
            f"{told} has more members than can have joined, counting everybody who was chosen since"
            f" the first round: {_listed(parts)}.",
            "Shares are computed from these numbers. Where they are wrong, or people join without"
            " having been chosen, a group may have a larger share than the comparison allows for,"
            " and its guarantee does not hold.",
            "Find out which of these numbers is wrong, this one or one before it, and tell the"
            " committee as it is before the next round. Do not trust a decision that was made"
            " since.",
        )
    return Words(
        "committee",
        "note",
        arms,
        f"{told} has grown by more than were chosen in the round before: {_listed(parts)}.",
        "If some joined late who had been chosen in earlier rounds, and began to judge only when"
        " that round was over, nothing is wrong. If they judged in the middle of it, their group"
        " may have had a larger share than the comparison allows for.",
        "Let whoever joins late judge from the next round on, and check that all numbers are"
        " right.",
    )


def quoted(name: str) -> str:
    """Return a name in quotation marks, shortened if it is very long."""
    shown = name if len(name) <= LONGEST_SHOWN else name[: LONGEST_SHOWN - 1].rstrip() + "…"
    return f"“{shown}”"


def _listed(parts: Sequence[str]) -> str:
    shown = list(parts)
    if len(shown) > MOST_NAMED:
        shown = [*shown[: MOST_NAMED - 1], f"{len(shown) - MOST_NAMED + 1:,} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def _percent(part: float) -> str:
    """Return a part in percent, with a decimal where it is small.

    >>> _percent(0.123), _percent(0.0123), _percent(0.0)
    ('12%', '1.2%', '0%')
    """
    return f"{part:.1%}" if 0.0 < part < 0.1 else f"{part:.0%}"


def _time(seconds: float) -> str:
    """Return a time in the largest unit of which it has two, or in seconds.

    >>> _time(7200), _time(90), _time(0.25), _time(1)
    ('2 hours', '90 seconds', '0.25 seconds', '1 second')
    """
    for length, unit in UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}s"
    return "1 second" if seconds == 1 else f"{seconds:.2g} seconds"
