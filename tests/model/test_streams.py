"""Random streams are numpy's, and those of other keys and replicates have other numbers."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.model.streams import generator, stream_key
from affinity_bandits.simulation.draws import philox


@pytest.mark.slow
def test_a_million_replicates_have_a_million_streams() -> None:
    """By construction they read disjoint counters of one key; their first words differ, too.

    Were the streams random, two of 10**6 first words of 64 bits would agree with probability
    10**12 / 2 / 2**64 = 3e-8.
    """
    key = np.array(stream_key(0, "noise"), dtype=np.uint64)
    words = first_words(key, 10**6)
    assert len(np.unique(words)) == 10**6


def collect(key: np.ndarray, out: np.ndarray) -> None:
    for replicate in range(len(out)):
        out[replicate] = philox(key, np.uint64(replicate), np.uint64(0))[0]


def first_words(key: np.ndarray, replicates: int) -> np.ndarray:
    out = np.empty(replicates, dtype=np.uint64)
    compile_kernel(collect)(key, out)
    return out


def test_keys_differ_by_seed_role_and_policy() -> None:
    keys = {
        stream_key(seed, role, policy)
        for seed in (0, 1, 2**100)
        for role in ("noise", "gate", "round", "policy")
        for policy in (None, {"name": "ucb1"}, {"name": "exp3", "rate": 0.1})
    }
    assert len(keys) == 3 * 4 * 3


def test_a_policys_stream_is_numpys() -> None:
    first = generator(stream_key(1, "policy", {"name": "exp3"}), 3).random(5)
    again = generator(stream_key(1, "policy", {"name": "exp3"}), 3).random(5)
    other = generator(stream_key(1, "policy", {"name": "exp3"}), 4).random(5)
    np.testing.assert_array_equal(first, again)
    assert not np.intersect1d(first, other).size
