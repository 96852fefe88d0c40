"""The description of a campaign: group names, a round policy, a horizon, the range of scores."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import AffinityError, InvalidInput, UnknownName, shown
from affinity_bandits.policies import FOREVER, POLICIES, RoundPolicy
from affinity_bandits.service.core.scores import Scale, from_units, scale_of
from affinity_bandits.service.core.tallies import Nodes, nodes_of
from affinity_bandits.wire import Plan, limits

ANY: Literal["any"] = "any"
"""Of tellers: all API keys of the tenant."""
DEFAULT_IN_FLIGHT = 100
"""Choices that may be under way at once where a policy's promise depends on it and nobody says."""


class _Served(Mapping[str, type[RoundPolicy]]):
    """A live view of `POLICIES`, restricted to those that a campaign can run."""

    def __getitem__(self, name: str) -> type[RoundPolicy]:
        policy = POLICIES[name]
        if not (issubclass(policy, RoundPolicy) and policy.information == "feedback"):
            raise KeyError(name)
        return policy

    def __iter__(self) -> Iterator[str]:
        return (name for name in POLICIES if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


SERVED: Mapping[str, type[RoundPolicy]] = _Served()
"""Policies a campaign can run: those that plan whole rounds and are told feedback alone. A policy
of one's own is among them once it is registered (`affinity_bandits.policies.register`)."""


@dataclass(frozen=True)
class Planned:
    """What a plan said of how long a campaign takes; nothing is decided by it.

    Args:
        answers: so many suffice in 19 of 20 cases.
        pace: answers a week, if that was known.
    """

    answers: int
    pace: float | None = None


@dataclass(frozen=True)
class CampaignSpec:
    """A campaign as its owner describes it; it never changes.

    Args:
        name: what people call it.
        arms: the names of the groups that are compared.
        policy: a round policy.
        horizon: answers the policy may count on in all.
        lease_seconds: how long whoever asks has to answer before its slots are offered again.
        lowest: the smallest score there can be. The policy is given scores mapped to [0, 1].
        highest: the largest.
        committee: the initial members of each group, if they are known. Where all members judge
            and the policy is told who they are, the first round opens with them.
        planned: what its plan said of how long it takes, if there was one that did.
        tellers: ids of API keys that may answer any lease, or "any" for all keys of the tenant.
            If None, a lease is answered with the key that took it.
    """

    name: str
    arms: tuple[str, ...]
    policy: RoundPolicy
    horizon: int
    lease_seconds: float = 3600.0
    lowest: float = 0.0
    highest: float = 1.0
    committee: tuple[int, ...] | None = None
    planned: Planned | None = None
    tellers: tuple[str, ...] | Literal["any"] | None = None

    def __post_init__(self) -> None:
        _name("name", self.name)
        rule = f"a list of 2 to {limits.MOST_ARMS} different names"
        names = checks.sequence("arms", self.arms, rule)
        if not 2 <= len(names) <= limits.MOST_ARMS:
            raise InvalidInput("arms", rule, names)
        for position, one in enumerate(names):
            _name(f"arms[{position}]", one)
        if len(set(names)) < len(names):
            raise InvalidInput("arms", rule, names)
        if not isinstance(self.policy, RoundPolicy) or self.policy.name not in SERVED:
            raise InvalidInput("policy", f"one of {', '.join(SERVED)}", self.policy)
        horizon = checks.integer("horizon", self.horizon, low=1)
        least, most = limits.SHORTEST_LEASE, limits.LONGEST_LEASE
        seconds = checks.number("lease_seconds", self.lease_seconds, low=least, high=most)
        scale = scale_of(self.lowest, self.highest)
        nodes_of(self.policy, scale)
        # To nine decimals, as scores are kept.
        ends = {"lowest": from_units(scale.lowest), "highest": from_units(scale.highest)}
        plain = {"arms": tuple(names), "horizon": horizon, "lease_seconds": seconds, **ends}
        if self.committee is not None:
            members = checks.integers_list(
                "committee", self.committee, low=0, high=limits.MOST_JUDGES
            )
            if len(members) != len(names):
                rule = f"a number for each of the {len(names)} arms"
                raise InvalidInput("committee", rule, self.committee)
            plain["committee"] = members
        if self.tellers not in (None, ANY):
            plain["tellers"] = _key_ids(self.tellers)
        for name, value in plain.items():
            object.__setattr__(self, name, value)
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
        told = self.policy.told_judges and self.policy.judging_body == "committee"
        return self.committee if told else None

    def with_window(self) -> CampaignSpec:
        """Return this spec with the default order window, if its policy needs one and has none."""
        return replace(self, policy=self.policy.with_order_window(DEFAULT_IN_FLIGHT))

    def to_json(self) -> dict[str, Any]:
        """Return the spec as JSON-ready data."""
        data = vars(self) | {"arms": list(self.arms), "policy": self.policy.to_json()}
        if self.committee is None:
            del data["committee"]  # as specs were, and their digests, before there were any
        else:
            data["committee"] = list(self.committee)
        if self.planned is None:
            del data["planned"]  # likewise
        else:
            data["planned"] = asdict(self.planned)
        if self.tellers is None:
            del data["tellers"]  # likewise
        elif self.tellers != ANY:
            data["tellers"] = list(self.tellers)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CampaignSpec:
        """Rebuild a spec from the data that `to_json` returned."""
        planned = Planned(**data["planned"]) if "planned" in data else None
        return cls(**{**data, "policy": served_policy(data["policy"]), "planned": planned})

    def digest(self) -> bytes:
        """Return a hash of this spec."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).digest()


def served_policy(data: Mapping[str, Any] | str) -> RoundPolicy:
    """Return the round policy with this name and these settings.

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


def planned_spec(
    plan: Plan,
    name: str,
    arms: Sequence[str],
    *,
    lowest: float | None = None,
    highest: float | None = None,
    **settings: Any,
) -> CampaignSpec:
    """Return the spec of a campaign that follows a plan.

    Args:
        plan: what a file written by `affinity plan` says.
        name: of the campaign.
        arms: as many names as the plan has groups.
        lowest: the smallest score; the plan's own if None, and no other if given.
        highest: the largest; the same.
        settings: what else a `CampaignSpec` takes.
    """
    if plan.groups != len(arms):
        raise InvalidInput("arms", f"as many as the plan is for ({plan.groups})", list(arms))
    if plan.noise != "bounded":
        raise InvalidInput(
            "plan",
            "one for noise = 'bounded', planned on the campaign's range of scores: those of other"
            " noise have no range that could be mapped to [0, 1]",
            f"noise = {shown(plan.noise)}",
        )
    planned = scale_of(plan.lowest, plan.highest)
    ends = from_units(planned.lowest), from_units(planned.highest)
    for which, given, end in zip(("lowest", "highest"), (lowest, highest), ends, strict=True):
        if given is not None and given != end:
            raise InvalidInput(which, f"left out, or as the plan has it ({end:g})", given)
    return CampaignSpec(
        name,
        tuple(arms),
        served_policy(plan.policy.model_dump()),
        plan.horizon,
        lowest=ends[0],
        highest=ends[1],
        planned=None if plan.needed is None else Planned(plan.needed, plan.pace),
        **settings,
    )


@dataclass(frozen=True)
class OpenRound:
    """The round that a policy plans next, cut off at the horizon.

    Attributes:
        arms: in the order of the slots.
        repetitions: what the policy planned for each arm.
        size: slots; fewer than planned where the horizon cuts the round short.
        final: whether the policy has made up its mind and plays these arms for ever.
        waits: whether it cannot be planned before the policy is told who judges it; it has no
            slots then, and its arms are those that are left.
        whole: whether the round can be closed: it is neither final nor cut short.
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
        """Whether the policy will be told what was seen in this round."""
        return not self.final and self.size == self.repetitions * len(self.arms)


def open_round(policy: RoundPolicy, state: Any, horizon: int, before: int) -> OpenRound:
    """Return the next round, given how many answers were counted before it."""
    planned = policy.kernels().plan(state)
    arms = tuple(int(arm) for arm in np.asarray(planned.arms))
    repetitions = int(planned.repetitions)
    if repetitions >= FOREVER and len(arms) == 1:
        return OpenRound(arms, FOREVER, limits.LARGEST_ROUND, final=True)
    return OpenRound(
        arms, repetitions, max(0, min(repetitions * len(arms), horizon - before)), final=False
    )


def next_round(
    policy: RoundPolicy, state: Any, arms: int, horizon: int, before: int
) -> OpenRound | None:
    """Return the round to come, which waits if the policy must first be told who judges it.

    None where the horizon is reached.
    """
    planned = open_round(policy, state, horizon, before)
    if planned.final or not policy.told_judges:
        return planned if planned.size > 0 else None
    if before >= horizon:
        return None
    candidate = policy.kernels().candidate
    left = tuple(arm for arm in range(arms) if candidate(state, arm))
    return OpenRound(left, 0, 0, final=False)


def tellers_to_store(tellers: Sequence[str] | None) -> list[str] | None:
    """Return tellers as tables and events have them: "any" is a list of that word."""
    return [ANY] if tellers == ANY else None if tellers is None else list(tellers)


def tellers_stored(tellers: Sequence[str] | None) -> tuple[str, ...] | Literal["any"] | None:
    """Return tellers as a spec has them, given what a table has."""
    return ANY if tellers == [ANY] else None if tellers is None else tuple(tellers)


def _key_ids(given: object) -> tuple[str, ...]:
    """Return tellers as different ids of API keys, in their order."""
    rule = f"{ANY!r}, or a list of 1 to {limits.MOST_TELLERS} ids of API keys"
    ids = checks.sequence("tellers", given, rule)
    if not 1 <= len(ids) <= limits.MOST_TELLERS:
        raise InvalidInput("tellers", rule, given)
    for position, one in enumerate(ids):
        if not isinstance(one, str) or re.fullmatch(limits.KEY_ID, one) is None:
            # Whoever pastes a whole key must not find its secret in an error message.
            found = one[:19] if isinstance(one, str) else one
            raise InvalidInput(f"tellers[{position}]", "the id of an API key", found)
    return tuple(dict.fromkeys(ids))


def _name(parameter: str, value: object) -> None:
    rule = f"a name of 1 to {limits.LONGEST_NAME} printable characters"
    if not isinstance(value, str) or not 1 <= len(value) <= limits.LONGEST_NAME:
        raise InvalidInput(parameter, rule, value)
    if not value.isprintable() or value != value.strip():
        raise InvalidInput(parameter, f"{rule}, not beginning or ending with a space", value)
