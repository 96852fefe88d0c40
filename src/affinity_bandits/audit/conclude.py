"""From the summary of a log to all that an audit says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from affinity_bandits.audit.bonus_set import strength
from affinity_bandits.audit.conclusions import conclusion
from affinity_bandits.audit.estimates import estimates
from affinity_bandits.audit.exponent_set import exponents
from affinity_bandits.audit.indicated import indicated
from affinity_bandits.audit.mean_ratios import Ratio, mean_ratios
from affinity_bandits.audit.one_pass import Summary
from affinity_bandits.audit.placebo import placebo
from affinity_bandits.audit.power import power
from affinity_bandits.audit.result import (
    Assumed,
    Audit,
    Compared,
    GroupLine,
    OneGroupDrift,
    Range,
    Seen,
)
from affinity_bandits.audit.sensitivity import sensitivity
from affinity_bandits.audit.table import Table
from affinity_bandits.audit.verdict import LEVEL, verdicts

MOST_ODDS = 1e300
HALF = 0.5 * LEVEL
"""Two things are said of the same two groups, if the bias is a bonus and whatever it is: each is
wrong with half of the probability that is stated for both."""
MOST_DOTS = 40
"""Dots of a group in the picture of scores by share."""
HEADLINE = {
    None: ("nothing", "steady", "alike"),
    "recorded": ("slow",),
    "random": ("random",),
}
"""The assumptions that the verdict may rest on, by what is known of who judged: fixed before any
log is seen, so that no log has more chances than it is said to have."""
STRENGTH = ("cannot tell", "not seen", "indicated", "shown")
"""Verdicts, the weakest first."""


def conclude(
    summary: Summary,
    *,
    source: str = "the log",
    scale: str = "0..1",
    lowest: float = 0.0,
    highest: float = 1.0,
    panels: str | None = None,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> Audit:
    """Return what a log shows, how surely, how strongly, and what is left of the comparison.

    Args:
        summary: of the log.
        source: where it came from, in words.
        scale: as it was said.
        lowest: of the scale.
        highest: of the scale.
        panels: "random" if who judged was drawn at random, "recorded" if not, None if the log does
            not say who judged.
        seed: of the draws that say what would have been seen.
        notes: what the reader of the file noticed.
    """
    table = summary.table
    # Each by itself, in threads: what is compiled lets others run. Those that take long come first.
    with ThreadPoolExecutor() as pool:
        seeing = pool.submit(_seen, table, panels, seed)
        judging = pool.submit(verdicts, summary)
        rating = pool.submit(mean_ratios, table, HALF)
        trying = pool.submit(_placebos, table)
        raising = pool.submit(exponents, table)
        adding = pool.submit(strength, table)
        explaining = pool.submit(_explained, summary)
        fitted, sharper = estimates(table), _odds(indicated(table))
    assumed = tuple(
        Assumed(one.assumption, one.words, _odds(one.log_e), one.shown)
        for one in judging.result()
        if one.assumption != "random" or panels == "random"
    )
    headline = [one for one in assumed if one.assumption in HEADLINE[panels]]
    found = conclusion(headline, sharper, seeing.result(), explaining.result(), panels)
    bonus, exponent = adding.result(), raising.result()
    points = highest - lowest
    return Audit(
        source=source,
        rows=summary.rows,
        scale=scale,
        lowest=lowest,
        highest=highest,
        groups=_groups(summary, lowest, points),
        panels=panels,
        word=found.word,
        sentence=found.sentence,
        because=found.because,
        record=found.record,
        assumed=assumed,
        indicated=sharper,
        bonus=None if bonus is None else (bonus.least, bonus.largest),
        likely_bonus=fitted.bonus,
        exponent=None if exponent is None else (exponent.least, exponent.largest),
        likely_exponent=fitted.exponent,
        power=seeing.result(),
        compared=_compared(summary, rating.result() or ()),
        explained=explaining.result(),
        placebos=trying.result(),
        spread=points * _spread(table),
        joining=float(summary.tally.chosen.sum() / summary.rows),
        shares=_course(summary),
        notes=tuple(notes),
    )


def weakest(audits: Sequence[Audit]) -> Audit:
    """Return the weakest of audits that differ in the initial committee, with sets of all."""
    found = min(
        audits,
        key=lambda one: (STRENGTH.index(one.word), max(line.odds for line in one.assumed)),
    )
    if len(audits) == 1:
        return found
    compared = []
    for place, one in enumerate(found.compared):
        others = [audit.compared[place] for audit in audits]
        same = all((other.group, other.than) == (one.group, one.than) for other in others)
        # Without a range everything is possible; a set of bonuses that is None has none in it.
        known = [other.ratio for other in others if other.ratio is not None]
        limits = [other.at_least for other in others if other.at_least is not None]
        compared.append(
            replace(
                one,
                ratio=_union(known) if same and len(known) == len(others) else None,
                at_least=min(limits) if same and len(limits) == len(others) else None,
            )
        )
    return replace(
        found,
        bonus=_union([audit.bonus for audit in audits if audit.bonus is not None]),
        exponent=_union([audit.exponent for audit in audits if audit.exponent is not None]),
        compared=tuple(compared),
        committees=len(audits),
    )


def _union(ranges: Sequence[Range]) -> Range | None:
    """Return the range that holds all of them; None if there are none."""
    if not ranges:
        return None
    return min(one[0] for one in ranges), max(one[1] for one in ranges)


def _odds(log_e: float) -> float:
    return MOST_ODDS if log_e > math.log(MOST_ODDS) else math.exp(log_e)


def _seen(table: Table, panels: str | None, seed: int) -> tuple[Seen, ...]:
    wanted = "random" if panels == "random" else "nothing"
    return tuple(
        Seen(one.bonus, one.shown, (one.low, one.high), one.times)
        for one in power(table, panels=panels == "random", seed=seed)
        if one.assumption == wanted
    )


def _explained(summary: Summary) -> tuple[OneGroupDrift, ...]:
    return tuple(
        OneGroupDrift(summary.groups[one.group], one.fall, one.rise)
        for one in sensitivity(summary.table) or ()
    )


def _placebos(table: Table) -> tuple[tuple[str, float], ...]:
    """Return what must not be shown: scores that rise with the share of all other groups."""
    return (("the share of all other groups together", _odds(placebo(table).others)),)


def _groups(summary: Summary, lowest: float, points: float) -> tuple[GroupLine, ...]:
    lines = []
    for place, name in enumerate(summary.groups):
        mean = float(summary.tally.mean[place])
        lines.append(
            GroupLine(
                name=name,
                initial=int(summary.initial[place]),
                members=int(summary.initial[place] + summary.tally.chosen[place]),
                rows=int(summary.tally.rows[place]),
                mean=None if math.isnan(mean) else lowest + points * mean,
                cells=_dots(summary.table.of(place), lowest, points),
            )
        )
    return tuple(lines)


def _dots(cells: Table, lowest: float, points: float) -> tuple[tuple[float, float, int], ...]:
    """Return shares, mean scores and rows: bins beside each other until they have some rows."""
    rows = cells.totals()
    if len(rows) == 0:
        return ()
    least = float(rows.sum()) / MOST_DOTS
    sums = cells.counts @ cells.nodes
    found: list[tuple[float, float, int]] = []
    share = score = count = 0.0
    for place in np.unique(cells.bin):
        own = cells.bin == place
        share += float(cells.shares[own].sum())
        score += float(sums[own].sum())
        count += float(rows[own].sum())
        if count >= least:
            found.append((share / count, lowest + points * score / count, round(count)))
            share = score = count = 0.0
    if count > 0.0:
        found.append((share / count, lowest + points * score / count, round(count)))
    return tuple(found)


def _spread(table: Table) -> float:
    """Return the standard deviation of scores of one group at about one share, as a part."""
    total = squares = 0.0
    for group in range(table.groups):
        cells = table.of(group)
        for place in np.unique(cells.bin):
            counts = cells.counts[cells.bin == place].sum(axis=0)
            rows = float(counts.sum())
            mean = float(counts @ table.nodes) / rows
            squares += float(counts @ (table.nodes - mean) ** 2)
            total += rows
    return math.sqrt(squares / total)


def _compared(summary: Summary, ratios: Sequence[Ratio]) -> tuple[Compared, ...]:
    """Return every two groups once, so that nothing wrong is said of any in 19 of 20 logs."""
    pairs = [pair for pair in summary.better.pairs if pair[0] < pair[1]]
    enough = math.log(2 * len(pairs) / HALF) if pairs else 0.0
    sets = {(one.group, one.than): one for one in ratios}
    means = summary.tally.mean
    found = []
    for first, second in pairs:
        ahead = summary.better.at_least(first, second, enough)
        behind = summary.better.at_least(second, first, enough)
        group, than = (second, first) if ahead is None and behind is not None else (first, second)
        plain = float(means[group] / means[than]) if means[than] > 0.0 else math.nan
        found.append(
            Compared(
                summary.groups[group],
                summary.groups[than],
                None if math.isnan(plain) else plain,
                _ratio(sets, group, than),
                behind if group == second else ahead,
            )
        )
    return tuple(found)


def _ratio(sets: dict[tuple[int, int], Ratio], group: int, than: int) -> Range | None:
    """Return the set of a ratio; None if it is all that any bonus would make of it."""
    straight = (group, than) in sets
    one = sets.get((group, than) if straight else (than, group))
    if one is None or one.any_bonus:
        return None
    low, high = (one.low, one.high) if straight else (1.0 / one.high, 1.0 / one.low)
    return (low, high) if low > 0.0 and math.isfinite(high) else None


def _course(summary: Summary) -> tuple[tuple[int, tuple[float, ...]], ...]:
    course = summary.shares_over_time
    return tuple(
        (int(row), tuple(float(share) for share in shares))
        for row, shares in zip(course.rows, course.shares, strict=True)
    )
