"""Double differences: two candidates seen by the same judges, compared judge by judge.

For two performances c and d with common judges j, let `o` be 1 for a judge of the candidate's own
group and 0 otherwise, and `a_j = o_cj - o_dj`. Each judge has the precision
`p_j = 1 / (1/n_cj + 1/n_dj)`, where n is how many scores a row averages. With the weighted mean
`m = sum p_j a_j / sum p_j` and `w_j = p_j (a_j - m)`,

    X = sum w_j Y_cj,    Z = sum w_j Y_dj,    T = X - Z,    S = sum p_j (a_j - m)^2.

If `E[Y_cj] = quality_c + strictness_j + favor o_cj`, then `E[T] = favor S`: quality cancels
because the weights sum to 0, and strictness because c and d have the same judges. If single scores
have variance v, T has variance `v S`, so S is the information of a double difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from affinity_bandits.audit.log import Numbers, ScoreLog
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray

WAITING = 400
"""Performances that wait for a partner; the oldest leaves when another one comes."""
ALIKE = 8
"""Waiting performances of one group with the same judges; further ones are not compared."""
PATIENCE = 0.5
"""Fraction of the mean information so far below which a performance rather waits."""
ORDERS = 8
"""Random orders of the performances of one session, which has no order of its own."""
MANY = 200_000
"""Performances in all orders together, from which on fewer orders are used."""


@dataclass(frozen=True, eq=False)
class Differences:
    """Double differences in the order in which they became known.

    Attributes:
        x: weighted scores of the candidate of the lower-numbered group.
        z: the same for the other candidate.
        information: S.
        bound: the largest possible |T|.
        kind: number of the pair of groups.
        session: session of the later performance.
        lag: how many sessions the candidate of the lower-numbered group came after the other, times
            the information.
    """

    x: FloatArray
    z: FloatArray
    information: FloatArray
    bound: FloatArray
    kind: IntArray
    session: IntArray
    lag: FloatArray

    def __len__(self) -> int:
        return len(self.x)

    @property
    def t(self) -> FloatArray:
        """The double differences themselves."""
        return self.x - self.z


def find_differences(
    log: ScoreLog, only: int | None = None, orders: int = ORDERS
) -> list[Differences]:
    """Match performances into double differences, once for each order within sessions.

    Which performances are matched depends on who judged whom, never on a score.

    Args:
        log: the scores.
        only: measure the favor of this group's judges alone, by leaving out scores that other
            groups' judges gave to their own; for three groups or more.
        orders: how many random orders of each session's performances to use.
    """
    starts = log.first_rows[:-1]
    group, session = log.group[starts], log.session[starts]
    pairs = _match(log, group, session, only, orders)
    del log, starts  # a long log that only this function holds makes room for the sums
    return [_add_up(*pairs.pop(0), group, session) for _ in range(len(pairs))]


def total_information(differences: list[Differences]) -> float:
    """Return the mean information of the orders."""
    return float(np.mean([one.information.sum() for one in differences])) if differences else 0.0


def _match(
    log: ScoreLog, group: Numbers, session: Numbers, only: int | None, orders: int
) -> list[tuple[FloatArray, Numbers]]:
    """Return the matched pairs for each order, see `match_performances`."""
    count = log.count if only is None else log.count * (~log.own | (log.group == only))
    start = log.first_rows
    seen = np.logical_or.reduceat(count > 0, start[:-1]) if len(log) else np.zeros(0, dtype=bool)
    if not seen.any():
        return []
    places = np.flatnonzero(seen).astype(np.int32)
    days = session[places]
    if len(days) == 1 + np.count_nonzero(np.diff(days)):  # each performance has its own session
        orders = 1
    judges = int(log.judge.max()) + 1
    values = np.random.default_rng(0).integers(0, 2**62, judges + len(log.groups))
    found = []
    for seed in range(min(orders, max(1, MANY // len(places)))):
        order = places
        if seed:
            order = places[np.lexsort((np.random.default_rng(seed).random(len(days)), days))]
        pairs = _compiled_matching()(
            order,
            start,
            session,
            group,
            log.judge,
            log.own.view(np.int8),
            log.score,
            count,
            values,
            judges,
            WAITING,
            ALIKE,
        )
        found.append(pairs)
    return found


def _add_up(found: FloatArray, pairs: Numbers, group: Numbers, session: Numbers) -> Differences:
    """Add up the differences that share the moods of two sessions."""
    x, z, information, bound = found
    first, second = group[pairs]
    late, early = session[pairs].astype(np.int64)
    lag = (late - early) * information
    # The other way round all weights change their sign.
    turned = first > second
    x, z = np.where(turned, -z, x), np.where(turned, -x, z)
    lag = np.where(turned, -lag, lag)
    groups, sessions = int(group.max()) + 1, int(session.max()) + 1
    kind = np.minimum(first, second).astype(np.int64) * groups + np.maximum(first, second)
    # Differences across the same two sessions, of the same two groups, share the moods of both
    # days: they are added up into the last one.
    target = np.arange(len(x))
    across = np.flatnonzero(late != early)
    key = (late[across] * sessions + early[across]) * groups * groups + kind[across]
    _, inverse = np.unique(key, return_inverse=True)
    last = np.zeros(len(across), dtype=np.int64)
    np.maximum.at(last, inverse, across)
    target[across] = last[inverse]
    rows = np.flatnonzero(target == np.arange(len(x)))
    sums = np.empty((5, len(rows)))
    for place, values in enumerate((x, z, information, bound, lag)):
        sums[place] = np.bincount(target, values, len(x))[rows]
    x, z, information, bound, lag = sums
    return Differences(x, z, information, bound, kind[rows], late[rows], lag)


@cache
def _compiled_matching() -> Function:
    return compile_kernel(match_performances, allocates=True)


def match_performances(
    order: Numbers,
    start: IntArray,
    session: Numbers,
    group: Numbers,
    judge: Numbers,
    own: npt.NDArray[np.int8],
    score: FloatArray,
    count: Numbers,
    values: IntArray,
    judges: int,
    capacity: int,
    alike: int,
) -> tuple[FloatArray, Numbers]:
    """Match each performance with a waiting one; a kernel.

    A partner of the same session comes first, then the one with the most information, then the one
    that has waited longest. The last rule is part of the proof: a decision rule that looks at
    scores may choose who comes next, but not whom they are compared with. Rows whose count is 0 are
    left out. Performances have the same panel if the sums of `values`, random numbers for judges
    and groups, are the same.

    Returns:
        For each pair x, z, information and bound, and the later and the earlier performance.
    """
    row_of = np.full(judges, -1)
    pool = np.empty(capacity, np.int64)
    panels = np.empty(capacity, np.int64)
    waiting = 0
    out = np.empty((4, len(order) // 2))
    who = np.empty((2, len(order) // 2), np.int32)
    pairs = 0
    typical = 0.0
    for c in order:
        panel = values[judges + group[c]]
        for row in range(start[c], start[c + 1]):
            if count[row] > 0:
                row_of[judge[row]] = row
                panel += values[judge[row]]
        best = -1
        best_value = PATIENCE * typical / max(pairs, 1)
        best_mean = 0.0
        same = 0
        for i in range(waiting):
            d = pool[i]
            if panel == panels[i]:
                same += 1
            total = mean = square = 0.0
            for row in range(start[d], start[d + 1]):
                other = row_of[judge[row]]
                if other >= 0 and count[row] > 0:
                    precision = count[row] * count[other] / (count[row] + count[other])
                    lead = own[other] - own[row]
                    total += precision
                    mean += precision * lead
                    square += precision * lead * lead
            if total == 0.0:
                continue
            information = square - mean * mean / total
            if information < 1e-9:
                continue
            value = information
            if session[c] == session[d]:
                value += 1e9
            if value > best_value * (1.0 + 1e-12):
                best = i
                best_value = value
                best_mean = mean / total
        if best >= 0:
            d = pool[best]
            x = z = information = bound = 0.0
            for row in range(start[d], start[d + 1]):
                other = row_of[judge[row]]
                if other >= 0 and count[row] > 0:
                    precision = count[row] * count[other] / (count[row] + count[other])
                    lead = own[other] - own[row]
                    weight = precision * (lead - best_mean)
                    x += weight * score[other]
                    z += weight * score[row]
                    information += weight * (lead - best_mean)
                    bound += abs(weight)
            typical += information
            out[0, pairs] = x
            out[1, pairs] = z
            out[2, pairs] = information
            out[3, pairs] = bound
            who[0, pairs] = c
            who[1, pairs] = d
            pairs += 1
        for row in range(start[c], start[c + 1]):
            row_of[judge[row]] = -1
        if best < 0 and same >= alike:
            continue
        if best < 0 and waiting < capacity:
            pool[waiting] = c
            panels[waiting] = panel
            waiting += 1
        else:
            removed = best if best >= 0 else 0
            for i in range(removed, waiting - 1):
                pool[i] = pool[i + 1]
                panels[i] = panels[i + 1]
            if best >= 0:
                waiting -= 1
            else:
                pool[waiting - 1] = c
                panels[waiting - 1] = panel
    return out[:, :pairs], who[:, :pairs]
