"""The test where the rule of choice is known: a log among those that it makes without a bias.

What it rests on is in docs/audit.md, "If the rule is known".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.audit.log import decision_log
from affinity_bandits.audit.table import Table, table_of
from affinity_bandits.catalogue import AnyPolicy, policy_from_json
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies import Live

LOGS = 99
MOST_ROWS = 2_000_000
"""Of all simulated logs together: policies choose row by row, a million in half a minute."""


class KnownRule(NamedTuple):
    """Where a log is among logs without a bias.

    Attributes:
        p: one more than the simulated logs whose slope is no smaller, over one more than all.
        slope: how scores rise with the share, in standard errors, the groups' means taken out.
        simulated: the same of the simulated logs.
    """

    p: float
    slope: float
    simulated: tuple[float, ...]


def known_rule(
    table: Table,
    initial: Sequence[int],
    policy: AnyPolicy | Mapping[str, Any] | str,
    *,
    logs: int = LOGS,
    seed: int = 0,
) -> KnownRule:
    """Return how probably the rule that made the choices leads to such a slope without a bias.

    Everybody who was scored joined the committee, one after the other, and the committee judged.

    Args:
        table: of the log.
        initial: the committee before the first row, a number for each group.
        policy: the rule that made the choices, or its name.
        logs: how many are simulated.
        seed: of the simulation.
    """
    number = checks.integer("logs", logs, low=19, high=100_000)
    start = checks.integer("seed", seed)
    members = checks.integers_list("initial", initial, low=0)
    if len(members) != table.groups:
        raise InvalidInput("initial", f"a number for each of {table.groups} groups", members)
    if number * table.rows > MOST_ROWS:
        rule = f"no more than {MOST_ROWS // number:,} rows where {number:,} logs are simulated"
        raise InvalidInput("table", rule, f"{table.rows:,} rows")
    seen = np.array([table.of(group).counts.sum(axis=0) for group in range(table.groups)])
    counts = seen.sum(axis=1, keepdims=True)
    if (counts == 0.0).any():
        rows = [int(count) for count in counts[:, 0]]
        raise InvalidInput("table", "one in which every group was scored", rows)
    chooses = policy_from_json(policy) if isinstance(policy, str | Mapping) else policy
    laws = np.cumsum(seen, axis=1) / counts
    laws[:, -1] = 1.0  # not a rounding less
    simulated = []
    for replicate in range(number):
        made = _simulated(chooses, laws, table.nodes, members, table.rows, (start, replicate))
        simulated.append(slope(made))
    own = slope(table)
    above = sum(other >= own for other in simulated)
    return KnownRule((above + 1) / (number + 1), own, tuple(simulated))


def slope(table: Table) -> float:
    """Return how scores rise with the share, in standard errors, each group around its means."""
    totals = table.totals()
    shares = table.shares / totals
    sums = table.counts @ table.nodes
    product, square = 0.0, 0.0
    for group in range(table.groups):
        own = table.group == group
        rows = float(totals[own].sum())
        if rows == 0.0:
            continue
        around = shares[own] - float(totals[own] @ shares[own]) / rows
        mean = float(sums[own].sum()) / rows
        variance = float(table.counts[own].sum(axis=0) @ (table.nodes - mean) ** 2) / rows
        product += float(around @ (sums[own] - totals[own] * mean))
        square += float(totals[own] @ around**2) * variance
    return product / math.sqrt(square) if square > 0.0 else 0.0


def _simulated(
    policy: AnyPolicy,
    laws: FloatArray,
    nodes: FloatArray,
    initial: tuple[int, ...],
    rows: int,
    stream: tuple[int, int],
) -> Table:
    """Return the table of one log that the rule makes if every group's scores have one law."""
    live = Live(policy, len(initial), rows, *stream)
    if live.awaits_judges:
        raise InvalidInput("policy", "a rule that need not be told who judges", policy.name)
    uniforms = np.random.default_rng([*stream, 409]).random(rows).tolist()
    cumulated = laws.tolist()
    values = nodes.tolist()
    groups: list[int] = []
    scores: list[float] = []
    for uniform in uniforms:
        arm = live.ask()
        place = 0
        while cumulated[arm][place] < uniform:
            place += 1
        live.tell(arm, values[place])
        groups.append(arm)
        scores.append(values[place])
    committee = dict(enumerate(initial))
    return table_of(decision_log(np.array(groups), np.array(scores), initial=committee))
