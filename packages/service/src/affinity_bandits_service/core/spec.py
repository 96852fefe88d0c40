"""The description of a campaign, and the records that queries return."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field

from affinity_bandits.base import checks
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import AffinityError, InvalidInput, UnknownName, shown
from affinity_bandits.policies import (
    BLOCK_POLICIES,
    FOREVER,
    POLICIES,
    BlockPolicy,
    RoundPolicy,
)
from affinity_bandits_client import messages
from affinity_bandits_client.messages import CreateCampaign, base
from affinity_bandits_service.core.scores import (
    Nodes,
    Scale,
    from_units,
    nodes_of,
    scale_of,
    to_units,
)

ANY: Literal["any"] = "any"
"""Of tellers: all API keys of the tenant."""
DEFAULT_IN_FLIGHT = 100
"""Choices that may be under way at once where a policy's promise depends on it and nobody says."""


ServedPolicy = RoundPolicy | BlockPolicy
MOST_BLOCK_GROUPS = 30
"""The state of a block policy has numbers for every pair of groups, and each round records it."""


class _Served(Mapping[str, type[ServedPolicy]]):
    """A live view of the policies in `POLICIES` that a campaign can run, and of block policies."""

    def __getitem__(self, name: str) -> type[ServedPolicy]:
        if name in BLOCK_POLICIES:
            return BLOCK_POLICIES[name]
        policy = POLICIES[name]
        if not (issubclass(policy, RoundPolicy) and policy.information == "feedback"):
            raise KeyError(name)
        return policy

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in POLICIES if name in self)
        yield from BLOCK_POLICIES

    def __len__(self) -> int:
        return sum(1 for _ in self)


SERVED: Mapping[str, type[ServedPolicy]] = _Served()
"""Policies a campaign can run: those that plan whole rounds and are told feedback alone, and block
policies. A round policy of one's own is among them once it is registered
(`affinity_bandits.policies.register`)."""


@dataclass(frozen=True)
class PlannedTime:
    """The duration that a plan predicted for a campaign, for information only.

    Args:
        answers: so many suffice in 19 of 20 cases.
        pace: answers a week, if that was known.
        unit: the name of one answer, such as "interview".
    """

    answers: int
    pace: float | None = None
    unit: str = "answer"


