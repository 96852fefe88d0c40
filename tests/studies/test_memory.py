"""The claims of the study of memory hold in its worlds and fail in wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits import Constant, Power
from affinity_bandits.paper.item import Claim, Data
from affinity_bandits.studies import memory, memory_paths
from affinity_bandits.studies.memory import NEVER, cheaper, share_in_turn
from affinity_bandits.studies.memory_paths import stays_wrong, takeovers
from tests.paper.cell_runner import runner_in

SMALL = replace(memory.ITEM.settings["quick"], memories=(2, 3, 16, 4096), short=(5, 6))
SMALL_PATHS = replace(memory_paths.ITEM.settings["quick"], memories=(2,), horizon=10_000)


def judged(settings: memory.Settings, folder: Path) -> list[Claim]:
    return memory.claims(memory.run(settings, runner_in(folder)))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return memory.run(SMALL, runner_in(tmp_path_factory.mktemp("store")))


@pytest.mark.slow
def test_claims_hold(data: Data) -> None:
    assert all(claim.holds for claim in memory.claims(data))


@pytest.mark.slow
def test_where_there_is_no_bias_nothing_is_to_be_saved(tmp_path: Path) -> None:
    """The planted wrong world: f = 1."""
    wrong = replace(SMALL, bias=Constant(0.5))
    saved, nearly_always, longer, hardly, _, third, _, _, _, sawtooth = judged(wrong, tmp_path)
    assert saved.holds
    assert not any(claim.holds for claim in (nearly_always, longer, hardly, third, sawtooth))


@pytest.mark.slow
def test_without_a_head_start_there_is_none_to_forget(tmp_path: Path) -> None:
    """The planted wrong world: initial members are one each."""
    wrong = replace(SMALL, initial=(1, 1))
    _, nearly_always, longer, hardly, _, _, _, cheaper_to_wait, _, _ = judged(wrong, tmp_path)
    assert not any(claim.holds for claim in (nearly_always, longer, hardly, cheaper_to_wait))


@pytest.mark.slow
def test_memories_that_are_mixed_up_are_seen(data: Data) -> None:
    """The planted wrong world: what was seen with a memory of 4,096 is said to be of 16."""
    swapped = {16: 4096, 4096: 16}
    wrong = {**data, "memory": [swapped.get(one, one) for one in data["memory"]]}
    saved, _, longer, _, _, _, _, less, more, _ = memory.claims(wrong)
    assert not any(claim.holds for claim in (saved, longer, less, more))


def test_a_guarantee_that_is_broken_is_seen() -> None:
    """The planted wrong world: the best group is lost in one run of twelve."""
    runs = 240
    data = {
        "world": ["map"] * runs,
        "policy": ["handicap"] * runs,
        "memory": [16] * runs,
        "wasted": [10] * runs,
        "lost": [run % 12 == 0 for run in range(runs)],
        "horizon": [100] * runs,
    }
    for policy in ("ucb1", "elimination", "told"):
        for at in (NEVER, 3, 16, 4096):
            for name, value in {"world": "map", "policy": policy, "memory": at}.items():
                data[name] += [value] * 2
            data["wasted"] += [10, 12]
            data["lost"] += [False] * 2
            data["horizon"] += [100] * 2
    for world, at in (("map", 4096), ("short", 5), ("short", 6)):
        for name, value in {"world": world, "policy": "handicap", "memory": at}.items():
            data[name] += [value] * 2
        data["wasted"] += [10, 12]
        data["lost"] += [False] * 2
        data["horizon"] += [100] * 2
    guarantee = memory.claims(data)[6]
    assert "at most 0.05" in guarantee.sentence
    assert not guarantee.holds


def test_a_known_ratio() -> None:
    """Twice as many in every run: a bound below two, and one above three is refused."""
    data = {
        "world": ["short"] * 40,
        "policy": ["handicap"] * 40,
        "memory": [6] * 20 + [5] * 20,
        "wasted": [99 + run for run in range(20)] + [2 * (100 + run) - 1 for run in range(20)],
    }
    assert cheaper(data, "short", ("handicap", 6), ("handicap", 5), 1.9).holds
    assert not cheaper(data, "short", ("handicap", 6), ("handicap", 5), 3.0).holds


@pytest.mark.parametrize(("members", "share"), [(2, 0.0), (3, 1 / 3), (5, 0.2), (6, 1 / 3)])
def test_the_share_in_a_turn(members: int, share: float) -> None:
    assert share_in_turn(members, 3) == share


# Paths.


def judged_paths(settings: memory_paths.Settings, folder: Path) -> list[Claim]:
    return memory_paths.claims(memory_paths.run(settings, runner_in(folder)))


@pytest.mark.slow
def test_claims_on_paths_hold(tmp_path: Path) -> None:
    assert all(claim.holds for claim in judged_paths(SMALL_PATHS, tmp_path))


@pytest.mark.slow
def test_a_memory_that_is_long_is_not_taken_over(tmp_path: Path) -> None:
    """The planted wrong world: 512 where there should be 2."""
    wrong = replace(SMALL_PATHS, memories=(512,), replicates=100)
    again, either, *_ = judged_paths(wrong, tmp_path)
    assert not again.holds
    assert not either.holds


@pytest.mark.slow
def test_where_a_bias_asks_for_shares_there_is_no_way_back(tmp_path: Path) -> None:
    """The planted wrong world: f(x) = x, under which whoever has nobody scores nothing."""
    wrong = replace(SMALL_PATHS, bias=Power(1.0), replicates=100)
    again, either, _, saved, _ = judged_paths(wrong, tmp_path)
    assert not any(claim.holds for claim in (again, either, saved))


def test_takeovers_are_counted_from_hands_to_hands() -> None:
    paths = np.array(
        [
            [0.5, 0.95, 0.5, 0.05, 0.5, 0.05, 0.95],
            [0.95, 0.5, 0.95, 0.5, 0.95, 0.5, 0.95],
            [0.5, 0.2, 0.05, 0.05, 0.05, 0.05, 0.02],
        ]
    )
    assert takeovers(paths).tolist() == [2, 0, 0]
    assert stays_wrong(paths).tolist() == [False, False, True]
