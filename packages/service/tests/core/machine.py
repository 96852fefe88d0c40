"""A campaign in the database and the same one in the model, to which the same things happen."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.state import state_to_json
from affinity_bandits_service import problems
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import AnyTell, ScoreTell, SlotTell
from affinity_bandits_service.trail.verify import verify
from packages.service.tests.core.campaign_model import Named
from tests.support.declared import DECLARED

from .machine_world import STATE, Dying, World
from .service_model import ServiceModel

STEPS = 30
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LEASE_SECONDS = 10
ONE = 10**9

scores = st.sampled_from([0, ONE // 5, ONE // 2, ONE // 3 + 1, ONE, ONE])  # some between nodes
bad_scores = st.sampled_from([-1, ONE + 1])


class Machine(RuleBasedStateMachine):
    """A campaign in the database and the same one in the model."""

    def __init__(self, world: World, policies: list[RoundPolicy]) -> None:
        super().__init__()
        self.world = world
        self.policies = policies
        self.processes = [Campaigns(pool) for pool in world.pools]
        self.now = BEGIN
        self.new_key = (f"key-{number}" for number in itertools.count())
        self.asked: list[SlotAsk] = []
        self.told: list[AnyTell] = []

    @initialize(
        data=st.data(),
        arms=st.integers(2, 4),
        horizon=st.sampled_from([1, 3, 10, 25, 60]),
        lowest=st.sampled_from([0, 0, 0, -3]),
    )
    def create(self, data: st.DataObject, arms: int, horizon: int, lowest: int) -> None:
        policy = data.draw(st.sampled_from(self.policies))
        names = tuple(f"arm {number}" for number in range(arms))
        about = CampaignSpec(
            "machine", names, policy, horizon, LEASE_SECONDS, lowest, declaration=DECLARED
        )
        self.world.created += 1
        key = f"campaign-{self.world.created}"
        first, second = (
            self.world.run(one.create(self.world.tenant, about, key=key, actor="m", now=self.now))
            for one in self.processes
        )
        assert first == second
        self.campaign = first
        self.model = ServiceModel(about, str(first))

    # What is asked.

    @rule(process=st.integers(0, 1), counts=st.lists(st.integers(1, 9), min_size=1, max_size=3))
    def ask(self, process: int, counts: list[int]) -> None:
        self._ask(process, [SlotAsk(count, next(self.new_key), "m") for count in counts])

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), process=st.integers(0, 1), more=st.integers(0, 1))
    def ask_again(self, data: st.DataObject, process: int, more: int) -> None:
        before = data.draw(st.sampled_from(self.asked))
        asks = [
            SlotAsk(before.count + more, before.key, "m"),
            SlotAsk(2, next(self.new_key), "m"),
        ]
        asks.append(asks[1])  # a batch may repeat itself
        self._ask(process, data.draw(st.permutations(asks)))

    @rule(first=st.integers(1, 9), second=st.integers(1, 9))
    def two_ask_and_fall_asleep(self, first: int, second: int) -> None:
        for count, seconds in ((first, 1), (second, LEASE_SECONDS)):
            self._ask(0, [SlotAsk(count, next(self.new_key), "m")])
            self.now += timedelta(seconds=seconds)

    def _ask(self, process: int, asks: list[SlotAsk]) -> None:
        self.asked += asks
        given = self.world.run(
            self.processes[process].ask(self.world.tenant, self.campaign, asks, now=self.now)
        )
        assert same(given) == same(self.model.ask(asks, self.now))

    # What is told.

    @precondition(lambda self: self.model.leases)
    @rule(data=st.data(), process=st.integers(0, 1), dies=st.booleans(), items=st.integers(1, 3))
    def tell(self, data: st.DataObject, process: int, dies: bool, items: int) -> None:
        self._tell(process, [data.draw(self._some_tell()) for _ in range(items)], dies)

    @precondition(lambda self: self.model.round.owed)
    @rule(
        process=st.integers(0, 1),
        dies=st.booleans(),
        score=scores,
        form=st.sampled_from(["answers", "answers", "scores", "scores", "short scores"]),
    )
    def tell_all_that_is_owed(self, process: int, dies: bool, score: int, form: str) -> None:
        owed: dict[int, list[int]] = {}
        for slot, lease in self.model.round.owed.items():
            owed.setdefault(lease, []).append(slot)
        arms = self.model.round.arms
        tells = []
        for lease, slots in owed.items():
            # Every other arm is scored higher, so that arms are dropped.
            units = {slot: score * (arms[slot % len(arms)] % 2) for slot in slots}
            if form == "answers":
                tells.append(self._made(lease, units))
                continue
            if form == "short scores":
                of_arm = {arm: [s for s in slots if arms[s % len(arms)] == arm] for arm in arms}
                told = [slot for own in of_arm.values() for slot in sorted(own)[:-1]]
                units = {slot: units[slot] for slot in told or slots}
            tells.append(self._by_score(lease, units, arms))
        self._tell(process, tells, dies)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), process=st.integers(0, 1), dies=st.booleans(), other=st.booleans())
    def tell_again(self, data: st.DataObject, process: int, dies: bool, other: bool) -> None:
        taken = [one for one in self.told if one.key in self.model.remembered]
        before = data.draw(st.sampled_from(taken or self.told))
        if other:
            before = SlotTell(before.lease, before.key, "m", before.places[:1], (ONE,))
        self._tell(process, [before, data.draw(self._some_tell()), before], dies)

    @precondition(lambda self: self.model.number > 0 and self.model.leases)
    @rule(data=st.data(), score=scores)
    def tell_of_a_round_that_is_over(self, data: st.DataObject, score: int) -> None:
        over = [(n, one) for n, one in self.model.leases.items() if one.round < self.model.number]
        number, lease = data.draw(st.sampled_from(over))
        self._tell(0, [self._made(number, dict.fromkeys(lease.slots, score))])

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), lease=st.integers(0, 40))
    def tell_under_the_key_of_an_ask(self, data: st.DataObject, lease: int) -> None:
        self._tell(
            0, [SlotTell(lease, data.draw(st.sampled_from(self.asked)).key, "m", (0,), (0,))]
        )

    @rule(lease=st.one_of(st.integers(0, 60), st.just(2**62)))
    def tell_any_lease(self, lease: int) -> None:
        self._tell(1, [self._made(lease, {0: ONE})])

    def _tell(self, process: int, tells: list[AnyTell], dies: bool = False) -> None:
        self.told += tells
        campaigns = Dying(self.world.pools[process]) if dies else self.processes[process]
        given = self.world.run(
            campaigns.tell(self.world.tenant, self.campaign, tells, now=self.now)
        )
        assert same(given) == same(self.model.tell(tells, self.now, dies=dies))

    def _made(self, lease: int, told: dict[int, int]) -> AnyTell:
        return SlotTell(lease, next(self.new_key), "m", tuple(told), tuple(told.values()))

    def _by_score(self, lease: int, units: dict[int, int], arms: tuple[int, ...]) -> ScoreTell:
        """How often each arm was given each score, from scores of slots."""
        counts = Counter((arms[slot % len(arms)], score) for slot, score in units.items())
        return self._counted(lease, counts)

    def _counted(self, lease: int, counts: Mapping[tuple[int, int], int]) -> ScoreTell:
        """The numbers of answers by arm and score."""
        told = [(arm, score * n, n) for (arm, score), n in counts.items()]
        return ScoreTell(lease, next(self.new_key), "m", *zip(*told, strict=True))

    @st.composite
    @staticmethod
    def _tells(draw: st.DrawFn, machine: Machine) -> AnyTell:
        leases = sorted(machine.model.leases)
        current = [one for one in leases if machine.model.leases[one].round == machine.model.number]
        number = draw(st.sampled_from(current if current and draw(st.booleans()) else leases))
        lease = machine.model.leases[number]
        arms = machine.model.rounds[lease.round].arms
        if draw(st.integers(0, 3)) == 0:
            has = dict.fromkeys(arms, 0)
            for slot in lease.slots:
                has[arms[slot % len(arms)]] += 1
            if draw(st.booleans()):
                counts = has
            else:
                wrong = draw(st.sampled_from([0, 0, 0, 1]))
                counts = {arm: draw(st.integers(0, n + wrong)) for arm, n in has.items()}
                if draw(st.integers(0, 4)) == 0:
                    counts[9] = wrong  # nobody's arm
            told = {(arm, draw(scores)): n for arm, n in counts.items() if n}
            if draw(st.integers(0, 9)) == 0:
                told[arms[0], ONE + 1] = 1
            return machine._counted(number, told or {(arms[0], 0): 1})
        slots = draw(
            st.one_of(
                st.just(list(lease.slots)),
                st.lists(st.sampled_from(lease.slots), min_size=1, unique=True),
            )
        )
        if draw(st.integers(0, 9)) == 0:  # another lease's, or nobody's
            slots = [*slots, *({draw(st.integers(0, 70)), 2**62} - set(slots))]
        units = {slot: draw(scores) for slot in slots}
        if draw(st.integers(0, 9)) == 0:
            units[slots[0]] = draw(bad_scores)
        if draw(st.integers(0, 3)) == 0:
            return machine._by_score(number, units, arms)
        return machine._made(number, units)

    def _some_tell(self) -> st.SearchStrategy[AnyTell]:
        return Machine._tells(self) if self.model.leases else st.just(self._made(5, {0: 0}))

    # What else happens.

    @rule(seconds=st.sampled_from([0, 1, 4, LEASE_SECONDS, LEASE_SECONDS + 1]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(process=st.integers(0, 1))
    def close_due(self, process: int) -> None:
        closed = self.world.run(self.processes[process].closer.close_due(now=self.now))
        assert closed == int(self.model.close())

    @rule(due=st.tuples(st.booleans(), st.booleans()))
    def close_twice_at_once(self, due: tuple[bool, bool]) -> None:
        async def both() -> list[int]:
            return await asyncio.gather(
                *(
                    one.close_due(now=self.now) if by else one.close(self.campaign, now=self.now)
                    for one, by in zip((one.closer for one in self.processes), due, strict=True)
                )
            )

        assert sum(self.world.run(both())) == int(self.model.close())

    @precondition(lambda self: self.model.policy.told_judges)
    @rule(
        data=st.data(),
        process=st.integers(0, 1),
        standing=st.booleans(),
        ahead=st.sampled_from([None, None, 0, 1, 2]),
        again=st.booleans(),
    )
    def name_judges(
        self, data: st.DataObject, process: int, standing: bool, ahead: int | None, again: bool
    ) -> None:
        seats = st.tuples(*[st.integers(0, 2)] * self.model.arms)
        judges = Named(data.draw(seats), standing)
        if again and self.model.round.judges is not None:
            judges = Named(self.model.round.judges, standing)
        number = None if ahead is None else self.model.number + ahead
        key = data.draw(st.sampled_from([next(self.new_key), "judges-1"]))
        if self.asked and data.draw(st.integers(0, 9)) == 0:
            key = data.draw(st.sampled_from(self.asked)).key
        naming = Naming(JudgeCounts(judges.counts, 0, standing), number, key, "m")
        found: Any = None
        try:
            self.world.run(
                self.processes[process].name_judges(
                    self.world.tenant, self.campaign, naming, now=self.now
                )
            )
        except problems.ServiceProblem as problem:
            found = problem
        except InvalidInput as error:
            found = error.parameter
        assert same([found]) == same([self.model.name_by(key, judges, number)])

    @precondition(lambda self: len(self.model.events) > 8)
    @rule(data=st.data(), key=st.sampled_from(["stop-1", "stop-2", "asked"]))
    def stop(self, data: st.DataObject, key: str) -> None:
        if key == "asked" and self.asked:
            key = data.draw(st.sampled_from(self.asked)).key
        try:
            self.world.run(
                self.processes[0].stop(
                    self.world.tenant, self.campaign, actor="m", key=key, now=self.now
                )
            )
            found = None
        except problems.ServiceProblem as problem:
            found = problem
        assert same([found]) == same([self.model.stop_by(key)])

    @rule(data=st.data(), key=st.sampled_from(["back-1", "back-2", "back-3", "asked"]))
    def give_back(self, data: st.DataObject, key: str) -> None:
        lease = data.draw(st.sampled_from([2, *sorted(set(self.model.round.owed.values()))]))
        if key == "asked" and self.asked:
            key = self.asked[-1].key
        try:
            found: Any = self.world.run(
                self.processes[0].release(
                    self.world.tenant, self.campaign, lease, actor="m", key=key, now=self.now
                )
            )
        except problems.ServiceProblem as problem:
            found = problem
        assert same([found]) == same([self.model.release_by(key, lease)])

    @rule()
    def others_see_nothing(self) -> None:
        other = self.world.tenant + 1
        with pytest.raises(problems.NoSuchCampaign):
            self.world.run(self.processes[0].ask(other, self.campaign, [SlotAsk(1, "k", "m")]))
        tell = SlotTell(2, "k", "m", (0,), (0,))
        with pytest.raises(problems.NoSuchCampaign):
            self.world.run(self.processes[0].tell(other, self.campaign, [tell]))

    # What must always hold.

    @invariant()
    def the_database_is_as_the_model(self) -> None:
        model, current = self.model, self.model.round
        stored = json.loads(self.world.run(self.world.pools[0].fetchval(STATE, self.campaign)))
        head, pending = stored["head"], stored["pending"]
        assert head["answered"] <= head["next_slot"] <= head["size"]
        slots = sorted(slot for _, slot in pending)
        assert len(set(slots)) == len(slots)  # a slot is owed by one lease at most
        assert head["answered"] + len(slots) == head["next_slot"]
        assert [one[0] for one in stored["events"]] == list(range(1, head["events"] + 1))

        assert head["status"] == model.status
        assert (head["round"], head["width"]) == (model.number, len(current.arms))
        assert (head["size"], head["next_slot"]) == (current.size, current.next_slot)
        assert head["in_flight"] == model.policy.order_window
        assert head["answered"] == len(current.answered)
        assert stored["due"] == current.due
        assert stored["state"] == state_to_json(model.state)  # to the bit
        assert sorted(pending) == sorted([lease, slot] for slot, lease in current.owed.items())
        is_open, tallies = current.dropped is None, model.tallies()
        assert stored["sums"] == [
            [place, answers, total, tallies and tallies[place]]
            for place, (answers, total) in enumerate(zip(current.counts, current.sums, strict=True))
            if answers and is_open
        ]
        assert stored["rounds"] == [
            [list(one.arms), one.repetitions, one.size, one.before]
            + ([None] * 3 if one.dropped is None else [one.counts, one.sums, list(one.dropped)])
            for one in model.rounds
        ]
        assert stored["judges"] == [one.judges and list(one.judges) for one in model.rounds]
        named = model.named and [list(model.named.counts), model.named.standing]
        assert stored["named"] == named
        assert head["awaits_judges"] == current.waits
        assert [one[1:4] for one in stored["events"]] == [list(one[:3]) for one in model.events]
        assert [one[4:] for one in stored["events"] if one[1] == "tell"] == [
            [one[3].counted, one[3].late, one[3].duplicate]
            for one in model.events
            if one[0] == "tell"
        ]

    def teardown(self) -> None:
        if not hasattr(self, "model"):
            return
        try:
            verdict = self.world.run(verify(self.world.pools[1], self.campaign))
            assert verdict.differences == ()
            assert verdict.events == len(self.model.events)
            self.close_due(0)
        finally:
            # A sequence that failed leaves nothing to the next one.
            self.world.run(
                self.world.pools[0].execute(
                    "DELETE FROM affinity.due WHERE campaign = $1", self.campaign
                )
            )


def same(results: list[Any]) -> list[Any]:
    """Results that can be compared: problems by what they say."""
    return [(type(one), str(one)) if isinstance(one, Exception) else one for one in results]


def run_machine(
    world: World,
    sequences: int,
    phases: tuple[Phase, ...],
    policies: list[RoundPolicy],
    begin: int = 0,
) -> None:
    """Run random sequences, the same every time; `begin` is the seed of them all."""
    run_state_machine_as_test(
        seed(begin)(lambda: Machine(world, policies)),
        settings=settings(
            max_examples=sequences,
            stateful_step_count=STEPS,
            phases=phases,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
