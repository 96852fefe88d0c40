"""Paired comparison of two policies on the same replicates."""

from __future__ import annotations

from dataclasses import dataclass

from affinity_bandits.displays import short
from affinity_bandits.errors import InvalidInput
from affinity_bandits.simulation.intervals import mean_interval
from affinity_bandits.simulation.result_data import ResultData


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two policies' regret over the same replicates.

    Attributes:
        first: the label of one policy.
        second: the label of the other.
        mean: of the regret of `first` minus that of `second`, at the horizon.
        low: the lower end of its interval; above 0, `first` loses more than `second`.
        high: the upper end; below 0, `first` loses less.
        level: at least this is the probability that the interval covers.
        replicates: how many differences there are.
    """

    first: str
    second: str
    mean: float
    low: float
    high: float
    level: float
    replicates: int

    def __str__(self) -> str:
        ends = f"{short(self.low)} to {short(self.high)}"
        return f"regret of {self.first} minus {self.second}: {short(self.mean)} ({ends})"


def paired_difference(
    result: ResultData, first: str, second: str, level: float
) -> PairedDifference:
    """Return how much more regret one policy has than another; see `Result.paired_difference`."""
    one, other = result.index(first), result.index(second)
    if one == other:
        raise InvalidInput("second", f"another policy than {result.labels[one]!r}", second)
    last = result.regret[:, :, -1]
    most = float(result.most_regret[-1])
    mean, low, high = mean_interval(last[one] - last[other], -most, most, level)
    return PairedDifference(
        first=result.labels[one],
        second=result.labels[other],
        mean=float(mean),
        low=float(low),
        high=float(high),
        level=level,
        replicates=len(result.replicates),
    )
