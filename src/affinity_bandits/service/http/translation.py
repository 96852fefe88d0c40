"""Conversion between records of the core (arms by index) and messages (arms by name)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from affinity_bandits import wire
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.campaign_spec import CampaignSpec, planned_spec, served_policy
from affinity_bandits.service.core.judging import Judges
from affinity_bandits.service.core.records import Campaign, ClosedRound, Lease, Progress, Stored
from affinity_bandits.service.core.scores import from_units, to_units, total_to_units, units_to_text
from affinity_bandits.service.core.tells import ArmTell, Rater, ScoreTell, SlotTell, Tell
from affinity_bandits.wire.limits import LARGEST_POLICY


def spec_of(body: wire.CreateCampaign) -> CampaignSpec:
    """Return the spec of the campaign that a request describes.

    Raises:
        InvalidInput: it breaks a rule.
    """
    chosen = body.policy if body.plan is None else body.plan.policy
    size = len(chosen.model_dump_json())
    if size > LARGEST_POLICY:
        raise InvalidInput(
            "policy", f"of at most {LARGEST_POLICY:,} characters as JSON", f"{size:,} characters"
        )
    ends = body.model_dump(include={"lowest", "highest"}, exclude_unset=True)
    members = None
    if body.committee is not None:
        members = _by_arm("committee", body.committee, body.arms)
    if body.plan is not None:
        return planned_spec(
            *(body.plan, body.name, body.arms),
            **{"lease_seconds": body.lease_seconds, "committee": members, **ends},
            tellers=body.tellers,
        )
    policy = served_policy(body.policy.model_dump())
    return CampaignSpec(
        *(body.name, body.arms, policy, body.horizon, body.lease_seconds),
        **{"committee": members, "tellers": body.tellers, **ends},
    )


def campaign_message(one: Campaign, answers: tuple[int, ...]) -> wire.Campaign:
    """Return a campaign as a message, given how many answers each of its arms has."""
    spec = one.spec
    wanted = one.round.fewest_seats if one.status == "open" else None
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
            "round": vars(one.round)
            | {
                "arms": _named(spec.arms, one.round.arms),
                "judged_by": _judges(spec.arms, one.round),
            },
            "fewest_seats": None if wanted is None else spec.arms[wanted],
            "named_judges": _named_judges(spec.arms, one.named if one.status == "open" else None),
            "committee": spec.committee and dict(zip(spec.arms, spec.committee, strict=True)),
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
            "judged_by": _judges(names, one),
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
        names: those of the campaign's arms; looked at where totals or raters are told.
    """
    if body.answers is not None:
        return SlotTell(
            body.lease,
            key,
            actor,
            tuple([one["slot"] for one in body.answers]),
            tuple([to_units(one["score"]) for one in body.answers]),
            _raters(body.answers, names) if rated(body) else (),
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


def rated(body: wire.Tell) -> bool:
    """Return whether a tell says who rated."""
    return any(len(one) > 2 for one in body.answers or ())


def judges_of(body: wire.NameJudges, names: Sequence[str]) -> Judges:
    """Return the judges that a request names.

    Raises:
        InvalidInput: some are of a group that the campaign does not have.
    """
    return Judges(_by_arm("judges", body.judges, names), body.outsiders, body.standing)


def _by_arm(parameter: str, given: Mapping[str, int], names: Sequence[str]) -> tuple[int, ...]:
    strange = sorted(given.keys() - set(names))
    if strange:
        raise InvalidInput(parameter, "of groups of the campaign", strange[:20])
    return tuple(given.get(name, 0) for name in names)


def _raters(answers: Sequence[wire.SlotScore], names: Sequence[str]) -> tuple[Rater, ...]:
    arms: dict[str | None, int | None] = {name: arm for arm, name in enumerate(names)}
    arms[None] = None
    for one in answers:
        if one.get("rater_group") not in arms:
            raise InvalidInput("rater_group", "a group of the campaign", one["rater_group"])
    return tuple((one.get("rater"), arms[one.get("rater_group")]) for one in answers)


def _judges(names: Sequence[str], round_: Progress | ClosedRound) -> wire.Judges | None:
    if round_.judges is None or round_.outsiders is None:
        return None
    by_name = dict(zip(names, round_.judges, strict=True))
    return wire.Judges(judges=by_name, outsiders=round_.outsiders)


def _named_judges(names: Sequence[str], named: Judges | None) -> wire.NamedJudges | None:
    if named is None:
        return None
    by_name = dict(zip(names, named.counts, strict=True))
    return wire.NamedJudges(judges=by_name, outsiders=named.outsiders, standing=named.standing)


def _named(names: Sequence[str], arms: Sequence[int]) -> tuple[str, ...]:
    return tuple(names[arm] for arm in arms)
