"""The warnings of an audit, to be read before relying on its verdict."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.differences import Differences
from affinity_bandits.audit.evidence import bet
from affinity_bandits.audit.judges import JudgeTest
from affinity_bandits.audit.log import UNKNOWN, ScoreLog
from affinity_bandits.kernels.kernel import FloatArray

UNEVEN = 2.0
"""Ratio of the judges' disagreement on two groups from which strictness may look like favor."""
END_SHARE = 0.4
"""Fraction of a group's scores at one end of the scale from which the end matters."""
FEW_OWN = 30
FEW_JUDGES = 15
"""Judges below which the tastes of single persons weigh much, above all if one looks repeatedly."""
REPEATED = 0.2
"""Fraction of scores that a judge gave to a candidate of an earlier session."""
ONE_GROUP_SESSIONS = 0.5
"""Fraction of scores in sessions whose judges all have one group."""
LAG = 0.15
"""Fraction of the sessions by which one group's candidates come after their partners."""
TURNED = 3.0
"""Standard errors by which those who were chosen have lower scores, so that the best score may be
the lowest."""
FEWEST_ALIKE = 5
"""Scores by own judges from which on it is told that all are the same."""
FEWEST = 20
"""Candidates of a group from which its judges' disagreement is estimated."""


class Caution(NamedTuple):
    """A warning.

    Attributes:
        code: see `docs/audit/audit-method.md`.
        detail: names or a number that belong to the code; may be empty.
    """

    code: str
    detail: str = ""


def describe_log(log: ScoreLog) -> list[Caution]:
    """Return warnings about who judged whom and about the scale."""
    found = []
    if _chosen_score_less(log):
        found.append(Caution("chosen score less"))
    if alike := _own_scores_alike(log):
        found.append(Caution("one own value", ", ".join(alike)))
    own_scores = int(log.count[log.own].sum())
    if own_scores < FEW_OWN:
        found.append(Caution("few own scores", str(own_scores)))
    if 0 < len(log.judges) < FEW_JUDGES:
        found.append(Caution("few judges", str(len(log.judges))))
    without = sorted(set(np.unique(log.group)) - set(np.unique(log.judge_group)))
    if without:
        found.append(Caution("group without judges", _join(log, without)))
    unknown = float((log.judge_group == UNKNOWN).mean())
    if unknown:
        found.append(Caution("unknown judge groups", f"{unknown:.1%}"))
    if ends := groups_at_ends(log):
        found.append(Caution("end of the scale", ", ".join(ends)))
    repeated = _repeated_share(log)
    if repeated > REPEATED:
        found.append(Caution("repeated pairs", f"{repeated:.0%}"))
    if sessions_coincide(log):
        found.append(Caution("groups are sessions"))
    return found


def describe_lag(log: ScoreLog, differences: list[Differences]) -> list[Caution]:
    """Warn if one group's candidates were compared with those of much earlier sessions.

    If judges' strictness drifts apart over time, such a comparison takes the drift for favor.
    """
    total = sum(one.information.sum() for one in differences)
    kinds = np.concatenate([one.kind for one in differences])
    lags = np.abs(np.bincount(kinds, np.concatenate([one.lag for one in differences])))
    lag = float(lags.sum() / total)
    return [Caution("distant sessions", f"{lag:.0f}")] if lag > LAG * len(log.sessions) else []


def describe_weight(
    log: ScoreLog, differences: list[Differences], test: JudgeTest | None
) -> list[Caution]:
    """Warn if one judge or one session makes up more than half of the favor."""
    found = []
    if test is not None and test.favor > 0.0:
        judge, least = min(test.without.items(), key=lambda item: item[1])
        if least < test.favor / 2.0:
            found.append(Caution("one judge", log.judges[judge]))
    sessions = np.concatenate([one.session for one in differences])
    weights = np.bincount(sessions, np.concatenate([one.information for one in differences]))
    sums = np.bincount(sessions, np.concatenate([one.t for one in differences]))
    total, weight = sums.sum(), weights.sum()
    rest = weight - weights
    several = rest > 1e-9 * weight
    if total > 0.0 and several.any():
        without = np.where(several, total - sums, math.inf) / np.where(several, rest, 1.0)
        if without.min() < total / weight / 2.0:
            found.append(Caution("one session", log.sessions[int(without.argmin())]))
    return found


def groups_at_ends(log: ScoreLog) -> list[str]:
    """Return groups with many scores at one end of the scale, or whose scores hardly differ."""
    numbers = {
        int(group)
        for group in np.unique(log.group)
        for end in (0.0, 1.0)
        if (log.score[log.group == group] == end).mean() > END_SHARE
    }
    deviations = disagreements(log)
    if len(deviations) and max(deviations.values()) > UNEVEN * min(deviations.values()):
        numbers.add(min(deviations, key=lambda group: deviations[group]))
    return [log.groups[number] for number in sorted(numbers)]


