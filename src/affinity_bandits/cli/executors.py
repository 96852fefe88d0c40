"""Choose an executor by a command's flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.experiments import Executor

KINDS = ("processes", "serial", "ray")
KIND_HELP = "processes (this machine), serial (this process) or ray (a cluster)."
ADDRESS_HELP = "Of a Ray cluster: auto, or host:port. Left out: Ray on this machine alone."


def executor(
    kind: str, workers: int | None, address: str | None, usual: int | None = None
) -> Executor:
    """Return the executor that a command's flags ask for.

    Args:
        kind: processes, serial or ray.
        workers: how many at once; left out, `usual` processes, or whatever a cluster has.
        address: of a Ray cluster.
        usual: processes if not told how many; left out, one for each core.
    """
    from affinity_bandits.experiments import ProcessExecutor, SerialExecutor

    checks.choice("executor", kind, KINDS)
    if workers is not None:
        checks.integer("workers", workers, low=1, high=100_000)
    if address is not None and kind != "ray":
        raise InvalidInput("address", "left out unless --executor is ray", address)
    if kind == "serial" and workers not in (None, 1):
        raise InvalidInput("workers", "1 or left out where --executor is serial", workers)
    if kind == "ray":
        from affinity_bandits.experiments.ray_executor import RayExecutor

        return RayExecutor(address, workers)
    if kind == "serial" or workers == 1:
        return SerialExecutor()
    return ProcessExecutor(workers or usual)
