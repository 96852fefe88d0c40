"""Blocks: one rater scores a candidate of each of several groups, all of them or none.

A block is given to a rater whose group is named with the request, and checked then. It is named by
its number in the round, and given again if it is not answered in time, so a round has the same
blocks whoever answers them. `replay` uses the functions that are independent of the database.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.words import listed
from affinity_bandits.policies import BlockPolicy
from affinity_bandits.policies.blocks import BlockRound
from affinity_bandits_client.messages import AskBlock, Block, Finished, TellBlock, Told, Wait
from affinity_bandits_service import problems
from affinity_bandits_service.core.faults import load_policy, load_state
from affinity_bandits_service.core.judging import RoundIsDue
from affinity_bandits_service.core.scores import to_units, units_to_text
from affinity_bandits_service.core.spec import ANY
from affinity_bandits_service.store.connection import sql

WAIT_SECONDS = 5.0
"""After how long to ask again if there is nothing for raters of a group: others take their time."""


def by_lot(campaign: UUID, number: int, block: int, groups: Sequence[int]) -> tuple[int, ...]:
    """Return the groups of a block in the order of the lot.

    They are sorted by the SHA-256 of the campaign's id, which is drawn at random, the round, the
    block and the group, so that anybody can draw the lot again from the record.

    >>> by_lot(UUID(int=1), 0, 0, [0, 1, 2])
    (1, 2, 0)
    """
    drawn = (hashlib.sha256(f"{campaign}/{number}/{block}/{one}".encode()) for one in groups)
    lots = sorted(zip((one.digest() for one in drawn), groups, strict=True))
    return tuple(group for _, group in lots)


@dataclass(frozen=True)
class OpenBlocks:
    """What is fixed of an open round of blocks.

    Attributes:
        names: of the groups.
        round: its blocks; None once one group is left.
        leader: the group whose raters sit out, if there is one.
    """

    names: tuple[str, ...]
    round: BlockRound | None
    leader: int | None

    def check_rater(self, group: str | None) -> int:
        """Return the kind of a rater of this group.

        Raises:
            InvalidInput: the group is unknown, or nobody of it may ever judge.
        """
        outsiders = self.round is not None and self.round.raters == (len(self.names),)
        if group is None:
            if self.round is not None and not outsiders:
                rule = f"the group of the rater, one of {listed(self.names[:20])}"
                raise InvalidInput("rater_group", rule, group)
            return len(self.names)
        if outsiders:
            rule = "left out, because only people who belong to none of the groups judge here"
            raise InvalidInput("rater_group", rule, group)
        if group not in self.names:
            rule = f"a group of the campaign ({listed(self.names[:20])})"
            raise InvalidInput("rater_group", rule, group)
        return self.names.index(group)

    def name_of(self, kind: int) -> str | None:
        """Return the name of a rater's group; None for people of no group."""
        return None if kind == len(self.names) else self.names[kind]

    def raters_in_words(self, kinds: Sequence[int]) -> str:
        """Return kinds of raters in words."""
        names = [self.name_of(kind) or "no group" for kind in kinds]
        return f"raters of {listed(names)}"

    def why_none(self, kind: int) -> str:
        """Return why raters of a group have no blocks in this round."""
        assert self.round is not None
        if kind == self.leader:
            why = f"{self.names[kind]} leads, and its members judge nobody while it does"
        else:
            why = f"fewer than two groups are left that raters of {self.name_of(kind)} may judge"
        return f"{why}; {self.raters_in_words(self.round.raters)} judge this round"


def read_open_blocks(
    campaign: UUID, policy_text: str, saved_text: str, names: Sequence[str]
) -> OpenBlocks | None:
    """Return what is fixed of the open round; None if the campaign does not give blocks."""
    policy = load_policy(campaign, policy_text)
    if not isinstance(policy, BlockPolicy):
        return None
    state = policy.load(load_state(campaign, policy, saved_text))
    evidence = policy.evidence(state)
    leader = None if evidence is None else evidence.leader
    return OpenBlocks(tuple(names), policy.round(state), leader)