@dataclass(frozen=True)
class CampaignSpec:
    """A campaign as its owner describes it, once and for all.

    Args:
        name: shown to people.
        arms: the names of the groups that are compared.
        policy: a round policy, or a block policy.
        horizon: answers in all, at most.
        lease_seconds: time to answer before slots are offered again.
        lowest: the smallest possible score. The policy is given scores mapped to [0, 1].
        highest: the largest.
        committee: the initial members of each group, if known. They judge the first round if the
            policy is told about a committee.
        planned: the duration that a plan predicted.
        tellers: ids of API keys that may answer any lease, or "any" for all keys of the tenant. If
            None, a lease is answered with the key that took it.
        declaration: of the groups, the person responsible and the purpose.
    """

    name: str
    arms: tuple[str, ...]
    policy: ServedPolicy
    horizon: int
    lease_seconds: float = 3600.0
    lowest: float = 0.0
    highest: float = 1.0
    committee: tuple[int, ...] | None = None
    planned: PlannedTime | None = None
    tellers: tuple[str, ...] | Literal["any"] | None = None
    declaration: Declaration = field(kw_only=True)

    def __post_init__(self) -> None:
        # What one member may be is checked where a request is read (`messages.CreateCampaign`).
        self.declaration.check_comparison()
        if len(set(self.arms)) < len(self.arms):
            raise InvalidInput("arms", "a list of different names", list(self.arms))
        if self.policy.name not in SERVED:
            raise InvalidInput("policy", f"one of {', '.join(SERVED)}", self.policy)
        if isinstance(self.policy, BlockPolicy) and len(self.arms) > MOST_BLOCK_GROUPS:
            rule = f"at most {MOST_BLOCK_GROUPS} groups, because one rater scores a block of them"
            raise InvalidInput("arms", rule, f"{len(self.arms):,} groups")
        nodes_of(self.policy, self.scale)
        # To nine decimals, as scores are kept.
        object.__setattr__(self, "lowest", from_units(self.scale.lowest))
        object.__setattr__(self, "highest", from_units(self.scale.highest))
        if self.committee is not None and len(self.committee) != len(self.arms):
            rule = f"a number for each of the {len(self.arms)} arms"
            raise InvalidInput("committee", rule, self.committee)
        try:
            self.policy.start(len(self.arms), self.horizon)
        except (OverflowError, MemoryError) as error:
            raise InvalidInput("policy", "one that fits the horizon", str(error)) from error

    @property
    def scale(self) -> Scale:
        """The range of scores, and its mapping to the [0, 1] that the policy sees."""
        return scale_of(self.lowest, self.highest)

    @property
    def nodes(self) -> Nodes:
        """The scores at which answers are counted for the policy."""
        return nodes_of(self.policy, self.scale)

    @property
    def first_judges(self) -> tuple[int, ...] | None:
        """The judges of the first round, where its policy is told and the committee is known."""
        return self.committee if told_committee(self.policy) else None

    def with_window(self) -> CampaignSpec:
        """Return this spec, with the default order window if its policy needs one and has none."""
        if isinstance(self.policy, BlockPolicy):
            return self
        return replace(self, policy=self.policy.with_order_window(DEFAULT_IN_FLIGHT))

    def to_json(self) -> dict[str, Any]:
        """Return the spec as JSON-ready data."""
        data = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value is not None
        }
        data["policy"] = self.policy.to_json()
        if self.planned is not None:
            data["planned"] = asdict(self.planned)
        data["declaration"] = self.declaration.to_json()
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CampaignSpec:
        """Rebuild a spec from the data that `to_json` returned."""
        planned = PlannedTime(**data["planned"]) if "planned" in data else None
        made = {
            "policy": served_policy(data["policy"]),
            "planned": planned,
            "declaration": Declaration.from_json(data["declaration"]),
        }
        lists = {name: tuple(one) for name, one in data.items() if isinstance(one, list)}
        return cls(**{**data, **lists, **made})

    def digest(self) -> bytes:
        """Return a hash of this spec."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).digest()


def told_committee(policy: ServedPolicy) -> bool:
    """Return whether a policy is told of a committee, all of which judges."""
    return isinstance(policy, RoundPolicy) and (
        policy.told_judges and policy.judging_body == "committee"
    )


def order_window(policy: ServedPolicy) -> int | None:
    """Return how far out of order slots may be answered; None for any order."""
    return policy.order_window if isinstance(policy, RoundPolicy) else None


def served_policy(data: Mapping[str, Any] | str) -> ServedPolicy:
    """Return the policy of a campaign with this name and these settings.

    >>> str(served_policy("elimination"))
    'elimination'
    """
    given = checks.table("policy", {"name": data} if isinstance(data, str) else data)
    if given["name"] not in SERVED:
        raise UnknownName("policy", given["name"], SERVED)
    try:
        return SERVED[given["name"]].from_json(given)
    except AffinityError:
        raise
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
        raise InvalidInput("policy", "a policy's name and settings", str(error)) from error


def read_spec(body: CreateCampaign) -> CampaignSpec:
    """Return the spec of the campaign that a request describes.

    Raises:
        InvalidInput: it breaks a rule.
    """
    plan = body.plan
    settings = body.policy if plan is None else plan.policy
    size = len(settings.model_dump_json())
    if size > base.LARGEST_POLICY:
        rule = f"of at most {base.LARGEST_POLICY:,} characters as JSON"
        raise InvalidInput("policy", rule, f"{size:,} characters")
    ends = body.model_dump(include={"lowest", "highest"}, exclude_none=True)
    rest: dict[str, Any] = {"lease_seconds": body.lease_seconds, "tellers": body.tellers}
    rest["declaration"] = Declaration.from_json(body.declared.model_dump())
    if body.committee is not None:
        rest["committee"] = counts_by_arm("committee", body.committee, body.arms)
    policy = served_policy(settings.model_dump())
    if plan is None:
        return CampaignSpec(body.name, body.arms, policy, body.horizon, **ends, **rest)
    if plan.groups != len(body.arms):
        rule = f"as many as the plan is for ({plan.groups})"
        raise InvalidInput("arms", rule, list(body.arms))
    if plan.noise != "bounded":
        raise InvalidInput(
            "plan",
            "one for noise = 'bounded', planned on the campaign's range of scores: those of other"
            " noise have no range that could be mapped to [0, 1]",
            f"noise = {shown(plan.noise)}",
        )
    scale = scale_of(plan.lowest, plan.highest)
    planned: dict[str, Any] = {
        "lowest": from_units(scale.lowest),
        "highest": from_units(scale.highest),
    }
    for which, given in ends.items():
        if to_units(given) != to_units(planned[which]):
            rule = f"left out, or as the plan has it ({planned[which]:g})"
            raise InvalidInput(which, rule, given)
    if plan.needed is not None:
        rest["planned"] = PlannedTime(plan.needed, plan.pace, plan.unit)
    return CampaignSpec(body.name, body.arms, policy, plan.horizon, **planned, **rest)


def counts_by_arm(
    parameter: str, given: Mapping[str, int], names: Sequence[str]
) -> tuple[int, ...]:
    """Return counts by name as a count for each arm, 0 by default."""
    strange = sorted(given.keys() - set(names))
    if strange:
        raise InvalidInput(parameter, "of groups of the campaign", strange[:20])
    return tuple(given.get(name, 0) for name in names)


@dataclass(frozen=True)
class RoundSlots:
    """The round that a policy plans next, cut off at the horizon.

    Attributes:
        arms: in the order of the slots; those that are left if the round waits for judges or
            consists of blocks.
        repetitions: planned slots per arm; passes of blocks; 0 if the round waits for judges.
        size: slots, or scores of all blocks; fewer slots than planned if the horizon cuts the round
            short.
        final: whether the policy has decided and plays these arms for ever.
    """

    arms: tuple[int, ...]
    repetitions: int
    size: int
    final: bool

    def to_json(self) -> dict[str, Any]:
        """Return the round as JSON-ready data, as events record it."""
        return asdict(self) | {"arms": list(self.arms)}

    @property
    def waits(self) -> bool:
        """Whether the policy must be told who judges before it can plan this round."""
        return self.repetitions == 0

    @property
    def whole(self) -> bool:
        """Whether the policy will be told the scores of this round."""
        return not self.final and self.size == self.repetitions * len(self.arms)


def open_round(policy: RoundPolicy, state: Any, horizon: int, before: int) -> RoundSlots:
    """Return the next round, given how many answers were counted before it."""
    planned = policy.kernels().plan(state)
    arms = tuple(int(arm) for arm in np.asarray(planned.arms))
    repetitions = int(planned.repetitions)
    if repetitions >= FOREVER and len(arms) == 1:
        return RoundSlots(arms, FOREVER, base.LARGEST_ROUND, final=True)
    return RoundSlots(
        arms, repetitions, max(0, min(repetitions * len(arms), horizon - before)), final=False
    )


def next_round(
    policy: ServedPolicy, state: Any, arms: int, horizon: int, before: int
) -> RoundSlots | None:
    """Return the round to come, which waits if the policy must first be told who judges it.

    None at the horizon: for blocks, if it comes before the end of the round, since a round that is
    cut short decides nothing.
    """
    candidate = policy.kernels().candidate
    left = tuple(arm for arm in range(arms) if candidate(state, arm))
    if isinstance(policy, BlockPolicy):
        blocks = policy.round(state)
        if blocks is None:
            return RoundSlots(left, FOREVER, base.LARGEST_ROUND, final=True)
        if before + blocks.scores > horizon:
            return None
        return RoundSlots(left, blocks.passes, blocks.scores, final=False)
    planned = open_round(policy, state, horizon, before)
    if planned.final or not policy.told_judges:
        return planned if planned.size > 0 else None
    if before >= horizon:
        return None
    return RoundSlots(left, 0, 0, final=False)


def tellers_to_store(tellers: Sequence[str] | None) -> list[str] | None:
    """Return tellers as tables and events have them: "any" is a list of that word."""
    return [ANY] if tellers == ANY else None if tellers is None else list(tellers)


def tellers_stored(tellers: Sequence[str] | None) -> tuple[str, ...] | Literal["any"] | None:
    """Return tellers as a spec has them, from a row of a table."""
    return ANY if tellers == [ANY] else None if tellers is None else tuple(tellers)


class UnknownPolicy(RoundPolicy):
    """A placeholder for a policy that is unknown to this server."""

    eliminates: ClassVar[bool] = True  # as nearly all do


class CampaignRecord(messages.Campaign):
    """The message of a campaign, with private members.

    Attributes:
        made_policy: the policy, or a placeholder if it is unknown to this server.
        saved: the policy's state before the open round; None if it is unreadable.
        planned: the duration that its plan predicted, if any.
        declaration: of the groups, the person responsible and the purpose.
        before: answers counted before the open round.
        round_answers: answers of each arm of the open round.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    made_policy: ServedPolicy = Field(exclude=True, repr=False)
    saved: dict[str, Any] | None = Field(exclude=True, repr=False)
    planned: PlannedTime | None = Field(exclude=True)
    declaration: Declaration = Field(exclude=True)
    before: int = Field(exclude=True)
    round_answers: tuple[int, ...] = Field(exclude=True)

    @property
    def by_blocks(self) -> bool:
        """Whether raters score blocks, whose differences are compared."""
        return isinstance(self.made_policy, BlockPolicy)

    @property
    def round_over(self) -> bool:
        """Whether there is no open round that decides anything."""
        return self.status == "exhausted" or self.recommended is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all arms."""
        return tuple(arm.name for arm in self.arms)

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the arms that may still be the best."""
        return tuple(arm.name for arm in self.arms if arm.active)


class RoundRecord(messages.ClosedRound):
    """The message of a closed round, with a private member.

    Attributes:
        fewest_seats: the arm that should have had the fewest judges, if any.
    """

    fewest_seats: str | None = Field(default=None, exclude=True)
