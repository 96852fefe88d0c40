"""From a log of scores to a verdict: do judges favor candidates of their own group?

Codes in an `Audit`, which `sentences` puts into words:

    missing      cannot tell: no judges, no judge groups, one judge each, never both, groups are
                 sessions, no size, too little. Indicated: evidence, judge ids, judges, permutation,
                 scale, scale use, choices.
    assumptions  steady judges, rota, lots.
    warnings     chosen score less, one own value, few own scores, few judges, group without judges,
                 unknown judge groups, end of the scale, repeated pairs, groups are sessions,
                 no rota, scores decided, uneven scale use, drifting strictness, distant sessions,
                 opposite groups, one judge, one session.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from affinity_bandits.audit.cautions import (
    Caution,
    describe_lag,
    describe_log,
    describe_weight,
    disagreement,
    evidence_on_any_scale,
    groups_at_ends,
    is_even,
    sessions_coincide,
)
from affinity_bandits.audit.differences import Differences, find_differences, total_information
from affinity_bandits.audit.evidence import RATIO, THRESHOLD, favor_interval, log_evidence
from affinity_bandits.audit.judges import FEWEST_JUDGES, JudgeTest, follows_rota, permute_judges
from affinity_bandits.audit.judging import Judging, compare_judges
from affinity_bandits.audit.log import UNKNOWN, Flags, ScoreLog, average_groups, pool_singles
from affinity_bandits.audit.order import scores_decided
from affinity_bandits.audit.power import DRAWS, compute_power
from affinity_bandits.audit.scale_use import EvenTests, ScaleUse, repeat_evened
from affinity_bandits.base import checks

Word = Literal["shown", "indicated", "shown less", "indicated less", "not seen", "cannot tell"]
LESS: dict[Word, Word] = {"shown": "shown less", "indicated": "indicated less"}
"""The words for judges who give their own group less."""
Basis = Literal["same judges", "judges' groups", "lots"]

LEVEL = 0.04
"""P-value that the permutation test must reach. It is below 1/20 because judges' labels are only
nearly exchangeable where both strictness and group decide who judges whom."""
SAME_JUDGES_PREFERRED = 0.75
"""Fraction of the information of group means at which single judges are compared instead."""
ENOUGH_POWER = 0.8
MATTERS = 0.1
"""The smallest favor that matters, as a fraction of the scale, if nobody says otherwise."""
FAVORS = (0.0125, 0.025, 0.0375, 0.05, 0.075, 0.1, 0.15, 0.2)
"""Favors, as fractions of the scale, for which the power is reported."""
ASSUMPTIONS = {"same judges": "steady judges", "judges' groups": "rota", "lots": "lots"}


@dataclass(frozen=True)
class Estimate:
    """A favor in points of the scale, with its 95% confidence interval.

    Attributes:
        points: the estimate.
        low: lower end of the interval.
        high: upper end.
        one_look: whether the interval is that of the permutation alone, because the bets exclude no
            favor. Then it holds for one look at the log.
    """

    points: float
    low: float
    high: float
    one_look: bool = False


@dataclass(frozen=True)
class GroupScores:
    """The scores of one group's candidates.

    Attributes:
        name: of the group.
        candidates: number of performances.
        hired: performances whose candidate was chosen; None if unrecorded.
        judges: number of judges of this group.
        scores: number of scores.
        mean: mean score, in points.
        own: number and mean of scores from judges of the same group.
        other: number and mean of scores from judges of other groups.
        favor: of this group's judges; None if there are only two groups, too few scores, or if it
            changed over time.
    """

    name: str
    candidates: int
    hired: int | None
    judges: int
    scores: int
    mean: float
    own: tuple[int, float | None]
    other: tuple[int, float | None]
    favor: Estimate | None = None


@dataclass(frozen=True)
class Audit:
    """The result of an audit, in points of the user's scale.

    Attributes:
        word: the verdict; "less" if judges give their own group less.
        basis: the comparison; None if none was possible.
        assumptions: codes of the comparison's assumptions.
        favor: how much more judges give to their own group; None if the log cannot tell, or if
            judges disagree too unevenly for an interval, or scores may have decided who was seen.
        missing: codes of the reasons why the verdict is not "shown", or why the log cannot tell.
        warnings: to be read before relying on the verdict.
        power: favor in points, and the probability that the bets on a log like this one would have
            reached 20 to 1. It takes judges to use equally much of the scale; "shown" needs more.
        log_evidence: logarithm of the bets' wealth, see `THRESHOLD`; in the verdict's direction.
        p_value: of the permutation test, in the verdict's direction; NaN if judges' names are
            missing.
        groups: one entry per group of candidates.
        scale: worst and best score.
        scores: number of scores.
        candidates: number of candidates.
        judges: number of judges.
        sessions: number of sessions.
        deviation: standard deviation of judges' scores of one candidate, in points.
        matters: the smallest favor that matters, in points.
        scale_use: how unevenly judges use the scale; None if nothing could be compared.
        judging: how the judges of different groups differ in strictness and favor; None if judges
            have no names, or if nothing could be compared.
    """

    word: Word
    basis: Basis | None
    assumptions: tuple[str, ...]
    favor: Estimate | None
    missing: tuple[str, ...]
    warnings: tuple[Caution, ...]
    power: tuple[tuple[float, float], ...]
    log_evidence: float
    p_value: float
    groups: tuple[GroupScores, ...]
    scale: tuple[float, float]
    scores: int
    candidates: int
    judges: int
    sessions: int
    deviation: float
    matters: float
    scale_use: ScaleUse | None = None
    judging: Judging | None = None

    @property
    def seen_from(self) -> float | None:
        """The smallest favor in points that this log would have shown; None if it has no bound.

        A log like this one shows such a favor in 8 of 10 cases, and the interval is below it.
        """
        return _find_seen(self.power, self.favor)


def audit_scores(
    log: ScoreLog, *, by_lot: bool = False, matters: float | None = None, draws: int = DRAWS
) -> Audit:
    """Audit a log: test whether judges favor candidates of their own group.

    Both directions are tested, each at level 1/20. If nobody favors anyone, at most 1 log in 20 is
    "shown" and at most 1 in 20 "shown less". Whatever the favor is, the probability of "shown" in
    the wrong direction is at most 1/20.

    Args:
        log: made by `score_log`.
        by_lot: with one judge per candidate, whether lots decided who judged whom. Otherwise such a
            log cannot tell.
        matters: the smallest favor that matters, in points; a tenth of the scale if left out. A log
            that would not have shown it cannot tell.
        draws: simulated logs per favor, for the power.

    Raises:
        InvalidInput: what matters is not above 0, or wider than the scale.
    """
    share = MATTERS
    if matters is not None:
        share = (
            checks.number("matters", matters, low=0.0, high=log.width, open_low=True) / log.width
        )
    found = _audit_upwards(log, by_lot, share, draws)
    if found.basis is None or found.word in ("shown", "indicated"):
        return found
    if found.favor is not None and found.favor.points >= 0.0:
        return found
    # Scores the other way round turn a favor into its opposite and leave the hypothesis as it is.
    turned = _audit_upwards(replace(log, score=1.0 - log.score), by_lot, share, 1)
    return _turn_back(turned, found) if turned.word in LESS else found


def _turn_back(turned: Audit, found: Audit) -> Audit:
    """Return the audit of a log whose scores were turned, in points of that log itself.

    Args:
        turned: favors the own group.
        found: the audit of the log as it is.
    """

    def back(favor: Estimate | None) -> Estimate | None:
        if favor is None:
            return None
        return replace(favor, points=-favor.points, low=-favor.high, high=-favor.low)

    favors = {group.name: back(group.favor) for group in turned.groups}
    groups = tuple(replace(group, favor=favors[group.name]) for group in found.groups)
    common = [one for one in found.warnings if one.code != "opposite groups"]
    heavy = [one for one in turned.warnings if one.code in ("one judge", "one session")]
    return replace(
        found,
        word=LESS[turned.word],
        favor=back(turned.favor),
        missing=turned.missing,
        warnings=(*common, *heavy, *_find_opposites(groups)),
        log_evidence=turned.log_evidence,
        p_value=turned.p_value,
        groups=groups,
        scale_use=None if turned.scale_use is None else turned.scale_use.turned,
    )


def _audit_upwards(log: ScoreLog, by_lot: bool, matters: float, draws: int) -> Audit:
    """Audit a log for a favor above 0; `matters` is a fraction of the scale."""
    if (log.judge_group == UNKNOWN).all():
        return _cannot_tell(log, "no judge groups" if log.judges else "no judges", matters)
    known = log.keep(log.judge_group != UNKNOWN)
    if known.single and not by_lot:
        return _cannot_tell(log, "one judge each", matters)
    base = pool_singles(known) if known.single else known
    rota = not base.identified or follows_rota(base)
    decided = scores_decided(base)
    test = permute_judges(base) if base.identified else None
    basis, grouped, differences = _choose_basis(base, single=known.single, rota=rota)
    if total_information(differences) == 0.0:
        reason = "groups are sessions" if sessions_coincide(known) else "never both"
        return _cannot_tell(log, reason, matters)
    deviation = disagreement(base)
    favors = tuple(sorted({*FAVORS, matters}))
    power = compute_power(differences, deviation, favors, draws)
    stretched = log_evidence(differences, ratio=RATIO)
    evened = repeat_evened(
        known,
        lambda source: find_differences(average_groups(source) if grouped else source),
        single=known.single,
        wealthy=stretched >= THRESHOLD,
    )
    even, ends = is_even(base), groups_at_ends(base)
    missing = []
    if stretched < THRESHOLD:
        missing.append("evidence")
    if test is None:
        missing.append("judge ids")
    elif test.judges < FEWEST_JUDGES:
        missing.append("judges")
    elif test.p_value > LEVEL:
        missing.append("permutation")
    if (ends or not even) and evidence_on_any_scale(base) < THRESHOLD:
        missing.append("scale")
    if decided or not rota:
        missing.append("choices")
    if not missing and not _shown_evenly(evened):
        missing.append("scale use")
    indicated = _is_indicated(test, log_evidence(differences))
    still = not evened.known or _is_indicated(evened.test, evened.plain)
    word, missing = _choose_word(missing, indicated and still)
    favor = None
    if even and rota and not decided:
        favor = _estimate(differences, test, log.width, RATIO if ends else 1.0, evened)
    chances = tuple((f * log.width, p) for f, p in zip(favors, power, strict=True))
    if word == "not seen":
        seen = _find_seen(chances, favor)
        if seen is None or seen > matters * log.width:
            word, missing = "cannot tell", ["no size" if favor is None else "too little"]
    warnings = describe_log(log)
    if not rota:
        warnings.append(Caution("no rota"))
    if decided:
        warnings.append(Caution("scores decided"))
    if indicated and not still:
        warnings.append(Caution("uneven scale use"))
    if test is not None and test.drifting is not None:
        warnings.append(Caution("drifting strictness", log.groups[test.drifting]))
    warnings += describe_lag(log, differences)
    if word in {"shown", "indicated"}:
        warnings += describe_weight(log, differences, test)
    del differences  # a long log has many
    groups = _describe_groups(log, base, basis, detailed=even and word != "cannot tell")
    warnings += _find_opposites(groups)
    return Audit(
        word=word,
        basis=basis,
        assumptions=(ASSUMPTIONS[basis],),
        favor=favor,
        missing=tuple(missing),
        warnings=tuple(warnings),
        power=chances,
        log_evidence=stretched,
        p_value=math.nan if test is None else test.p_value,
        groups=groups,
        scale=log.scale,
        scores=int(log.count.sum()),
        candidates=log.candidates,
        judges=len(log.judges),
        sessions=len(log.sessions),
        deviation=deviation * log.width,
        matters=matters * log.width,
        scale_use=evened.use,
        judging=compare_judges(known),
    )


def _cannot_tell(log: ScoreLog, reason: str, matters: float) -> Audit:
    return Audit(
        word="cannot tell",
        basis=None,
        assumptions=(),
        favor=None,
        missing=(reason,),
        warnings=(),
        power=(),
        log_evidence=0.0,
        p_value=math.nan,
        groups=_describe_groups(log, log, None, detailed=False),
        scale=log.scale,
        scores=int(log.count.sum()),
        candidates=log.candidates,
        judges=len(log.judges),
        sessions=len(log.sessions),
        deviation=disagreement(log) * log.width,
        matters=matters * log.width,
    )


def _choose_basis(
    base: ScoreLog, *, single: bool, rota: bool
) -> tuple[Basis, bool, list[Differences]]:
    """Return the comparison: of single judges if that loses little, else of their groups' means.

    The second value says whether it is of means. The choice depends on who judged whom, never on a
    score.
    """
    same = find_differences(base) if base.identified else []
    if same and not rota:
        return ("lots" if single else "same judges"), False, same
    grouped = find_differences(average_groups(base))
    if same and total_information(same) >= SAME_JUDGES_PREFERRED * total_information(grouped):
        return ("lots" if single else "same judges"), False, same
    return ("lots" if single else "judges' groups"), True, grouped


def _shown_evenly(evened: EvenTests) -> bool:
    """Return whether both tests reject on evened scores, too."""
    permuted = evened.test is not None and evened.test.p_value <= LEVEL
    return evened.known and permuted and evened.strict >= THRESHOLD


def _is_indicated(test: JudgeTest | None, evidence: float) -> bool:
    """Return whether one of the tests rejects."""
    return (test is not None and test.p_value <= LEVEL) or evidence >= THRESHOLD


def _choose_word(missing: list[str], indicated: bool) -> tuple[Word, list[str]]:
    if not missing:
        return "shown", missing
    if indicated:
        return "indicated", missing
    return "not seen", []


def _find_seen(power: tuple[tuple[float, float], ...], favor: Estimate | None) -> float | None:
    """Return the smallest favor that would have been seen; see `Audit.seen_from`."""
    enough = [size for size, chance in power if chance >= ENOUGH_POWER]
    return max(min(enough), favor.high) if enough and favor is not None else None


def _estimate(
    differences: list[Differences],
    test: JudgeTest | None,
    width: float,
    ratio: float = 1.0,
    evened: EvenTests | None = None,
) -> Estimate:
    """Return the favor with the hull of all tests' intervals, less those that exclude nothing."""
    bets = [favor_interval(differences, ratio=ratio)]
    if evened is not None:
        bets.append(evened.interval)
    weight = sum(one.information.sum() for one in differences)
    point = sum(one.t.sum() for one in differences) / weight
    if test is not None and not math.isnan(test.favor):
        point = test.favor
    permuted = [
        one.interval
        for one in (test, None if evened is None else evened.test)
        if one is not None and one.judges >= FEWEST_JUDGES and not math.isnan(one.favor)
    ]
    one_look = bool(permuted and max(high - low for low, high in bets) >= 1.0)
    used = permuted if one_look else bets + permuted
    low, high = min(low for low, _ in used), max(high for _, high in used)
    return Estimate(float(point) * width, float(low) * width, float(high) * width, one_look)


