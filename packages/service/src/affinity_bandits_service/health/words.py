"""Findings of health checks in words: the observation, its effect, and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["missing", "uneven", "ends", "standstill", "rater", "committee"]
Severity = Literal["note", "warning"]
LONGEST_SHOWN = 60
"""Characters of a name in a sentence; lists and tables show all of it."""
MOST_NAMED = 3
"""Parts of a list in a sentence."""


@dataclass(frozen=True)
class Words:
    """A finding in words.

    Attributes:
        kind: the check that found it.
        severity: "warning" if a guarantee is in doubt or the campaign stands still, else "note".
        arms: the groups concerned; empty for all.
        seen: the observation, with its size.
        effect: its effect on the comparison.
        advice: the next step.
    """

    kind: Kind
    severity: Severity
    arms: tuple[int, ...]
    seen: str
    effect: str
    advice: str


TEXTS: dict[str, tuple[Kind, Severity, str, str, str]] = {
    "missing": (
        "missing",
        "warning",
        "Answers are missing or late {often} for {name} than for the other groups: {own} of its"
        " {slots:,} slots had no answer when their lease ended, against {others} of the others' in"
        " the same rounds. Chance alone would ever show this in at most one campaign of 1,000.",
        "Who is left out may not be like who is rated. Missing answers are a bias of their own,"
        " which no guarantee here covers: where raters leave out what they do not like, scores"
        " look better than they are.",
        "Find out who leaves {left_out} unanswered, and why: a broken form, raters of one group who"
        " are slower, candidates who do not come. If leases are too short for one group, lengthen"
        " them for all in a new campaign. Do not trust a decision that was made since.",
    ),
    "uneven": (
        "uneven",
        "warning",
        "In round {round} the groups do not have equal numbers of answers, which cannot come of"
        " asks and tells.",
        "Groups that take turns in equal numbers are what makes scores of a round comparable.",
        "Somebody or something has changed the database. Run 'affinity serve verify' for this"
        " campaign, and trust no decision before it says that all fits.",
    ),
    "ends of all groups": (
        "ends",
        "warning",
        "Nearly all scores of all groups are the {end} there are: on average they are {far:.2g}"
        " from {score:g}, in {answers:,} answers.",
        "No two groups can differ by more than {near:g} on such scores, so the comparison sees next"
        " to nothing of what sets them apart, and will take very long.",
        "Check that the form sends what raters enter, and that lowest and highest are what raters"
        " use. If raters really give everybody the same score, begin a new campaign with a question"
        " or a scale that leaves room above and below.",
    ),
    "ends of some groups": (
        "ends",
        "note",
        "Nearly all scores of {which} are the {end} there are: on average they are {far:.2g} from"
        " {score:g}, in {answers:,} answers.",
        "If these are real scores, nothing is wrong: such a group is told apart soon. If they stand"
        " for something else, such as no score at all, they decide the comparison all the same.",
        "Look at some of these ratings, and check that nothing sends this score where there is"
        " none: what is not known should not be told.",
    ),
    "standstill": (
        "standstill",
        "warning",
        "No answer has come for {silent}{pace}. {slots} that were handed out have no answer.",
        "Nothing is decided meanwhile. No group gains by it: a round is compared only once it has"
        " all its answers.",
        "Check that whoever asks still runs, and that tells arrive. Slots whose lease has expired"
        " are offered to whoever asks next; a round that only waits for answers needs somebody to"
        " ask.",
    ),
    "rater": (
        "rater",
        "note",
        "Rater {rater} gave {scores:,} of the {total:,} scores that say who gave them ({part}).",
        "What is promised holds, but of this rater's scores: the comparison says which group one"
        " person prefers.",
        "Have others rate as well, or say with the result whose it is.",
    ),
    "committee grown ever": (
        "committee",
        "warning",
        "The committee that was told before round {round} has more members than can have joined,"
        " counting everybody who was chosen since the first round: {grown}.",
        "Shares are computed from these numbers. Where they are wrong, or people join without"
        " having been chosen, a group may have a larger share than the comparison allows for, and"
        " its guarantee does not hold.",
        "Find out which of these numbers is wrong, this one or one before it, and tell the"
        " committee as it is before the next round. Do not trust a decision that was made since.",
    ),
    "committee grown in a round": (
        "committee",
        "note",
        "The committee that was told before round {round} has grown by more than were chosen in"
        " the round before: {grown}.",
        "If some joined late who had been chosen in earlier rounds, and began to judge only when"
        " that round was over, nothing is wrong. If they judged in the middle of it, their group"
        " may have had a larger share than the comparison allows for.",
        "Let whoever joins late judge from the next round on, and check that all numbers are"
        " right.",
    ),
}
"""By name: the kind and severity of a finding, and its three texts with places for values."""


def words_for(text: str, arms: tuple[int, ...] = (), **values: object) -> Words:
    """Return a finding about some groups, with values put into one of `TEXTS`."""
    kind, severity, *parts = TEXTS[text]
    return Words(kind, severity, arms, *(part.format(**values) for part in parts))


def shorten(name: str) -> str:
    """Return a name as running text shows it, cut off if it is very long."""
    return name if len(name) <= LONGEST_SHOWN else name[: LONGEST_SHOWN - 1].rstrip() + "…"


def quote(name: str) -> str:
    """Return a name in quotation marks, shortened if it is very long."""
    return f"“{shorten(name)}”"


def percent(part: float) -> str:
    """Return a part in percent, with a decimal where it is small.

    >>> percent(0.123), percent(0.0123), percent(0.0)
    ('12%', '1.2%', '0%')
    """
    return f"{part:.1%}" if 0.0 < part < 0.1 else f"{part:.0%}"
