"""Conversion between records of the core (arms by index) and messages (arms by name)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from affinity_bandits import wire
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.campaign_spec import CampaignSpec, planned_spec, served_policy
from affinity_bandits.service.core.records import Campaign, ClosedRound, Lease, Stored
from affinity_bandits.service.core.scores import from_units, to_units, total_to_units, units_to_text
from affinity_bandits.service.core.tells import ArmTell, ScoreTell, SlotTell, Tell


def spec_of(body: wire.CreateCampaign) -> CampaignSpec:
    """Return the spec of the campaign that a request describes.

    Raises:
        InvalidInput: it breaks a rule.
    """
    ends = body.model_dump(include={"lowest", "highest"}, exclude_unset=True)
    if body.plan is not None:
        return planned_spec(
            body.plan, body.name, body.arms, lease_seconds=body.lease_seconds, **ends
        )
    policy = served_policy(body.policy.model_dump())
    return CampaignSpec(body.name, body.arms, policy, body.horizon, body.lease_seconds, **ends)


def campaign_message(one: Campaign, answers: tuple[int, ...]) -> wire.Campaign:
    """Return a campaign as a message, given how many answers each of its arms has."""
    spec = one.spec
    return wire.Campaign.model_validate(
        vars(spec)
        | vars(one)
        | {
            "id": str(one.id),
            "arms": [
                wire.Arm(name=name, active=arm in one.active, answers=answers[arm])
                for arm, name in enumerate(spec.arms)
            ],
            "recommended": None if one.recommended is None else spec.arms[one.recommended],
            "round": vars(one.round) | {"arms": _named(spec.arms, one.round.arms)},
            "policy": spec.settings if isinstance(spec, Stored) else spec.policy.to_json(),
        }
    )


def round_message(one: ClosedRound, names: tuple[str, ...]) -> wire.ClosedRound:
    """Return a closed round as a message."""
    pairs = zip(one.sums, one.counts, strict=True)
    return wire.ClosedRound.model_validate(
        vars(one)
        | {
            "arms": _named(names, one.arms),
            "sums": tuple(units_to_text(total) for total in one.sums),
            "means": tuple(from_units(total) / n if n else None for total, n in pairs),
            "dropped": _named(names, one.dropped),
        }
    )


def lease_message(
    campaign: UUID, one: Lease, names: tuple[str, ...], *, listed: bool
) -> wire.Lease:
    """Return a lease as a message, with every slot if wanted."""
    slots: list[wire.ListedSlot] | None = None
    if listed:
        slots = [{"slot": slot, "arm": names[arm]} for slot, arm in one.slots]
    return wire.Lease(
        status="leased",
        number=one.number,
        round=one.round,
        arms=tuple(names[arm] for arm in one.arms),
        runs=one.runs,
        listed=slots,
        expires_at=one.expires_at,
        campaign=str(campaign),
    )


def tell_of(body: wire.Tell, key: str, actor: str, names: tuple[str, ...]) -> Tell:
    """Return the core's tell for the body of a request.

    Args:
        body: what came.
        key: the idempotency key.
        actor: who tells.
        names: those of the campaign's arms; not looked at where slots are told.
    """
    if body.answers is not None:
        return SlotTell(
            body.lease,
            key,
            actor,
            tuple([one["slot"] for one in body.answers]),
            tuple([to_units(one["score"]) for one in body.answers]),
        )
    arms = {name: arm for arm, name in enumerate(names)}
    for one in body.totals:
        if one.arm not in arms:
            # Not the closest name: with a thousand long ones it takes seconds to find.
            raise InvalidInput("arm", "the name of an arm of the campaign", one.arm)
    if body.totals[0].scores is not None:
        told = [
            (arms[one.arm], to_units(each["score"]) * each["count"], each["count"])
            for one in body.totals
            for each in one.scores
        ]
        return ScoreTell(body.lease, key, actor, *zip(*told, strict=True))
    return ArmTell(
        body.lease,
        key,
        actor,
        tuple(arms[one.arm] for one in body.totals),
        tuple(total_to_units(one.sum, one.count) for one in body.totals),
        tuple(one.count for one in body.totals),
    )


def _named(names: Sequence[str], arms: Sequence[int]) -> tuple[str, ...]:
    return tuple(names[arm] for arm in arms)
