"""`affinity simulate --log`: every decision of the runs, in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.bandit import AffinityBandit
    from affinity_bandits.simulation import Result
    from affinity_bandits.simulation.logged_run import LoggedRun


def by_steps(path: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of runs whose log is to be written, after checking where to.

    The runs are played by steps, so that what is printed is of the runs in the log.
    """
    from affinity_bandits.simulation.log_files import require_log_file

    require_log_file("log", path)
    if run.get("engine") == "rounds":
        rule = "left out with engine rounds, which draws no single pull"
        raise InvalidInput("log", rule, str(path))
    given = run.get("engine", "auto")
    return {**run, "engine": "steps" if given == "auto" else given}


def recorder(bandit: AffinityBandit, policies: Any, settings: Mapping[str, Any]) -> LoggedRun:
    """Return what writes the log of a run: refused now, not after hours of work."""
    from affinity_bandits.simulation.logged_run import LoggedRun
    from affinity_bandits.simulation.simulator import require_policy

    several = isinstance(policies, Mapping) and "name" not in policies
    items = list(policies.values()) if several else policies
    if isinstance(items, list):
        if len(items) != 1:
            rule = "of one policy, e.g. --policy ucb1"
            raise InvalidInput("log", rule, f"{len(items)} policies")
        items = items[0]
    policy = require_policy("policies", items, bandit)
    return LoggedRun(bandit, policy, settings["horizon"], settings.get("seed", 0))


def write(path: Path, logged: LoggedRun, result: Result) -> int:
    """Write the log of every run of a result and return how many decisions there are."""
    from affinity_bandits.simulation import write_logs

    return write_logs(path, (logged.log(int(number)) for number in result.replicates))
