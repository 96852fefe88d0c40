"""Elimination with a handicap as it was at first, to compare with: sums over windows decide.

It has the same head starts and the same guarantee, and needs about nine times the choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import FOREVER, Round, RoundPolicy
from affinity_bandits.policies.state import counts, reals

LOOKS = 4
"""Looks at the sums each time the number of passes doubles; at each fourth a window opens."""
WINDOWS = 5
"""Windows kept open: one that has grown 32-fold is closed, since the next has nearly as many
passes."""
FEWEST_PASSES = 8
FIRST_PASSES = 0.25
"""Passes before a first leader is named, as a part of the head start: more would cost more than
a wrong leader does."""
MIXING = 0.25
"""The mixing variance of a window as a part of the noise of all passes before it: its boundary is
then tightest when the window has grown about fourfold."""
CLEARLY = 0.5
"""An arm takes the lead when it is ahead by this part of (1 + sqrt(2 log k)) standard deviations,
about what the best of k reaches by chance: a wrong change costs a head start, a late one the passes
in between."""
DEFAULT_FAILURE = 1e-3


class HandicapState(NamedTuple):
    """Who is active, who leads, the sums so far, and the sums at the opening of each window."""

    ends: IntArray  # [look]: passes finished when it is taken; the first ends what is thrown away
    log_levels: FloatArray  # [window]: log(1 / level) of its tests
    head_start: int  # with what answers out of order add to it
    variance: float  # of one feedback; 0: feedback in [0, 1], whose variance is estimated
    look: IntArray  # [0]: the look to be taken next
    left: IntArray  # [0]: how many are active
    active: IntArray  # the active arms in increasing order, in the first `left` places
    dropped_in: IntArray  # per arm: the look (from 1) at which it was dropped, 0 if it is active
    leader: IntArray  # [0]: the arm the others are compared with, -1 before the first look
    behind: IntArray  # [0]: how many arms still lack pulls of their head start
    lacking: IntArray  # those arms, in the first `behind` places
    lack: IntArray  # [0]: pulls that each of them is given in the round to come
    pulls: IntArray  # per arm, in passes and in between
    means: FloatArray  # per arm: its mean feedback over the passes it took part in
    total: FloatArray  # per arm: its feedback over passes
    oldest: IntArray  # [0]: the first window opened under this leader
    opened: IntArray  # [0]: windows opened so far
    mixing: FloatArray  # [place]: the mixing variance of the window in that place
    passes_before: IntArray  # [place]: passes when it was opened
    total_before: FloatArray  # [place, arm], flat: `total` when it was opened


@dataclass(frozen=True)
class FormerHandicap(RoundPolicy):
    """Every arm in turn, against a leader that must win although the others got a head start.

    Two arms that take turns have shares whose ratio is that of their members, whatever else
    happens. So an arm that is given more pulls than the leader's initial advantage can have been
    is never behind in share from then on, and any f that does not decrease favours it. If the
    leader still beats it, that is not the bias.

    After a few passes the arm with the highest sum is named leader, and every other is pulled
    alone until it is `head_start` + 1 pulls ahead of it. Then all take turns. Looks are taken at
    passes that grow geometrically; over windows that open whenever the passes have doubled, an
    arm is dropped once the leader's sum exceeds its own by more than a normal-mixture boundary.
    When a window opens, an arm that is clearly ahead of the leader takes its place, the others
    get their head start over the new one, and earlier windows are closed.

    With f nondecreasing, true means of at least 0 and initial pulls that differ by at most
    `head_start`, the best arm is ever dropped with probability at most `failure`: no Lipschitz
    constant, no steepness and no horizon condition enter.

    Args:
        head_start: by how much initial pulls may differ. Left out: the most that the paper's
            second bound allows, 2**7 log(12 K**2 n / pi**2) (`cor:regretConstSuboptimalityGaps`).
        sigma: feedback is sigma-subGaussian around its mean. Not used when bounded.
        bounded: feedback lies in [0, 1]; its variance is then taken from what is seen.
        failure: the probability of ever dropping the best arm. Left out: 0.001 in all, and in
            each window at most its first pass over the horizon, since a mistake made early costs
            the whole horizon.
        in_flight: slots of a round that may be under way at once, from the oldest without an
            answer to the newest handed out; half of them are added to the head start. Left out:
            one, as in a simulation.
    """

    name: ClassVar[str] = "former-handicap"
    eliminates: ClassVar[bool] = True
    head_start: int | None = None
    sigma: float = 1.0
    bounded: bool = False
    failure: float | None = None
    in_flight: int | None = None

    def __post_init__(self) -> None:
        if self.head_start is not None:
            self._set(head_start=checks.integer("head_start", self.head_start, low=0, high=10**12))
        if self.failure is not None:
            self._set(
                failure=checks.number("failure", self.failure, low=1e-300, high=1.0, open_high=True)
            )
        if self.in_flight is not None:
            self._set(in_flight=checks.integer("in_flight", self.in_flight, low=1, high=10**9))
        self._set(
            sigma=checks.number("sigma", self.sigma, low=0.0, high=1e9, open_low=True),
            bounded=checks.flag("bounded", self.bounded),
        )

    @classmethod
    def examples(cls) -> list[Self]:
        return [
            cls(head_start=20, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.05),
            cls(head_start=5, bounded=True, failure=0.05, in_flight=9),
        ]

    @property
    def order_window(self) -> int:
        return self.in_flight or 1

    def with_order_window(self, slots: int) -> Self:
        """Return the policy told to expect that window; one told before keeps its own."""
        return self if self.in_flight is not None else replace(self, in_flight=slots)

    @property
    def assumes(self) -> Feedback:
        """What it was told."""
        return UNIT_INTERVAL if self.bounded else Feedback(sigma=self.sigma)

    def start(self, arms: int, horizon: int) -> HandicapState:
        check_size(arms, horizon)
        head_start = self.head_start
        if head_start is None:
            head_start = math.ceil(2**7 * math.log(12.0 * float(arms) ** 2 * horizon / math.pi**2))
        # Of two groups, the one answered first can be that far ahead when the other is answered.
        head_start += self.order_window // 2
        ends = _looks(max(FEWEST_PASSES, math.ceil(FIRST_PASSES * head_start)), horizon)
        return HandicapState(
            ends=np.array(ends, dtype=np.int64),
            log_levels=np.array(self._log_levels(ends[::LOOKS], horizon)),
            head_start=head_start,
            variance=0.0 if self.bounded else self.sigma**2,
            look=counts(1),
            left=counts(1, arms),
            active=np.arange(arms, dtype=np.int64),
            dropped_in=counts(arms),
            leader=counts(1, -1),
            behind=counts(1),
            lacking=counts(arms),
            lack=counts(1),
            pulls=counts(arms),
            means=reals(arms),
            total=reals(arms),
            oldest=counts(1),
            opened=counts(1),
            mixing=reals(WINDOWS),
            passes_before=counts(WINDOWS),
            total_before=reals(WINDOWS * arms),
        )

    def _log_levels(self, openings: list[int], horizon: int) -> list[float]:
        """Return log(1/level) for the windows that open after so many passes."""
        if self.failure is not None:
            return [math.log(len(openings) / self.failure)] * len(openings)
        each = DEFAULT_FAILURE / len(openings)
        return [-math.log(min(each, passes / horizon)) for passes in openings]

    @staticmethod
    def plan(state: HandicapState) -> Round:
        left = state.left[0]
        look = state.look[0]
        if left == 1 or look >= len(state.ends):
            return Round(state.active[:left], FOREVER)
        if state.behind[0] > 0:
            return Round(state.lacking[: state.behind[0]], state.lack[0])
        before = state.ends[look - 1] if look > 0 else 0
        return Round(state.active[:left], state.ends[look] - before)

    @staticmethod
    def absorb(state: HandicapState, sums: FloatArray) -> None:
        if state.behind[0] > 0:
            # These pulls only even out shares; what they returned counts for nothing.
            for position in range(state.behind[0]):
                state.pulls[state.lacking[position]] += state.lack[0]
            open_window(state)
            return
        look = state.look[0]
        passes = state.ends[look]
        before = state.ends[look - 1] if look > 0 else 0
        for position in range(state.left[0]):
            arm = state.active[position]
            state.pulls[arm] += passes - before
            state.total[arm] += sums[position]
            state.means[arm] = state.total[arm] / passes
        for window in range(max(state.oldest[0], state.opened[0] - WINDOWS), state.opened[0]):
            drop_beaten(state, window)
        state.look[0] += 1
        if look % LOOKS == 0 and state.left[0] > 1:
            name_leader(state)
            open_window(state)

    @staticmethod
    def candidate(state: HandicapState, arm: int) -> bool:
        return bool(state.dropped_in[arm] == 0)


def drop_beaten(state: HandicapState, window: int) -> None:
    """Drop every arm that the leader has beaten over a window."""
    place = window % WINDOWS
    at = place * len(state.total)
    leader = state.leader[0]
    lead = state.total[leader] - state.total_before[at + leader]
    passes = state.ends[state.look[0]] - state.passes_before[place]
    kept = 0
    for position in range(state.left[0]):
        arm = state.active[position]
        own = state.total[arm] - state.total_before[at + arm]
        noise = noise_of(state, lead + own, passes)
        spread = noise + state.mixing[place]
        needed = spread * (2.0 * state.log_levels[window] + np.log(spread / state.mixing[place]))
        if lead > own and (lead - own) * (lead - own) >= needed:
            state.dropped_in[arm] = state.look[0] + 1
        else:
            state.active[kept] = arm
            kept += 1
    state.left[0] = kept


def noise_of(state: HandicapState, total: float, passes: int) -> float:
    """Return the variance of the difference of two sums, or what stands for it when bounded."""
    if state.variance == 0.0:
        return max(total, 0.0)  # below 0 only if feedback was not in [0, 1] after all
    return 2.0 * state.variance * passes


def name_leader(state: HandicapState) -> None:
    """Let the best since the last window opened lead, if it is clearly ahead of the leader."""
    leader = state.leader[0]
    at = (state.opened[0] - 1) % WINDOWS * len(state.total) if leader >= 0 else 0
    best = state.active[0]
    for position in range(state.left[0]):
        arm = state.active[position]
        if (
            state.total[arm] - state.total_before[at + arm]
            > state.total[best] - state.total_before[at + best]
        ):
            best = arm
    if leader >= 0:
        place = (state.opened[0] - 1) % WINDOWS
        passes = state.ends[state.look[0] - 1] - state.passes_before[place]
        lead = state.total[leader] - state.total_before[at + leader]
        own = state.total[best] - state.total_before[at + best]
        noise = noise_of(state, lead + own, passes)
        clearly = CLEARLY * (1.0 + np.sqrt(2.0 * np.log(state.left[0])))
        if own - lead <= clearly * np.sqrt(noise):
            return
    state.leader[0] = best
    state.oldest[0] = state.opened[0]


def open_window(state: HandicapState) -> None:
    """Open a window, or first let those catch up that lack a head start over the leader."""
    leader = state.leader[0]
    state.behind[0] = 0
    state.lack[0] = FOREVER
    for position in range(state.left[0]):
        arm = state.active[position]
        # One more than the head start: a later place within a pass costs less than one member.
        lack = state.pulls[leader] + state.head_start + 1 - state.pulls[arm]
        if arm != leader and lack > 0:
            state.lacking[state.behind[0]] = arm
            state.behind[0] += 1
            state.lack[0] = min(state.lack[0], lack)
    if state.behind[0] > 0:
        return
    place = state.opened[0] % WINDOWS
    at = place * len(state.total)
    highest = 0.0
    for position in range(state.left[0]):
        arm = state.active[position]
        state.total_before[at + arm] = state.total[arm]
        highest = max(highest, state.total[arm])
    passes = state.ends[state.look[0] - 1]
    state.passes_before[place] = passes
    # What was seen before a window says how large its noise will be.
    before = 2.0 * (highest if state.variance == 0.0 else state.variance * passes)
    state.mixing[place] = max(MIXING * before, 1.0 if state.variance == 0.0 else 0.0)
    state.opened[0] += 1


def _looks(first: int, horizon: int) -> list[int]:
    """Return the passes after which a look is taken, up to the horizon of two arms."""
    ends = [first]
    while 2 * ends[-1] < horizon:
        ends.append(max(ends[-1] + 1, round(first * 2.0 ** (len(ends) / LOOKS))))
    return ends