@dataclass(frozen=True)
class BlockAsk:
    """A request for a block.

    Args:
        group: of the rater; None for a person of no group.
        rater: the pseudonym, if told.
        key: the idempotency key.
        actor: who asks.
    """

    group: str | None
    rater: str | None
    key: str
    actor: str


@dataclass(frozen=True)
class BlockTell:
    """The scores of a block, in units of 1e-9, in its order.

    Args:
        lease: the number of the event that gave the block.
        units: the scores.
        key: the idempotency key.
        actor: who tells.
    """

    lease: int
    units: tuple[int, ...]
    key: str
    actor: str


def read_block_ask(body: AskBlock, key: str, actor: str) -> BlockAsk:
    """Return the request in a body."""
    return BlockAsk(body.rater_group, body.rater, key, actor)


def read_block_tell(body: TellBlock, key: str, actor: str) -> BlockTell:
    """Return the scores in a body."""
    return BlockTell(body.lease, tuple(map(to_units, body.scores)), key, actor)


async def give_block(
    db: asyncpg.Connection,
    campaign: UUID,
    head: asyncpg.Record,
    blocks: OpenBlocks,
    ask: BlockAsk,
    now: datetime,
) -> Block | Wait | Finished:
    """Give a block of the open round to a rater, under the lock of the campaign's head.

    Blocks that nobody had come first, then those that were given back, then those that were not
    answered in time.

    Raises:
        InvalidInput: the rater's group is unknown, or judges nobody in this campaign.
        RoundIsDue: the open round must be closed first.
        ServiceProblem: the rater was of another group before.
    """
    before = await db.fetchrow(sql.event_of_request, campaign, ask.key, ask.actor)
    if before is not None:
        asked = {"rater_group": ask.group, "rater": ask.rater}
        if before["kind"] != "ask_block" or not asked.items() <= before["detail"].items():
            raise problems.ServiceProblem(problems.KEY_REUSED)
        row = await db.fetchrow(sql.given_block, campaign, before["event"])
        return _given(campaign, blocks, row)
    kind = blocks.check_rater(ask.group)
    if head["status"] != "open" or blocks.round is None:
        return Finished(status=head["status"])
    if head["answered"] == head["size"]:
        raise RoundIsDue
    await _check_same_group(db, campaign, blocks, ask.rater, kind)
    number, owed = head["round"], head["next_slot"] - head["answered"]
    if kind not in blocks.round.raters:
        return Wait(
            status="wait",
            outstanding=owed,
            retry_after=WAIT_SECONDS,
            reason=blocks.why_none(kind),
        )
    row = await db.fetchrow(sql.block_to_give, campaign, number, kind, now, head["lease_seconds"])
    fresh = blocks.round.raters.index(kind)
    if row["newest"] is not None:
        fresh = row["newest"] + len(blocks.round.raters)
    block = fresh if fresh < blocks.round.blocks else row["again"]
    if block is None:
        return _wait(blocks, kind, owed, row, now)
    groups = by_lot(campaign, number, block, blocks.round.block(block)[1])
    event = head["events"] + 1
    detail = {
        "rater_group": ask.group,
        "rater": ask.rater,
        "block": block,
        "arms": groups,
    }
    expires_at = now + timedelta(seconds=head["lease_seconds"])
    first = block == fresh
    if not first:
        await db.execute(sql.replace_block, campaign, row["lease"])
    what = (number, block, kind, groups, ask.rater, expires_at, ask.actor)
    await db.execute(sql.give_block, campaign, event, *what)
    await db.execute(sql.count_given, campaign, len(groups) if first else 0)
    rest = ("ask_block", ask.actor, ask.key, number, detail)
    await db.execute(sql.add_event, campaign, event, now, *rest)
    await db.execute(sql.add_request, campaign, ask.key, event, ask.actor)
    return _given(campaign, blocks, await db.fetchrow(sql.given_block, campaign, event))


async def _check_same_group(
    db: asyncpg.Connection, campaign: UUID, blocks: OpenBlocks, rater: str | None, kind: int
) -> None:
    if rater is None:
        return
    known = await db.fetchval(sql.kind_of_rater, campaign, rater)
    if known is not None and known != kind:
        were, are = (blocks.name_of(one) or "no group" for one in (known, kind))
        raise problems.ServiceProblem(problems.OTHER_GROUP, rater, were, are)


