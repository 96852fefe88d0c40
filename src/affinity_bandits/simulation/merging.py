"""Merge results of different replicates of the same runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from affinity_bandits.displays import some
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import IntArray
from affinity_bandits.simulation.result_data import ResultData

AnyResult = TypeVar("AnyResult", bound=ResultData)


def merged(result: AnyResult, other: AnyResult) -> AnyResult:
    """Return one result with the replicates of both; see `Result.merge`."""
    if not isinstance(other, type(result)):
        raise InvalidInput("other", "a Result", other)
    _check_the_same(result, other)
    numbers = np.concatenate([result.replicates, other.replicates])
    seeds = [*result.seed_of_each, *other.seed_of_each]  # of any size: no array holds them
    keys = list(zip(seeds, numbers.tolist(), strict=True))
    both = sorted(set(keys[: len(result.replicates)]) & set(keys[len(result.replicates) :]))
    if both:
        seed, number = both[0]
        rule = f"of other replicates: choose first_replicate above {result.replicates.max()}"
        rule += ", or another seed"
        raise InvalidInput("other", rule, f"{len(both)} that are in both, first {number} of {seed}")
    order = sorted(range(len(keys)), key=keys.__getitem__)
    parts = tuple((seed, len(list(ones))) for seed, ones in groupby(sorted(seeds)))

    def together(mine: IntArray, theirs: IntArray) -> IntArray:
        # In memory, too, as one run has them: sums over them then round alike.
        return np.ascontiguousarray(np.concatenate([mine, theirs], axis=1)[:, order])

    return replace(
        result,
        seed=parts[0][0],
        parts=parts if len(parts) > 1 else (),
        replicates=numbers[order],
        pulls=together(result.pulls, other.pulls),
        candidates=together(result.candidates, other.candidates),
        complete=result.complete and other.complete,
    )


def _check_the_same(result: ResultData, other: ResultData) -> None:
    """Check that two results differ in nothing but their replicates."""
    for name in ("bandit", "horizon", "version"):
        mine, theirs = getattr(result, name), getattr(other, name)
        if mine != theirs:
            raise InvalidInput("other", f"of the same {name} ({mine})", theirs)
    if other.labels != result.labels:
        rule = f"of the same policies in the same order ({some(result.labels)})"
        raise InvalidInput("other", rule, list(other.labels))
    for mine, theirs in zip(result.runs, other.runs, strict=True):
        for name in ("description", "engine"):
            one, another = getattr(mine, name), getattr(theirs, name)
            if one != another:
                rule = f"of the same {name} of {mine.label} ({one})"
                raise InvalidInput("other", rule, another)
    if not np.array_equal(result.checkpoints, other.checkpoints):
        rule = f"of the same {len(result.checkpoints)} checkpoints"
        raise InvalidInput("other", rule, other.checkpoints.tolist())