def is_even(log: ScoreLog) -> bool:
    """Return whether judges disagree about equally on candidates of all groups."""
    deviations = disagreements(log).values()
    return not deviations or max(deviations) <= UNEVEN * min(deviations)


def disagreement(log: ScoreLog) -> float:
    """Return the standard deviation of different judges' scores of one candidate."""
    squares, degrees = _within(log)
    return math.sqrt(squares.sum() / max(degrees.sum(), 1.0))


def disagreements(log: ScoreLog) -> dict[int, float]:
    """Return the same for each group with enough candidates, by the group's number."""
    squares, degrees = _within(log)
    group = log.group[log.first_rows[:-1]]
    found = {}
    for number in np.unique(group):
        rows = (group == number) & (degrees > 0)
        if rows.sum() >= FEWEST:
            found[int(number)] = math.sqrt(squares[rows].sum() / degrees[rows].sum())
    return found


def evidence_on_any_scale(log: ScoreLog) -> float:
    """Return the log evidence that own judges are above the others in every group.

    Strictness alone cannot do that on a monotone scale: the strictest group's judges are below the
    others with their own candidates, too. The weakest group counts.
    """
    own = log.own
    size = log.performances
    means = []
    for rows in (own, ~own):
        number = np.bincount(log.performance[rows], minlength=size)
        total = np.bincount(log.performance[rows], log.score[rows], size)
        means.append(np.where(number > 0, total / np.maximum(number, 1), np.nan))
    lead = means[0] - means[1]
    group = log.group[log.first_rows[:-1]]
    found = []
    for number in np.unique(log.group):
        values = lead[(group == number) & ~np.isnan(lead)]
        ones = np.ones(len(values))
        path = bet(values, ones, ones, clip=math.inf)
        found.append(max(0.0, float(path.max())) if len(path) else 0.0)
    return min(found)


def sessions_coincide(log: ScoreLog) -> bool:
    """Return whether most sessions of several candidates had judges of one group only."""
    size = len(log.sessions)
    several = np.bincount(log.session[log.first_rows[:-1]], minlength=size) > 1
    rows = several[log.session] & (log.judge_group != UNKNOWN)
    if not rows.any() or size < 2:
        return False
    session, group = log.session[rows], log.judge_group[rows]
    first = np.full(size, UNKNOWN, dtype=np.int32)
    first[session] = group
    alone = np.bincount(session, first[session] != group, size) == 0
    return bool(alone[session].mean() > ONE_GROUP_SESSIONS)


def _chosen_score_less(log: ScoreLog) -> bool:
    """Return whether those who were chosen have clearly lower scores than the others."""
    if log.hired is None:
        return False
    number = np.bincount(log.performance)
    mean = np.bincount(log.performance, log.score) / np.maximum(number, 1)
    chosen, others = mean[log.hired], mean[~log.hired]
    if min(len(chosen), len(others)) < 2:
        return False
    error = math.sqrt(chosen.var() / len(chosen) + others.var() / len(others))
    return bool(chosen.mean() - others.mean() < -TURNED * error)


def _own_scores_alike(log: ScoreLog) -> list[str]:
    """Return groups whose own judges gave all their candidates the same score, with that score."""
    found = []
    worst, best = log.scale
    for number in np.unique(log.group):
        scores = log.score[log.own & (log.group == number)]
        if len(scores) >= FEWEST_ALIKE and scores.min() == scores.max():
            found.append(f"{log.groups[number]} ({worst + (best - worst) * scores[0]:g})")
    return found


def _repeated_share(log: ScoreLog) -> float:
    """Return the fraction of scores by a judge who met the candidate in an earlier session."""
    if not log.identified:
        return 0.0
    pairs = log.candidate.astype(np.int64)
    pairs *= len(log.judges)
    pairs += log.judge
    pairs.sort()
    return float((pairs[1:] == pairs[:-1]).sum() / len(log))


def _within(log: ScoreLog) -> tuple[FloatArray, FloatArray]:
    """Return each performance's sum of squares around its mean and its degrees of freedom."""
    size = log.performances
    number = np.bincount(log.performance, minlength=size)
    mean = np.bincount(log.performance, log.score, size) / np.maximum(number, 1)
    squares: FloatArray = np.bincount(
        log.performance, (log.score - mean[log.performance]) ** 2, size
    ).astype(np.float64)
    degrees: FloatArray = np.maximum(number - 1.0, 0.0)
    return squares, degrees


def _join(log: ScoreLog, numbers: list[int]) -> str:
    return ", ".join(log.groups[number] for number in numbers)
