"""Whether one group is better than another, whatever the bias: at no larger share it scored more.

The theorem, its proof and its limits are in docs/audit.md, "What is left of a comparison".
"""

from __future__ import annotations

import math

import numpy as np

from affinity_bandits import checks
from affinity_bandits.audit.log import BoolArray, DecisionLog
from affinity_bandits.audit.machine_code import machine_code
from affinity_bandits.errors import InvalidInput, UnknownName
from affinity_bandits.kernels import FloatArray, IntArray

STAKES = np.array([0.1, 0.2, 0.4, 0.8, 1.6])
"""Equal parts of the wealth are on each."""
EDGE = 0.7
MEMORY = 0.99


def better(log: DecisionLog, group: str, than: str, ratio: float = 1.0) -> float:
    """Return the logarithm of an e-value of "the true mean of `group` is at most `ratio` times".

    Times that of `than`. It is one for every bias that does not fall with the share.

    Args:
        log: of decisions.
        group: a name of the log.
        than: another one.
        ratio: 1 to show that the group is better at all, more to show by how much.
    """
    for parameter, name in (("group", group), ("than", than)):
        if name not in log.groups:
            raise UnknownName(parameter, name, log.groups)
    if group == than:
        raise InvalidInput("than", "another group than the one that is compared with it", than)
    times = checks.number("ratio", ratio, low=0.0, open_low=True)
    wealth = np.full(len(STAKES), -math.log(len(STAKES)))
    machine_code(better_wealth)(
        (log.group, log.score, log.chosen, log.before, log.judging),
        log.initial.copy(),
        log.panel is not None,
        (log.groups.index(than), log.groups.index(group)),
        times,
        STAKES,
        wealth,
    )
    return float(np.logaddexp.reduce(wealth))


def better_wealth(
    log: tuple[IntArray, FloatArray, BoolArray, IntArray, FloatArray],
    members: IntArray,
    panels: bool,
    pair: tuple[int, int],
    ratio: float,
    stakes: FloatArray,
    wealth: FloatArray,
) -> None:
    """Add up the logarithm of each stake's wealth; a kernel.

    A score of i opens a pair, if j's share is then no larger, and the next score of j at no larger
    share closes it. With panels, any score of i opens: whom the next panel has is not known.
    """
    group, score, chosen, before, share = log
    i, j = pair
    sums_i, rows_i, sums_j, rows_j = 0.5, 1.0, 0.5 * ratio, 1.0
    is_open = False
    opened_at = 0.0
    centre = 0.0
    edge = 0.0
    seated = 0
    for row in range(len(group)):
        while seated < before[row]:
            if chosen[seated]:
                members[group[seated]] += 1
            seated += 1
        if group[row] == i:
            if not is_open and (panels or members[j] <= members[i]):
                is_open = True
                opened_at = share[row]
                centre = 0.5 * (sums_i / rows_i + sums_j / rows_j / ratio)
                centre = min(max(centre, 0.02), 0.98, 0.98 / ratio)
                # So that neither factor can be 0: 1 - a (y - c) and 1 + a (y / ratio - c).
                edge = EDGE / max(centre, 1.0 - centre)
                for k in range(len(stakes)):
                    wealth[k] += math.log(1.0 - min(stakes[k], edge) * (score[row] - centre))
            sums_i = MEMORY * sums_i + score[row]
            rows_i = MEMORY * rows_i + 1.0
        elif group[row] == j:
            if is_open and share[row] <= opened_at:
                is_open = False
                for k in range(len(stakes)):
                    stake = min(stakes[k], edge)
                    wealth[k] += math.log(1.0 + stake * (score[row] / ratio - centre))
            sums_j = MEMORY * sums_j + score[row]
            rows_j = MEMORY * rows_j + 1.0
    if is_open:
        for k in range(len(stakes)):
            # The first factor's largest expectation: that of a level of 0.
            wealth[k] -= math.log(1.0 + min(stakes[k], edge) * centre)