def _describe_groups(
    log: ScoreLog, base: ScoreLog, basis: Basis | None, *, detailed: bool
) -> tuple[GroupScores, ...]:
    """Count and average the scores of each group; with three groups or more, add its favor."""
    numbers = np.unique(log.group)
    favors: dict[int, Estimate | None] = {}
    if detailed and len(numbers) >= 3:
        source = average_groups(base) if basis == "judges' groups" else base
        favors = {number: _estimate_alone(source, int(number)) for number in numbers}
        del source
    own, known = log.own, log.judge_group != UNKNOWN
    judged = log.group[log.first_rows[:-1]]
    found = []
    for number in numbers:
        rows = log.group == number
        mean = _average(log, rows)[1]
        found.append(
            GroupScores(
                name=log.groups[number],
                candidates=int((judged == number).sum()),
                hired=None if log.hired is None else int(log.hired[judged == number].sum()),
                judges=len(np.unique(log.judge[(log.judge_group == number) & (log.judge >= 0)])),
                scores=int(log.count[rows].sum()),
                mean=math.nan if mean is None else mean,
                own=_average(log, rows & own),
                other=_average(log, rows & ~own & known),
                favor=favors.get(number),
            )
        )
    return tuple(found)


def _estimate_alone(log: ScoreLog, group: int) -> Estimate | None:
    """Return the favor of one group's judges; None if it is too uncertain or changed over time."""
    differences = find_differences(log, only=group)
    if not total_information(differences):
        return None
    favor = _estimate(differences, None, log.width)
    # Both ends are the same if the favor changed over time.
    return favor if 0.0 < favor.high - favor.low < log.width else None


def _average(log: ScoreLog, rows: Flags) -> tuple[int, float | None]:
    """Return the number of scores and their mean in points."""
    count = int(log.count[rows].sum())
    if not count:
        return 0, None
    worst, best = log.scale
    return count, worst + (best - worst) * float(log.score[rows] @ log.count[rows]) / count


def _find_opposites(groups: tuple[GroupScores, ...]) -> list[Caution]:
    """Warn if some groups' judges favor their own while others' put their own down."""
    below = [group.name for group in groups if group.favor and group.favor.high < 0.0]
    above = [group.name for group in groups if group.favor and group.favor.low > 0.0]
    return [Caution("opposite groups", ", ".join(below))] if below and above else []
