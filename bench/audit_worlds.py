"""Simulated logs of scores for `bench.audit`: 45 worlds without favor, and worlds with it.

Scores are whole numbers from 1 to 5: quality, strictness and an error, rounded and cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits.audit.log import Coded, ScoreLog, build_log
from affinity_bandits.kernels import FloatArray, IntArray

SEED = 10_000
"""Seeds of logs are (SEED + number of the log, number of the world)."""


@dataclass(frozen=True)
class World:
    """The settings that logs are drawn with.

    Attributes:
        number: of the world, part of the seed.
        name: for people.
        rows: scores in a log.
        per: judges per candidate.
        groups: number of groups.
        judges: number of judges.
        judge_mix: the groups' fractions of judges; equal if empty.
        mix: the groups' fractions of candidates; equal if empty.
        mix_end: their fractions at the end of the log.
        level: mean quality.
        quality: standard deviation of quality within a group.
        group_quality: what each group's candidates have above the level.
        error: standard deviation of errors.
        skewed: whether errors on own candidates are skewed, with mean 0.
        favor: points that judges add for their own group.
        strictness: standard deviation among judges.
        group_strictness: points that each group's judges add for everybody.
        group_drift: points by which the first group's judges become more lenient over the log.
        day: candidates per session.
        day_level: standard deviation of what a session adds to all scores.
        mood: the same for one judge.
        group_mood: the same for one group's judges.
        daily_panel: whether the same judges see all candidates of a session.
        inflation: points added over the log.
        factor: what the level above 1 is multiplied by over the log, less 1.
        choose: who comes next: "mix", "ucb", "greedy", or leaving a group when its own judges were
            "below" or "above" the others.
        assign: who judges: by "lot", own judges to the "better", "lenient" judges to their own, a
            little of that ("some lenient"), or judges "invited" again who put their own up.
        people: number of persons who come again and again; 0 if everybody comes once.
        pair_taste: standard deviation of a judge's lasting taste for a person.
        group_taste: the same for a group.
        lowest_group: a group that always gets the lowest score.
        lost: probability that a score of 1 or 2 is not handed in.
        looks: how often the growing log is audited.
        by_lot: whether the audit is told that lots decided who judged whom.
        outside: whether the null hypothesis does not cover the world; such a log must get "cannot
            tell" or one of `codes`.
        codes: see above.
        part: fraction of the logs that are drawn of a slow world.
    """

    number: int
    name: str
    rows: int = 1_500
    per: int = 3
    groups: int = 3
    judges: int = 60
    judge_mix: tuple[float, ...] = ()
    mix: tuple[float, ...] = ()
    mix_end: tuple[float, ...] = ()
    level: float = 3.0
    quality: float = 0.8
    group_quality: tuple[float, ...] = ()
    error: float = 0.8
    skewed: bool = False
    favor: float = 0.0
    strictness: float = 0.3
    group_strictness: tuple[float, ...] = ()
    group_drift: float = 0.0
    day: int = 1
    day_level: float = 0.0
    mood: float = 0.0
    group_mood: float = 0.0
    daily_panel: bool = False
    inflation: float = 0.0
    factor: float = 0.0
    choose: str = "mix"
    assign: str = "lot"
    people: int = 0
    pair_taste: float = 0.0
    group_taste: float = 0.0
    lowest_group: int = -1
    lost: float = 0.0
    looks: int = 1
    by_lot: bool = False
    outside: bool = False
    codes: tuple[str, ...] = ()
    part: float = 1.0


MIX, LARGE = (0.4, 0.3, 0.3), (0.6, 0.2, 0.2)
CEILING: dict[str, Any] = {
    "level": 4.0,
    "group_strictness": (0.5, 0.0, 0.0),
    "group_quality": (-1.0, 0.3, 0.3),
}
SPREAD = (0.4, 0.0, -0.4)
DRIFTS = ("drifting strictness", "distant sessions")
WORLDS = (
    World(1, "plain"),
    World(2, "lenient group", group_strictness=(0.48, 0, 0), judge_mix=LARGE, mix=MIX),
    World(3, "lenient group, 60% of candidates", group_strictness=(0.48, 0, 0), judge_mix=LARGE,
          mix=LARGE),
    World(4, "lenient individuals", strictness=0.6),
    World(5, "lenient judges sent to their own", strictness=0.5, assign="lenient"),
    World(6, "one panel per day of 20", rows=3_000, day=20, day_level=0.4, daily_panel=True,
          part=0.4),
    World(7, "one panel per day of 40, moods", rows=3_000, day=40, day_level=0.4, mood=0.3,
          group_mood=0.3, daily_panel=True, part=0.4),
    World(8, "lots in days of 20, moods", day=20, mood=0.4, group_mood=0.4, part=0.6),
    World(9, "inflation by 1.2 points", inflation=1.2, level=2.5, group_quality=SPREAD),
    World(10, "inflation by half", factor=0.5, level=2.5, group_quality=SPREAD),
    World(11, "own judges to better candidates", assign="better"),
    World(12, "20 judges meet 60 people again, tastes", people=60, pair_taste=0.5, judges=20,
          rows=3_000, part=0.4),
    World(13, "60 judges with tastes for groups", group_taste=0.3),
    World(14, "12 judges with tastes for groups", group_taste=0.3, judges=12, rows=5_000, part=0.4),
    World(15, "ceiling, lenient group", level=4.2, group_strictness=(0.5, 0, 0)),
    World(16, "ceiling, lenient group has worse candidates", **CEILING),
    World(17, "a group always lowest, lenient group", groups=2, lowest_group=1,
          group_strictness=(0.5, 0), outside=True, codes=("end of the scale",)),
    World(18, "a group always lowest", groups=2, lowest_group=1),
    World(19, "UCB chooses", choose="ucb", group_quality=(0.3, 0, -0.3),
          group_strictness=(0.3, 0, 0)),
    World(20, "greedy choice", choose="greedy", group_quality=(0.1, 0, -0.1),
          group_strictness=(0.3, 0, 0)),
    World(21, "leave a group when own judges are below", choose="below", groups=2),
    World(22, "two groups", groups=2, group_strictness=(0.4, 0)),
    World(23, "five groups", groups=5, group_strictness=(0.4, 0, 0, -0.3, 0)),
    World(24, "nine judges per candidate", per=9, rows=4_500, group_strictness=(0.4, 0, 0),
          part=0.4),
    World(25, "one judge by lot", per=1, group_strictness=(0.4, 0, 0), by_lot=True),
    World(26, "one judge, own judges to the better", per=1, assign="better", outside=True,
          codes=("one judge each",)),
    World(27, "one judge by lot, inflation", per=1, inflation=1.0, group_strictness=(0.4, 0, 0),
          by_lot=True),
    World(28, "9 judges meet 18 people again, tastes", per=9, judges=9, people=18, pair_taste=0.5,
          rows=4_500, day=9, part=0.4),
    World(29, "two judges, two groups", per=2, groups=2, group_strictness=(0.4, 0)),
    World(30, "world 16 with 5,000 rows", rows=5_000, **CEILING, part=0.4),
    World(31, "world 3 with 5,000 rows", rows=5_000, group_strictness=(0.48, 0, 0),
          judge_mix=LARGE, mix=LARGE, part=0.4),
    World(32, "a group with 5% of judges", judge_mix=(0.05, 0.475, 0.475),
          group_strictness=(0.4, 0, 0)),
    World(33, "nearly all scores 1 or 5", quality=2.5, error=2.5, group_strictness=(0.5, 0, 0),
          group_quality=(1.0, 0, -1.0)),
    World(34, "9 judges, moods, days of 20", per=9, judges=9, day=20, mood=0.3, group_mood=0.3,
          rows=4_500, part=0.4),
    World(35, "lenience drifts, its group comes late", group_drift=1.0, mix=(0.1, 0.45, 0.45),
          mix_end=(0.8, 0.1, 0.1), outside=True, codes=DRIFTS),
    World(36, "lenience drifts", group_drift=1.0, outside=True, codes=DRIFTS),
    World(37, "leave a group when own judges are above", choose="above", groups=2),
    World(38, "the same with two judges", choose="above", groups=2, per=2, judges=2),
    World(39, "the same with six judges", choose="above", groups=2, judges=6),
    World(40, "lenience drifts, 60% of candidates", group_drift=1.0, mix=LARGE, judge_mix=LARGE,
          outside=True, codes=DRIFTS),
    World(41, "judges invited again who put their own up", strictness=0.5, assign="invited"),
    World(42, "half of low scores are not handed in", lost=0.5, group_strictness=(0.4, 0, 0)),
    World(43, "skewed errors on own candidates", skewed=True),
    World(44, "ten looks at 12 judges with tastes", group_taste=0.3, judges=12, looks=10,
          outside=True, codes=("few judges",), part=0.2),
    World(45, "lenient judges sent to their own a little", strictness=0.5, assign="some lenient"),
)  # fmt: skip


def draw_log(world: World, number: int) -> ScoreLog:
    """Draw a log of a world."""
    maker = _Maker(world, np.random.default_rng([SEED + number, world.number]))
    if world.choose == "mix" and world.assign != "invited":
        who = maker.seat(np.arange(maker.size), maker.group)
        score = maker.score(np.arange(maker.size), maker.group, who)
    else:
        who, score = maker.run()
    return maker.build(who, score)


class _Maker:
    """The random numbers of one log, and the scores they lead to."""

    def __init__(self, world: World, generator: np.random.Generator) -> None:
        self.world, self.generator = world, generator
        groups, size = world.groups, world.rows // world.per
        equal = np.full(groups, 1.0 / groups)
        mix = np.array(world.mix or equal)
        counts = np.maximum(1, np.round(np.array(world.judge_mix or equal) * world.judges))
        self.judge_group = np.repeat(np.arange(groups), counts.astype(int))
        judges = len(self.judge_group)
        self.size = size
        self.session = np.arange(size) // world.day
        days = int(self.session[-1]) + 1
        time = np.arange(size) / size
        draw = generator.normal
        self.strictness = draw(0.0, world.strictness, judges)
        self.strictness += np.array(world.group_strictness or np.zeros(groups))[self.judge_group]
        self.taste = draw(0.0, world.group_taste, (judges, groups))
        mood = draw(0.0, world.mood, (days, judges)) + draw(0.0, world.day_level, (days, 1))
        mood += draw(0.0, world.group_mood, (days, groups))[:, self.judge_group]
        mood += world.group_drift * (np.arange(days) / days)[:, None] * (self.judge_group == 0)
        self.mood = mood
        level = 1.0 + (world.level - 1.0) * (1.0 + world.factor * time) + world.inflation * time
        self.group_quality = np.array(world.group_quality or np.zeros(groups))
        share = mix + (np.array(world.mix_end or mix) - mix) * time[:, None]
        luck = generator.random((size, 1))
        self.group = (luck > share.cumsum(axis=1)).sum(axis=1).clip(0, groups - 1)
        self.person = np.arange(size)
        self.quality = draw(0.0, world.quality, size)
        self.pair_taste = np.zeros((1, judges))
        if world.people:
            turns = [generator.permutation(world.people) for _ in range(size // world.people + 1)]
            self.person = np.concatenate(turns)[:size]
            self.group = generator.choice(groups, world.people, p=mix)[self.person]
            self.quality = self.quality[self.person]
            self.pair_taste = draw(0.0, world.pair_taste, (world.people, judges))
        self.base = level + self.quality
        self.keys = generator.random((days if world.daily_panel else size, judges))
        self.error = draw(0.0, world.error, (size, world.per))
        self.skew = np.where(generator.random((size, world.per)) < 0.1, -2.25, 0.25)
        self.invited = np.ones(judges)

    def seat(self, rows: IntArray, group: IntArray) -> IntArray:
        """Return who judges the candidates of some rows."""
        world = self.world
        own = self.judge_group == group[:, None]
        weight = np.ones(own.shape)
        if world.assign == "better":
            weight = np.where(own, np.exp(1.2 * self.quality[rows] / world.quality)[:, None], 1.0)
        elif world.assign == "lenient":
            weight = np.where(own, np.exp(2.0 * self.strictness), np.exp(-self.strictness))
        elif world.assign == "some lenient":
            weight = np.where(own, np.exp(0.4 * self.strictness), np.exp(-0.2 * self.strictness))
        elif world.assign == "invited":
            weight = np.where(own, self.invited, 1.0)
        keys = self.keys[self.session[rows] if world.daily_panel else rows]
        waits = -np.log(keys) / weight
        if world.per == len(self.judge_group):
            return np.tile(np.arange(world.per), (len(rows), 1))
        return np.argpartition(waits, world.per - 1, axis=1)[:, : world.per]

    def score(self, rows: IntArray, group: IntArray, who: IntArray) -> FloatArray:
        """Return the scores of some rows."""
        world = self.world
        own = self.judge_group[who] == group[:, None]
        error = self.error[rows]
        if world.skewed:
            error = np.where(own, self.skew[rows] + 0.4 * error, error)
        value = (self.base[rows] + self.group_quality[group])[:, None] + self.strictness[who]
        value += self.mood[self.session[rows][:, None], who] + self.taste[who, group[:, None]]
        if world.people:
            value += self.pair_taste[self.person[rows][:, None], who]
        score: FloatArray = np.clip(np.round(value + world.favor * own + error), 1.0, 5.0)
        score[group == world.lowest_group] = 1.0
        return score

    def run(self) -> tuple[IntArray, FloatArray]:
        """Draw candidates one after the other: earlier scores decide who comes or who judges."""
        world, groups = self.world, self.world.groups
        who = np.empty((self.size, world.per), dtype=np.int64)
        scores = np.empty((self.size, world.per))
        luck = self.generator.random(self.size)
        total, count = np.full(groups, world.level), np.ones(groups)
        now, lead = int(self.group[0]), 0.0
        for row in range(self.size):
            drawn = int(self.group[row])
            if world.choose == "ucb":
                now = int(np.argmax(total / count + 1.5 * np.sqrt(np.log(row + 2) / count)))
            elif world.choose == "greedy":
                now = drawn if luck[row] < 0.1 else int(np.argmax(total / count))
            elif world.choose == "mix":
                now = drawn
            elif (lead > 0.0) == (world.choose == "above"):
                now = (now + 1) % groups
            rows, group = np.array([row]), np.array([now])
            seats = self.seat(rows, group)
            values = self.score(rows, group, seats)[0]
            who[row], scores[row], self.group[row] = seats[0], values, now
            total[now] += values.mean()
            count[now] += 1.0
            own = self.judge_group[who[row]] == now
            lead = luck[row] - 0.5
            if own.any() and not own.all():
                lead = values[own].mean() - values.mean()
                self.invited[who[row][own]] = np.where(values[own] > values.mean(), 4.0, 0.25)
        return who, scores

    def build(self, who: IntArray, score: FloatArray) -> ScoreLog:
        """Return the log."""
        per = self.world.per
        judge, points = who.ravel(), score.ravel()
        handed_in = self.generator.random(len(points)) >= self.world.lost * (points <= 2.0)
        groups = [chr(ord("A") + number) for number in range(self.world.groups)]

        def coded(numbers: IntArray, names: list[str] | None = None) -> Coded:
            kept = numbers[handed_in]
            return Coded(kept, names or [str(name) for name in range(int(kept.max()) + 1)])

        return build_log(
            coded(np.repeat(self.person, per)),
            coded(np.repeat(self.group, per), groups),
            points[handed_in],
            scale=(1.0, 5.0),
            judge=coded(judge),
            judge_group=coded(self.judge_group[judge], groups),
            session=coded(np.repeat(self.session, per)),
        )
