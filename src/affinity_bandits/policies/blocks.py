"""Block policies: one rater scores a candidate of each of several groups; their use by hand."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput, StateMismatch, shown
from affinity_bandits.kernels.kernel import Function
from affinity_bandits.model.feedback import SAME, UNIT_INTERVAL, Feedback
from affinity_bandits.model.streams import policy_generator, resume_stream, stream_to_json
from affinity_bandits.policies.contracts import Policy
from affinity_bandits.policies.explaining import (
    Evidence,
    Explains,
    PlayedRound,
    RoundExplanation,
)
from affinity_bandits.policies.live import read_scale
from affinity_bandits.policies.state import copy_state, counts, read_saved, reals

BLOCKS_FORMAT = 1
NO_HORIZON = 1
"""The rule needs no horizon; saved runs have this one."""


class BlockKernels(NamedTuple):
    """The functions that a run calls for each block."""

    rater: Function
    draw: Function
    take: Function
    candidate: Function


class BlockRound(NamedTuple):
    """The blocks of a round: passes, in each of which one rater of each kind scores a block.

    Their scores may come in any order, because whatever depends on scores is fixed before.

    Attributes:
        raters: the kinds of raters, in the order of a pass: a group, or the number of groups for
            people of no group.
        groups: of each kind's block, in increasing order.
        passes: how many there are.
    """

    raters: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    passes: int

    @property
    def scores(self) -> int:
        """The number of scores in all blocks."""
        return self.passes * sum(map(len, self.groups))

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.passes * len(self.raters)

    def block(self, number: int) -> tuple[int, tuple[int, ...]]:
        """Return the kind of rater of a block, and its groups; blocks are numbered from 0."""
        place = number % len(self.raters)
        return self.raters[place], self.groups[place]


@dataclass(frozen=True, kw_only=True)
class BlockPolicy(Policy, Explains):
    """A policy that has one rater score a candidate of each of several groups at a time.

    It learns what one rater thinks of several groups, which sums per group do not show. `Blocks`
    runs it by hand, a campaign of the live service with many raters at once, and `simulate_blocks`
    in worlds of judges; `simulate` and `Live` cannot. Scores lie in [0, 1]. Its kernels are those
    of `BlockElimination`:

    - `rater(state)` returns the group of the next block's rater; the number of groups for a person
      of no group; -1 once one group is left.
    - `draw(state, order, rng)` puts the groups of that block in an order by lot and returns how
      many they are.
    - `take(state, scores)` takes in a whole block; `scores` has a place per group.
    """

    page: ClassVar[str]
    """The page of the documentation that describes it."""

    @property
    def assumes(self) -> Feedback:
        """Scores between 0 and 1."""
        return UNIT_INTERVAL

    def kernels(self) -> BlockKernels:
        """Return the kernels."""
        raise NotImplementedError

    def hidden_lead(self, groups: int) -> float:
        """Return the lead, as a part of the scale, that favors can explain; by default none."""
        return 0.0

    def counted(self, state: Any) -> int:
        """Return the number of scores that were taken in."""
        raise NotImplementedError

    def round(self, state: Any) -> BlockRound | None:
        """Return the round that begins with this state; None once one group is left.

        Args:
            state: a fresh one, or one after the last block of a round.
        """
        raise NotImplementedError

    def absorbed(self, state: Any, blocks: Iterable[Mapping[int, float]]) -> Any:
        """Return a copy of the state after blocks, in the order of the round.

        Args:
            state: stays as it is.
            blocks: the score of each group, on [0, 1].
        """
        after, take = copy_state(state), self.kernels().take
        for block in blocks:
            scores = reals(max(block) + 1)
            for group, score in block.items():
                scores[group] = score
            take(after, scores)
        return after

    def explain(self, played: PlayedRound, before: RoundExplanation | None) -> RoundExplanation:
        """Return that the means of a round are not compared: they are of different raters."""
        return RoundExplanation(compares=False)


class Block(NamedTuple):
    """A block: one rater scores one candidate of each of these groups, in this order.

    Attributes:
        rater: the group that the rater belongs to; None: a person of no group.
        groups: drawn by lot.
    """

    rater: int | None
    groups: tuple[int, ...]


class Blocks:
    """One run of a block policy, by hand.

    Ask for a block, let one rater of the stated group score one candidate of each of its groups in
    the stated order, and tell all scores at once. Draw the candidates of a group by lot. The rater
    may be anybody of that group. If a rater does not finish, `withdraw` the block: nothing of it
    counts. Never withdraw a block because of its scores: what is left would be biased.

    Args:
        policy: the settings.
        groups: the number of groups that are compared.
        seed: of the lots that order each block.
        scale: the worst and the best score, such as (1, 5).

    Attributes:
        scores: how many were counted.

    >>> from affinity_bandits import Blocks, NeutralElimination
    >>> blocks = Blocks(NeutralElimination(), groups=3, scale=(1, 5))
    >>> blocks.ask()
    Block(rater=0, groups=(2, 1))
    >>> blocks.tell([4, 5])
    >>> blocks.ask().rater
    1
    """

    def __init__(
        self,
        policy: BlockPolicy,
        groups: int,
        seed: int = 0,
        *,
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        ends = read_scale(scale)
        if ends is None or isinstance(ends, str):
            raise InvalidInput("scale", "the worst and the best score, such as (1, 5)", scale)
        self.scale = ends
        self.policy = require_blocks(policy)
        self.scores = 0
        self._kernels = policy.kernels()
        self.groups = checks.integer("groups", groups, low=2, high=10**3)
        self.state = policy.start(self.groups, NO_HORIZON)
        self._rng = policy_generator(seed, policy.to_json(), 0)
        self._order = counts(self.groups)
        self._pending: Block | None = None

    def ask(self) -> Block | None:
        """Return the block to be scored next; the same until it is told or withdrawn.

        None: one group is left.
        """
        kind = int(self._kernels.rater(self.state))
        if self._pending is None and kind >= 0:
            size = self._kernels.draw(self.state, self._order, self._rng)
            groups = tuple(int(group) for group in self._order[:size])
            self._pending = Block(None if kind == self.groups else kind, groups)
        return self._pending

    def tell(self, scores: Sequence[float]) -> None:
        """Report all scores of the block that `ask` returned, in its order.

        Raises:
            InvalidInput: no block is out, a score is missing, or one is not on the scale.
        """
        block = self._pending
        if block is None:
            raise InvalidInput("scores", "of a block that was asked for", scores)
        given = checks.sequence("scores", scores, "a list of scores")
        if len(given) != len(block.groups):
            rule = (
                f"a score for each of the {len(block.groups)} groups of the block, because a block"
                " that is answered in part counts nothing (withdraw it)"
            )
            raise InvalidInput("scores", rule, scores)
        found = reals(self.groups)
        for group, score in zip(block.groups, given, strict=True):
            found[group] = self._mapped(checks.number("scores", score))
        self._kernels.take(self.state, found)
        self.scores += len(given)
        self._pending = None

    def _mapped(self, score: float) -> float:
        worst, best = self.scale
        part = (score - worst) / (best - worst)
        if not -SAME <= part <= 1.0 + SAME:  # so that a user's own rounding is no mistake
            rule = f"numbers in [{min(self.scale):g}, {max(self.scale):g}]"
            raise InvalidInput("scores", rule, score)
        return min(1.0, max(0.0, part))

    def withdraw(self) -> None:
        """Count nothing of the block that is out; `ask` then draws it anew, for another rater.

        Only if a rater cannot finish, whatever the scores so far: blocks that are left out because
        of their scores bias those that are counted.
        """
        self._pending = None

    def candidates(self) -> tuple[int, ...]:
        """Return the groups that may still be the best."""
        return tuple(i for i in range(self.groups) if self._kernels.candidate(self.state, i))

    @property
    def hidden_lead(self) -> float:
        """The lead, in points of the scale, that favors can explain.

        With equal favors a better group is found only if it leads by more. If favors help its rival
        as much as was stated, only if it leads by more than twice as much.
        """
        worst, best = self.scale
        return self.policy.hidden_lead(self.groups) * abs(best - worst)

    def evidence(self) -> Evidence | None:
        """Return the evidence against each group after the last finished round."""
        return self.policy.evidence(self.state)

    def __repr__(self) -> str:
        left = ", ".join(map(str, self.candidates()))
        hidden = f"; leads up to {self.hidden_lead:.3g} may be favor" if self.hidden_lead else ""
        return f"Blocks({self.policy}: {self.scores:,} scores, groups left: {left}{hidden})"

    def to_json(self) -> str:
        """Return everything needed to resume in another process, to the bit."""
        data = {
            "format": BLOCKS_FORMAT,
            **self.policy.save(self.state, self.groups, NO_HORIZON),
            "scale": self.scale,
            "scores": self.scores,
            "pending": self._pending,
            "stream": stream_to_json(self._rng),
        }
        return json.dumps(data, allow_nan=False)

    @classmethod
    def from_json(cls, policy: BlockPolicy, text: str) -> Blocks:
        """Resume from `to_json`; the policy must be the one that wrote it."""
        data = read_saved(text, BLOCKS_FORMAT, ("scale", "scores", "pending", "stream"))
        blocks = cls(policy, data["arms"], scale=data["scale"])
        blocks.state = policy.load(data)
        blocks.scores = blocks._counted(data["scores"])
        blocks._pending = blocks._saved_block(data["pending"])
        resume_stream(blocks._rng, data["stream"])
        return blocks

    def _counted(self, scores: object) -> int:
        """Return the saved number of scores, which the state has as well."""
        if isinstance(scores, bool) or scores != self.policy.counted(self.state):
            raise StateMismatch(f"the saved run has {shown(scores)} scores, and its state others")
        return int(scores)

    def _saved_block(self, given: Any) -> Block | None:
        """Return the saved block that is out, which fits the state."""
        if given is None:
            return None
        kind = int(self._kernels.rater(self.state))
        rater = None if kind == self.groups else kind
        order = counts(self.groups)
        size = self._kernels.draw(self.state, order, np.random.default_rng(0)) if kind >= 0 else 0
        groups = {int(group) for group in order[:size]}
        with contextlib.suppress(TypeError, ValueError):
            found, listed = given
            if found == rater and len(listed) == size and set(listed) == groups:
                return Block(rater, tuple(int(group) for group in listed))
        raise StateMismatch(f"the saved block {shown(given)} is not the next one of its run")


def require_blocks(policy: object) -> BlockPolicy:
    """Return a policy that has blocks scored.

    Raises:
        InvalidInput: it is another kind of policy, or none.
    """
    if not isinstance(policy, BlockPolicy):
        raise InvalidInput("policy", "a block policy such as NeutralElimination()", policy)
    return policy