def _given(campaign: UUID, blocks: OpenBlocks, row: asyncpg.Record) -> Block:
    return Block(
        status="given",
        number=row["lease"],
        round=row["round"],
        rater_group=blocks.name_of(row["kind"]),
        rater=row["rater"],
        groups=tuple(blocks.names[arm] for arm in row["arms"]),
        expires_at=row["expires_at"],
        campaign=str(campaign),
    )


def _wait(blocks: OpenBlocks, kind: int, owed: int, row: asyncpg.Record, now: datetime) -> Wait:
    who = blocks.raters_in_words([kind])
    if row["first_end"] is None:
        reason = f"all blocks of this round for {who} have their scores; others still owe theirs"
        seconds = WAIT_SECONDS
    else:
        reason = f"all blocks of this round for {who} are given"
        seconds = max(0.0, (row["first_end"] - now).total_seconds())
    return Wait(status="wait", outstanding=owed, retry_after=seconds, reason=reason)


async def settle_block(
    db: asyncpg.Connection, campaign: UUID, head: asyncpg.Record, tell: BlockTell, now: datetime
) -> Told:
    """Record the scores of a block, under the lock of the campaign's head.

    They count if the block is still the rater's and all of them come in time. Each lease is
    answered once.

    Raises:
        ServiceProblem: the key came before with another request.
        ServiceProblem: the campaign gave no such block.
        ServiceProblem: another API key took it.
        ServiceProblem: a score is missing or out of range.
        ServiceProblem: the block has other scores.
    """
    before = await db.fetchrow(sql.event_of_request, campaign, tell.key, tell.actor)
    if before is not None:
        told = before["detail"]
        same = before["kind"] == "tell_block" and told["lease"] == tell.lease
        if not same or told["units"] != list(tell.units):
            raise problems.ServiceProblem(problems.KEY_REUSED)
        return Told(counted=told["counted"], late=told["late"], duplicate=0)
    row = await db.fetchrow(sql.block_to_take, campaign, tell.lease, now, head["lease_seconds"])
    if row is None:
        raise problems.ServiceProblem(problems.NO_SUCH_LEASE, tell.lease)
    if row["actor"] != tell.actor and not {tell.actor, ANY} & set(head["tellers"] or ()):
        raise problems.ServiceProblem(problems.NOT_TELLER, tell.lease, tell.actor)
    size = len(row["arms"])
    if len(tell.units) != size:
        raise problems.ServiceProblem(problems.BLOCK_IN_PART, size, tell.lease, len(tell.units))
    for units in tell.units:
        if not head["lowest"] <= units <= head["highest"]:
            ends = map(units_to_text, (head["lowest"], head["highest"], units))
            raise problems.ServiceProblem(problems.SCORE_OUT_OF_RANGE, *ends)
    if row["units"] is not None:
        if row["units"] != list(tell.units):
            raise problems.ServiceProblem(problems.BLOCK_ANSWERED, tell.lease)
        counted = row["counted"]
        return Told(counted=0, late=0 if counted else size, duplicate=size if counted else 0)
    counts = row["in_time"] and row["round"] == head["round"]
    event = head["events"] + 1
    told = {"counted": size if counts else 0, "late": 0 if counts else size}
    detail = {"lease": tell.lease, "units": tell.units, **told}
    await db.execute(sql.answer_block, campaign, tell.lease, tell.units, counts)
    if counts:
        await db.execute(sql.add_block_scores, campaign, head["round"], row["arms"], tell.units)
        if row["rater"] is not None:
            await db.execute(
                sql.count_block_rater, campaign, event, {"raters": [row["rater"]] * size}
            )
    await db.execute(sql.count_answered, campaign, told["counted"], detail)
    rest = ("tell_block", tell.actor, tell.key, head["round"], detail)
    await db.execute(sql.add_event, campaign, event, now, *rest)
    await db.execute(sql.add_request, campaign, tell.key, event, tell.actor)
    return Told(**told, duplicate=0)
