"""Did scores decide whose candidates were seen next?

If a rule looks at scores before it chooses the next candidate's group, errors and choices are
related, and comparisons of the same judges are no longer fair. The log cannot exclude such a rule,
but the usual ones leave a trace: the lead of one group's judges over the others on a candidate goes
with the groups of the candidates around.
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits.audit.judges import remove_effects
from affinity_bandits.audit.log import Flags, Numbers, ScoreLog
from affinity_bandits.kernels.kernel import FloatArray

TRACE = 2.8
"""Standard errors from which on a relation is a trace; by chance in 1 log of 200, each."""
FEWEST = 20
"""Sessions from which on the relations are looked at."""


def scores_decided(log: ScoreLog) -> bool:
    """Return whether leads of judges go with the groups that were seen next to a candidate.

    With two groups and one panel that sees everybody one after the other, any rule is allowed:
    there the bets are fair all the same (`docs/audit/audit-method.md`).
    """
    start = log.first_rows[:-1]
    group, session = log.group[start], log.session[start]
    sessions = 1 + np.count_nonzero(np.diff(session))
    in_order = sessions == len(session)
    if sessions < FEWEST or (in_order and len(np.unique(group)) == 2 and _has_one_panel(log)):
        return False
    leads = _measure_leads(log, group)
    found = [_relate_later(leads, group, session)]
    if in_order:
        found.append(_relate_next(leads, group))
    else:
        found.append(_relate_same_session(leads, group, session))
    return max(found) >= TRACE


def _has_one_panel(log: ScoreLog) -> bool:
    """Return whether all performances were seen by the same judges."""
    seen = np.bincount(log.judge if log.identified else log.judge_group)
    return bool((seen[seen > 0] == log.performances).all())


def _measure_leads(log: ScoreLog, group: Numbers) -> FloatArray:
    """Return each performance's mean residual of each group's judges, less its average.

    Residuals are those of a regression on effects of candidate, judge and favor. Without the favor,
    judges who sit in few sessions and favor their own group would seem stricter with the other
    candidates of these sessions. The average is that of all candidates of the same group, so the
    favor of one group alone hardly enters either. 0 where a group had no judge.
    """
    groups, size = len(log.groups), log.performances
    left, own = _remove_means(log, log.score), _remove_means(log, log.own)
    left -= float(own @ left) / max(float(own @ own), 1e-12) * own
    place = log.performance.astype(np.int64) * groups + log.judge_group
    number = np.bincount(place, minlength=size * groups).reshape(size, groups)
    leads = np.bincount(place, left, size * groups).reshape(size, groups) / np.maximum(number, 1)
    for judged in np.unique(group):
        rows = group == judged
        sat = number[rows] > 0
        mean = leads[rows].sum(axis=0) / np.maximum(sat.sum(axis=0), 1)
        leads[rows] = np.where(sat, leads[rows] - mean, 0.0)
    return leads


def _remove_means(log: ScoreLog, values: FloatArray | Flags) -> FloatArray:
    """Return residuals after effects of performance and, if judges have names, of judge."""
    if log.identified:
        return remove_effects(log, values)
    seen = np.maximum(np.bincount(log.performance, minlength=log.performances), 1)
    means = np.bincount(log.performance, values, log.performances) / seen
    return np.asarray(values - means[log.performance], dtype=np.float64)


def _relate_next(leads: FloatArray, group: Numbers) -> float:
    """Relate the lead of a group's judges to whether a candidate of that group comes next."""
    return _standardize(leads[np.arange(len(group) - 1), group[1:]])


def _relate_later(leads: FloatArray, group: Numbers, session: Numbers) -> float:
    """Relate the lead of a group's judges to how many of that group come in later sessions."""
    days = np.unique(session, return_inverse=True)[1]
    present = np.zeros((int(days[-1]) + 1, leads.shape[1]))
    np.add.at(present, (days, group), 1.0)
    later = present.sum(axis=0) - np.cumsum(present, axis=0)
    total = later.sum(axis=1, keepdims=True)
    surprise = later - total * present.sum(axis=0) / present.sum()
    parts = np.zeros(len(later))
    np.add.at(parts, days, (leads * surprise[days]).sum(axis=1))
    return _standardize(parts)


def _relate_same_session(leads: FloatArray, group: Numbers, session: Numbers) -> float:
    """Relate leads of groups' judges to how many others in the session have these groups."""
    groups = leads.shape[1]
    present = np.zeros((int(session[-1]) + 1, groups))
    np.add.at(present, (session, group), 1.0)
    others = present[session]
    others[np.arange(len(group)), group] -= 1.0
    for judged in np.unique(group):
        rows = group == judged
        others[rows] -= others[rows].mean(axis=0)
    parts = np.zeros(len(present))
    np.add.at(parts, session, (leads * others).sum(axis=1))
    return _standardize(parts)


def _standardize(parts: FloatArray) -> float:
    """Return the absolute sum of independent parts of mean 0 in standard errors."""
    return abs(float(parts.sum())) / max(math.sqrt(float(parts @ parts)), 1e-12)
