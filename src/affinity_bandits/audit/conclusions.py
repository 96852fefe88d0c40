"""From evidence to one of four verdicts, in words that claim no more than the evidence carries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from affinity_bandits.audit.result import Assumed, OneGroupDrift, Seen, Word

ENOUGH = 20.0
"""Odds at which something is shown, or indicated."""
SURELY = 0.8
"""The probability with which a bonus would have been seen, if the log is to say "not seen"."""
OF_INTEREST = 1.0
"""Bonuses up to this are what is looked for: a log that would miss 100% cannot tell."""

RECORD_PANELS = (
    "Who judged: with every score the number of judges from each group (a group, never a name)."
)
DRAW_PANELS = (
    "Let panels of about five be drawn at random from the committee. Then nothing that changes "
    "over time can be taken for the bias, and the bias shows after far fewer scores."
)
RECORD_ALL = (
    "Every score, also of those who were not chosen, in the order in which they were given."
)
RECORD_COMMITTEE = "Who joins the committee and who leaves it, and when."

ROWS_TAKEN = (
    ("10%", "7,100", "over 64,000", "over 64,000"),
    ("20%", "2,000", "12,000", "over 64,000"),
    ("50%", "710", "2,100", "over 64,000"),
)
"""Scores until a bonus is shown in 80 of 100 logs: panels of five that are drawn at random, with
stars and with yes and no; and stars of groups in turn, from a committee of 100 and 10, where nobody
knows who judged. As `bench.audit_rows` measures it."""

LIMITS = (
    "A change over time of one group alone cannot be told from this bias: a group that gets better "
    "while its share grows looks the same. Only panels drawn at random settle it.",
    "If other people apply than before, or are looked at in another way, scores change with them.",
    "If judges left or joined other than by being chosen here, the shares in this log are not "
    "those of the people who judged.",
    "If only some scores are in the log, say those of people who were hired, what is missing may "
    "have been different.",
    "Nothing here is about persons, about anybody's intent, or about the law.",
)
"""What would explain it away, always shown."""


class Conclusion(NamedTuple):
    """A verdict in words.

    Attributes:
        word: of the four.
        sentence: what it means.
        because: what else has to be said.
        record: what to write down from now on.
    """

    word: Word
    sentence: str
    because: tuple[str, ...]
    record: tuple[str, ...]


def conclusion(
    assumed: Sequence[Assumed],
    indicated: float,
    power: Sequence[Seen],
    explained: Sequence[OneGroupDrift],
    panels: str | None,
) -> Conclusion:
    """Return the verdict.

    Args:
        assumed: what is shown under each assumption that the verdict may rest on, the widest last.
        indicated: the odds of the test that may only indicate.
        power: what would have been seen, the smallest bonus first.
        explained: what one group's own drift would have to be.
        panels: "random", "recorded" or None.
    """
    record = _record(panels)
    shown = [one for one in assumed if one.shown]
    if shown:
        widest = shown[-1]
        sentence = (
            f"Shown: scores of a group rise with its share among those who judge, {widest.words}."
        )
        because = (
            "Without such a bias a log would lead to this answer at most once in 20 times, "
            "whatever rule made the choices and whenever the log was ended.",
            *_drift_words(explained, widest.assumption),
        )
        return Conclusion("shown", sentence, because, record)
    if indicated >= ENOUGH:
        sentence = (
            "Indicated, not proven: scores seem to rise with a group's share among those who "
            "judge, by a test that is sharper but not guaranteed to be wrong only once in 20 times."
        )
        return Conclusion("indicated", sentence, (_seen_words(power),), record)
    sure = [one for one in power if one.probability >= SURELY and one.bonus <= OF_INTEREST]
    if sure:
        sentence = (
            f"Not seen: the log does not show that scores rise with a group's share; a bonus of "
            f"{percent(sure[0].bonus)} or more would probably have been seen."
        )
        smaller = "A smaller bonus can be there all the same: this is no proof that there is none."
        return Conclusion("not seen", sentence, (_seen_words(power), smaller), record)
    sentence = (
        "Cannot tell: this log would not have shown such a bias even if there were a strong one."
    )
    return Conclusion("cannot tell", sentence, (_seen_words(power), *_longer(power)), record)


def percent(part: float) -> str:
    """Return a part in per cent, or in words where it is infinite.

    >>> percent(0.2), percent(float("inf"))
    ('20%', 'any size')
    """
    return "any size" if math.isinf(part) else f"{100.0 * part:.3g}%"


def bonus_words(bonus: float) -> str:
    """Return a bonus in words.

    >>> bonus_words(0.5)
    'a bonus of 50%'
    """
    if math.isinf(bonus):
        return "scores in proportion to shares"
    return f"a bonus of {percent(bonus)}"


def _seen_words(power: Sequence[Seen]) -> str:
    """Return what would have been seen, in one sentence."""
    if not power:
        return "What would have been seen was not worked out."
    parts = [f"{bonus_words(one.bonus)} in {round(100 * one.probability)}" for one in power]
    return f"Of 100 logs like this one it would have shown {'; '.join(parts)}."


def _longer(power: Sequence[Seen]) -> tuple[str, ...]:
    """Return how long one would have to go on in the same way."""
    wanted = [one for one in power if one.bonus <= OF_INTEREST]
    if all(one.times is not None and math.isinf(one.times) for one in wanted):
        return ("More rows of this kind would not help: shares move too little for it to show.",)
    reachable = [one for one in wanted if one.times is not None and math.isfinite(one.times)]
    if not reachable:
        return ("Even 64 times as many rows of this kind would probably not show it.",)
    return tuple(
        f"{bonus_words(one.bonus).capitalize()} would take about {one.times:.2g} times as many "
        "rows of this kind."
        for one in reachable
    )


def _drift_words(explained: Sequence[OneGroupDrift], assumption: str) -> tuple[str, ...]:
    """Return what one group's own drift would have to be."""
    if assumption == "random":
        return ("Drift does not matter here: who judged was drawn at random.",)
    return tuple(
        f"{' or '.join(ways).capitalize()} of the level of “{one.group}” alone, from the first row "
        "to the last, could explain it as well."
        for one in explained
        if (ways := _ways(one))
    )


def _ways(one: OneGroupDrift) -> list[str]:
    """Return how the level of one group may have changed."""
    ways = (("a fall by", one.fall), ("a rise by", one.rise))
    return [f"{words} {percent(change)}" for words, change in ways if change is not None]


def _record(panels: str | None) -> tuple[str, ...]:
    """Return what to write down from now on."""
    if panels == "random":
        return (RECORD_ALL, RECORD_COMMITTEE)
    if panels == "recorded":
        return (DRAW_PANELS, RECORD_ALL, RECORD_COMMITTEE)
    return (RECORD_PANELS, DRAW_PANELS, RECORD_ALL, RECORD_COMMITTEE)
