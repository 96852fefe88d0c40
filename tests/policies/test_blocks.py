"""Blocks by hand: answered in part they count nothing, and damaged runs are refused."""

from __future__ import annotations

import json

import pytest

from affinity_bandits import (
    UCB1,
    Blocks,
    InvalidInput,
    JudgeWorld,
    NeutralElimination,
    StateMismatch,
    simulate_blocks,
)


def test_a_block_that_is_answered_in_part_counts_nothing() -> None:
    blocks = Blocks(NeutralElimination(), 3, scale=(1, 5))
    block = blocks.ask()
    assert block == blocks.ask()
    before = blocks.state.bets.pulls.sum()
    with pytest.raises(InvalidInput, match="answered in part counts nothing"):
        blocks.tell([4])
    blocks.withdraw()
    with pytest.raises(InvalidInput, match="of a block that was asked for"):
        blocks.tell([4, 4])
    again = blocks.ask()
    assert again is not None
    assert block is not None
    assert (again.rater, sorted(again.groups)) == (block.rater, sorted(block.groups))
    assert blocks.state.bets.pulls.sum() == before == 0
    for wrong in ([4, 6], [4, float("nan")], [4, "5"], 4):
        with pytest.raises(InvalidInput):
            blocks.tell(wrong)  # type: ignore[arg-type]
    assert blocks.scores == 0
    blocks.tell([4, 4.5])
    assert blocks.scores == 2


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("scores", -1, "scores, and its state others"),
        ("scores", "x", "scores, and its state others"),
        ("pending", 3, "is not the next one"),
        ("pending", [7, [0]], "is not the next one"),
        ("pending", [0, ["a", 1]], "is not the next one"),
        ("pending", [0, [1, 1]], "is not the next one"),
        ("stream", 3, "random numbers"),
        ("stream", {"counter": [1]}, "random numbers"),
    ],
)
def test_a_damaged_run_is_refused_in_words(key: str, value: object, words: str) -> None:
    blocks = Blocks(NeutralElimination(), 3)
    block = blocks.ask()
    saved = json.loads(blocks.to_json())
    assert Blocks.from_json(NeutralElimination(), json.dumps(saved)).ask() == block
    with pytest.raises(StateMismatch, match=words):
        Blocks.from_json(NeutralElimination(), json.dumps(saved | {key: value}))


@pytest.mark.parametrize("policy", [UCB1(), "neutral-elimination", None])
def test_only_block_policies_have_blocks(policy: object) -> None:
    with pytest.raises(InvalidInput, match="policy must be a block policy such as Neutral"):
        Blocks(policy, 3)
    with pytest.raises(InvalidInput, match="policy must be a block policy such as Neutral"):
        simulate_blocks(policy, JudgeWorld(quality=(3, 3, 3)), 100, 1)


def test_a_run_says_where_it_stands() -> None:
    blocks = Blocks(NeutralElimination(), 3)
    block = blocks.ask()
    assert block is not None
    blocks.tell([0.5] * len(block.groups))
    assert repr(blocks) == "Blocks(neutral-elimination: 2 scores, groups left: 0, 1, 2)"
