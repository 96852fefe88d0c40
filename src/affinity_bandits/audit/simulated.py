"""The log of a simulated run as a log of decisions, to audit what is known to be true of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from affinity_bandits import checks
from affinity_bandits.audit.log import DecisionLog, decision_log
from affinity_bandits.errors import InvalidInput
from affinity_bandits.simulation import RunLog


def log_of_run(
    run: RunLog,
    *,
    names: Sequence[object] | None = None,
    lowest: float | None = None,
    highest: float | None = None,
) -> DecisionLog:
    """Return the log of a run as a `DecisionLog`.

    Who judged is recorded as a panel wherever it does not follow from who joined: where panels or
    strangers judge, members leave, or memory is bounded. A panel of a simulation is not drawn at
    random but follows from the committee, so `drawn_from` is the panel itself and
    `panels_at_random` finds nothing.

    Args:
        run: of `simulate_log`.
        names: of the groups; their numbers if left out.
        lowest: the lowest score of the scale, 0 or the least that feedback can be if left out.
            Scores below it count as it.
        highest: the highest, likewise.

    Raises:
        InvalidInput: feedback has no lowest or highest score, and none is given.

    >>> from affinity_bandits import AffinityBandit, Power, simulate_log
    >>> bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
    >>> log_of_run(simulate_log(bandit, "ucb1", 1_000), names=["own", "other"]).groups
    ('own', 'other')
    """
    if not isinstance(run, RunLog):
        raise InvalidInput("run", "a log of `simulate_log`", run)
    bandit = run.bandit
    groups = _names(names, bandit.arms)
    feedback = bandit.feedback
    low = _end("lowest", lowest, min(0.0, feedback.low))
    high = _end("highest", highest, max(1.0, feedback.high))
    assert bandit.initial_pulls is not None  # set when it is made
    at_once = bandit.joining.when == "at once" and bandit.judges.who == "committee"
    told = run.panels is not None or bandit.memory is not None or bandit.joining.leaving > 0.0
    judged: dict[str, Any] = {"panel": run.share, "drawn_from": run.share} if told else {}
    return decision_log(
        run.arm if names is None else [groups[arm] for arm in run.arm.tolist()],
        np.clip(run.score, low, high),
        initial=dict(zip(groups, bandit.initial_pulls, strict=True)),
        lowest=low,
        highest=high,
        moment=None if at_once else run.round,
        chosen=run.joined,
        **judged,
    )


def _names(names: object, arms: int) -> list[Any]:
    """Return what the groups are called."""
    if names is None:
        return list(range(arms))
    rule = f"{arms} different names"
    found = [str(name) for name in checks.sequence("names", names, rule)]
    if len(set(found)) != arms or len(found) != arms:
        raise InvalidInput("names", rule, names)
    return found


def _end(parameter: str, given: object, own: float) -> float:
    """Return an end of the scale: the one given, or the feedback's own."""
    if given is not None:
        return checks.number(parameter, given)
    if math.isinf(own):
        raise InvalidInput(parameter, f"given: feedback has no {parameter} score", None)
    return own
