"""Betting eliminations, from docs/development/head-start-definition.md.

With a memory, from the section of that name in docs/study/studies/memory.md.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from .base import RoundPolicy


class HeadStartElimination(RoundPolicy):
    """Drop i when the purse from which bets on the leader against i are made holds 1/delta.

    ``initial_lead`` is G, ``failure`` is delta, ``target`` is the target and ``in_flight`` is D.
    ``initial_pulls`` has a number for each group, or a pair [fewest, most].
    """

    judges = "chosen"
    B = 17

    def __init__(
        self,
        K: int,
        n: int,
        initial_lead: int | None = None,
        initial_pulls: Sequence[int | Sequence[int]] | None = None,
        sigma: float = 1.0,
        bounded: bool = False,
        failure: float | None = None,
        target: int | None = None,
        in_flight: int | None = None,
        memory: int | None = None,
    ) -> None:
        super().__init__(K, n)
        self.M = memory
        self.seats: list[int] | None = None
        self.first: list[int] = []
        self.sigma = sigma
        self.bounded = bounded
        self.failure = failure
        self.target = target
        self.D = in_flight or 1
        self.fewest, self.most = self.bounds_on_initial_pulls(initial_lead, initial_pulls)
        self.stakes, self.prior = self.stakes_and_prior()
        # Logarithms, since a round can multiply a wealth by more than a float holds.
        self.log_wealth = [[math.log(w) for w in self.prior] for _ in range(K)]
        self.p = 0
        self.rounds = 0
        self.p_of_last_gift = 1
        self.n_r = 0.0
        self.sums = [0.0] * K
        self.squares = [0.0] * K
        self.history: list[list[float]] = [[] for _ in range(K)]
        self.left = list(range(K))
        self.leader: int | None = None
        self.naming = False
        if memory is None:
            self.next_passes()
        else:
            self.start_round(self.left, math.ceil(memory / K))

    def bounds_on_initial_pulls(
        self, initial_lead: int | None, initial_pulls: Sequence[int | Sequence[int]] | None
    ) -> tuple[list[int], list[int]]:
        """Return l and h."""
        if self.judges != "chosen" or self.M is not None:
            return [0] * self.K, [0] * self.K
        if initial_pulls is not None:
            pairs = [(x, x) if isinstance(x, int | float) else tuple(x) for x in initial_pulls]
            return [low for low, _ in pairs], [high for _, high in pairs]
        if initial_lead is None:
            initial_lead = math.ceil(2.0**7 * math.log(12.0 * self.K**2 * self.n / math.pi**2))
        return [0] * self.K, [initial_lead] * self.K

    def stakes_and_prior(self) -> tuple[list[float | None], list[float]]:
        """Return the stakes, cash last but for that of a target, which is None."""
        s = [2.0 * 2.0 ** (-k / 2.0) for k in range(48)]
        shape = [
            0.03 * 2.0 ** (-k / 4.0) + math.exp(-0.5 * (math.log(x / 0.3) / 0.7) ** 2)
            for k, x in enumerate(s)
        ]
        if self.failure is None:
            s = [x for k, x in enumerate(s) if k == 0 or x**2 * self.n / 4.0 >= 10.0]
            shape = [1.0] * len(s)
        prior = [0.98 * x / sum(shape) for x in shape] + [0.02]
        stakes: list[float | None] = [x if self.bounded else x / (2.0 * self.sigma) for x in s]
        stakes.append(0.0)
        if self.target is not None:
            prior = [0.6 * w for w in prior] + [0.4]
            stakes.append(None)
        return stakes, prior

    def update(self, arm: int, y: float) -> None:
        if self.bounded:
            y = min(1.0, max(0.0, y))
        self.scores[arm].append(y)
        super().update(arm, y)

    def start_round(self, active: list[int], passes: float) -> None:
        super().start_round(active, passes)
        if self.M is not None:
            self.active = list(active)  # in the order of their turns
        self.scores: list[list[float]] = [[] for _ in range(self.K)]

    def next_passes(self) -> None:
        if len(self.left) == 1:
            self.m: float = math.inf
        elif self.judges == "members" and self.seats is not None:
            self.m = usual = self.usual_passes()
            if self.leader is not None:
                shortest = max(math.ceil(self.D / self.K), 1)
                fair = [
                    m
                    for m in range(shortest, usual + 1)
                    if all(self.needs(i, m, self.seats) <= self.seats[i] for i in self.others())
                ]
                self.m = max(fair, default=usual)
        elif self.p == 0:
            widest = max(self.most) - min(self.fewest)
            self.m = max(4, math.ceil(self.D / self.K), widest // 12)
        else:
            self.m = max(1, math.ceil(self.D / self.K), self.p // 40)
        self.start_round(self.left, self.m)

    def end_round(self) -> None:
        if self.M is not None and sum(self.T) == self.K * math.ceil(self.M / self.K):
            self.next_passes()  # nobody counts any more who was there before
            return
        if self.naming:  # feedback of these rounds is not used
            if self.M is not None:
                self.naming = False
                self.next_passes()
            elif self.judges == "members":
                self.next_passes()  # what comes is settled once it is told who sits now
            else:
                self.put_shares_in_order()
            return
        if self.leader is not None:
            for i in self.others():
                if self.may_bet_against(i):
                    self.bet(i, self.leader)
        self.remember()
        self.rounds += 1
        if self.leader is not None:
            self.drop()
            self.give_to_the_prior()
        new_leader = self.rounds % 2 == 0 or self.leader is None
        named = len(self.left) > 1 and new_leader and self.name_leader()
        if named and self.M is not None:
            self.go_on_to_the_leader()
        elif named and self.judges == "chosen":
            self.put_shares_in_order()
        else:
            self.next_passes()

    def may_bet_against(self, i: int) -> bool:
        if self.judges == "panel":
            return self.seats[self.leader] <= self.seats[i]
        if self.judges == "members":
            return self.needs(i, int(self.m), self.seats) <= self.seats[i]
        return True

    def usual_passes(self) -> int:
        """Return how many passes a round has if a committee judges that is told."""
        seats = [self.seats[i] for i in self.left]
        shortest = max(math.ceil(self.D / self.K), 1)
        if self.p == 0:
            return max(4, shortest, (max(seats) - min(seats)) // 12)
        return max(shortest, min(self.p // 40, min(seats) // 20))

    def needs(self, i: int, m: int, members: list[int]) -> int:
        """Return how many members i needs if there are so many and m passes come."""
        j = self.leader
        most_of_leader = members[j] + self.soon[j] + m - 1
        fewest = most_of_leader + sum(members) - members[j]
        most = sum(members) + sum(self.soon) - self.soon[i] + (len(self.left) - 1) * m
        return math.ceil(Fraction(most_of_leader * most, max(1, fewest)))

    def others(self) -> list[int]:
        return [i for i in self.left if i != self.leader]

    def mean_estimate(self, i: int) -> float:
        return (self.sums[i] + 1.0) / (self.n_r + 2.0)

    def variance_estimate(self, i: int) -> float:
        if not self.bounded:
            return self.sigma**2
        spread = 0.0
        if self.n_r > 0.0:
            spread = max(0.0, self.squares[i] - self.sums[i] ** 2 / self.n_r)
        return (spread + 0.2) / (self.n_r + 2.0)

    def bet(self, i: int, j: int) -> None:
        lost = max(self.log_wealth[i]) - 100.0
        variance = max(self.variance_estimate(i), self.variance_estimate(j))
        aimed = self.stake_on_target(i, j) if self.target is not None else 0.0
        for k, fixed in enumerate(self.stakes):
            stake = aimed if fixed is None else fixed
            early = fixed is not None and stake**2 * variance * (self.p + self.m) < 0.03
            if not early and self.log_wealth[i][k] >= lost:
                self.log_wealth[i][k] += self.log_factor(stake, i, j)

    def stake_on_target(self, i: int, j: int) -> float:
        """Return the stake that wins what is lacking by the target, or 0."""
        r = (self.target - sum(self.T) + len(self.left) * self.m) / len(self.left)
        if r < self.m:
            r = self.p / 2.0
        W = self.failure * math.exp(self.wealth_in_all(i))
        w = self.failure * math.exp(self.log_wealth[i][-1])
        q = w / (1.0 - W + w)
        if r < self.m or q < 1e-9 or q >= 1.0:
            return 0.0
        t = math.sqrt(-2.0 * math.log(min(q, 1.0 - q)))
        z = t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t**2)
        density = math.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi)
        variances = self.variance_estimate(i) + self.variance_estimate(j)
        largest = 2.0 if self.bounded else 1.0 / self.sigma
        return min(density / (q * math.sqrt(r * variances)), largest)

    def log_factor(self, stake: float, i: int, j: int) -> float:
        """Return the logarithm of what a round multiplies the wealth on a stake by."""
        if not self.bounded:
            T = self.round_S
            return stake * (T[j] - T[i]) - stake**2 * self.sigma**2 * self.m
        c = (self.mean_estimate(i) + self.mean_estimate(j)) / 2.0
        stake = min(stake, 0.9 / max(c, 1.0 - c))
        log = 0.0
        for sign, group in ((1.0, j), (-1.0, i)):
            for y in self.scores[group]:
                for level, part in self.parts(y):
                    log += part * math.log(1.0 + sign * stake * (level - c))
        return log

    def parts(self, y: float) -> list[tuple[float, float]]:
        """Return the levels that a score counts as, each with its part."""
        b = math.floor(y * (self.B - 1))
        part = y * (self.B - 1) - b
        if part == 0.0:
            return [(b / (self.B - 1), 1.0)]
        return [(b / (self.B - 1), 1.0 - part), ((b + 1) / (self.B - 1), part)]

    def remember(self) -> None:
        keep = self.p / (self.p + self.m)
        self.n_r = self.n_r * keep + self.m
        for i in self.left:
            self.sums[i] = self.sums[i] * keep + sum(self.scores[i])
            squares = (part * b**2 for y in self.scores[i] for b, part in self.parts(y))
            self.squares[i] = self.squares[i] * keep + sum(squares)
            self.history[i].append(sum(self.scores[i]))
        self.p += self.m

    def wealth_in_all(self, i: int, places: Sequence[int] | None = None) -> float:
        """Return its logarithm, or that of the wealth on some of the stakes."""
        logs = [self.log_wealth[i][k] for k in places or range(len(self.stakes))]
        most = max(logs)
        return most + math.log(sum(math.exp(x - most) for x in logs))

    def threshold(self) -> float:
        if self.failure is not None:
            return 1.0 / self.failure
        return max(1000.0, self.n / sum(self.T))

    def drop(self) -> None:
        needed = math.log(self.threshold())
        for i in self.others():
            wealth = self.wealth_in_all(i)
            if abs(wealth - needed) < 1e-12:
                self.decided_by_rounding = True
            if wealth >= needed:
                self.left.remove(i)

    def give_to_the_prior(self) -> None:
        if self.p < 2 * self.p_of_last_gift:
            return
        self.p_of_last_gift = self.p
        for i in self.others():
            self.spread(i, 0.02)

    def spread(self, i: int, part: float) -> None:
        """Spread a part of what is on the stakes that are not tried over these."""
        variance = max(self.variance_estimate(i), self.variance_estimate(self.leader))
        open_ones = [k for k, stake in enumerate(self.stakes) if not self.tried(stake, variance)]
        log_total = self.wealth_in_all(i, open_ones)
        prior = sum(self.prior[k] for k in open_ones)
        for k in open_ones:
            kept = (1.0 - part) * math.exp(self.log_wealth[i][k] - log_total)
            self.log_wealth[i][k] = log_total + math.log(kept + part * self.prior[k] / prior)

    def tried(self, stake: float | None, variance: float) -> bool:
        if self.failure is not None or stake is None:
            return False
        moved = stake**2 * variance * self.p
        if abs(moved - 10.1) < 1e-9:
            self.decided_by_rounding = True
        return moved > 10.1

    def lacks(self, i: int, leader: int) -> int:
        """Return how many pulls i lacks if ``leader`` leads; what it has to spare is negative."""
        if self.judges == "members":
            return self.coming[leader] + 1 - self.coming[i]
        if self.judges != "chosen" or self.M is not None:
            return 0
        enough = self.T[leader] + self.most[leader] + self.D // 2 + 1 - self.fewest[i]
        return enough - self.T[i]

    def name_leader(self) -> bool:
        """Name a leader if there is none, or if a group is far enough ahead of it."""
        i, j = self.largest_sum(), self.leader
        if i == j:
            return False
        if j is not None:
            k = len(self.left)
            C = sum(max(0, self.lacks(g, i)) for g in self.left if g != i)
            if self.judges == "members":
                C /= self.part_that_joins()
            V = self.variance_estimate(i) + self.variance_estimate(j)
            V *= self.n_r * (1.0 + 3.0 * C / (k * self.p))
            lead = self.sums[i] - self.sums[j]
            needed = 0.25 * (1.0 + math.sqrt(2.0 * math.log(k))) * math.sqrt(V)
            if abs(lead - needed) < 1e-12 * needed:
                self.decided_by_rounding = True
            if lead <= needed:
                return False
            self.leader = i
            for g in self.left:
                self.spread(g, 1.0)
        if j is None and not self.bounded:
            self.n_r = 0.0
            self.sums = [0.0] * self.K
        self.leader = i
        return True

    def largest_sum(self) -> int:
        best = max(self.left, key=lambda i: self.sums[i])
        tied = [i for i in self.left if self.sums[best] - self.sums[i] < 1e-12 * self.n_r]
        # Whoever ties with the leader is not ahead of it, so that the choice does not matter.
        if self.leader not in tied and any(self.history[i] != self.history[best] for i in tied):
            self.decided_by_rounding = True
        return best

    def go_on_to_the_leader(self) -> None:
        """Those whose turn comes before the leader's have it, and passes begin with the leader."""
        turn = self.left.index(self.leader)
        first = self.left[:turn]
        self.left = self.left[turn:] + first
        self.naming = bool(first)
        if first:
            self.start_round(first, 1)
        else:
            self.next_passes()

    def put_shares_in_order(self) -> None:
        """Pull those that lack pulls, then the leader as often as nobody minds, then go on."""
        lacked = {i: self.lacks(i, self.leader) for i in self.others()}
        lacking = [i for i in lacked if lacked[i] > 0]
        spare = min(-lack for lack in lacked.values())
        self.naming = bool(lacking) or spare > 0
        if lacking:
            self.start_round(lacking, min(lacked[i] for i in lacking))
        elif spare > 0:
            self.start_round([self.leader], spare)
        else:
            self.next_passes()

    def fewest_seats(self) -> int | None:
        return self.leader if self.judges == "panel" and len(self.left) > 1 else None

    def meet(self, judges: list[int]) -> None:
        """Take in who judges, and perhaps who may begin in the round and who will later."""
        told = [judges[at : at + self.K] for at in range(0, len(judges), self.K)]
        self.seats = told[0]
        self.soon = told[1] if len(told) > 1 else [0] * self.K
        self.coming = [sum(column) for column in zip(*told, strict=True)]
        if self.p == 0:
            self.first = self.coming
        if self.judges != "members" or len(self.left) == 1:
            return
        self.next_passes()
        if self.leader is not None:
            self.put_members_in_order()

    def part_that_joins(self) -> float:
        joined = sum(self.coming) - sum(self.first)
        return min(1.0, max(1, joined + 1) / (sum(self.T) + 1))

    def put_members_in_order(self) -> None:
        """Pull those that lack members, or the leader if all have twice what they need."""
        m = self.usual_passes()
        lacked = {i: self.needs(i, m, self.coming) - self.coming[i] for i in self.others()}
        lacking = [i for i in lacked if lacked[i] > 0]
        spare = min(-lack for lack in lacked.values())
        made = sum(self.T[i] for i in self.left)
        self.naming = bool(lacking) or spare > m
        if lacking:
            least = min(lacked[i] for i in lacking)
            wanted = math.ceil(least / self.part_that_joins())
            self.start_round(lacking, max(1, min(wanted, max(least, made))))
        elif self.naming:
            wanted = math.ceil(0.5 * spare / self.part_that_joins())
            self.start_round([self.leader], max(1, min(wanted, max(spare, made))))

    def candidates(self) -> set[int]:
        return set(self.left)


class MembersElimination(HeadStartElimination):
    judges = "members"


class PanelElimination(HeadStartElimination):
    judges = "panel"


class RecusalElimination(HeadStartElimination):
    judges = "recused"
