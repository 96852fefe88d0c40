"""Simulated logs of scores for `research.audit`: 86 worlds without favor, and worlds with it.

Scores are whole numbers: quality, strictness and an error, rounded and cut off at the ends of the
scale. The worlds in `HELD_OUT` were written down before the audit had rules on uneven use of the
scale and on adaptive choices. They were first drawn when those rules were final.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits.audit.log import Coded, ScoreLog, build_log
from affinity_bandits.kernels.kernel import FloatArray, IntArray
from affinity_bandits.model.judges import on_scale, stretched

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
        lowest: the lowest score.
        highest: the highest score.
        slopes: how much of the scale each group's judges use: distances from its middle are
            multiplied by it; 1 if empty.
        slope_spread: standard deviation of the logarithms of single judges' slopes.
        stretched: whether errors and tastes are multiplied by the slope, too.
        bend: the first group's judges add this times the squared distance from the middle.
        shared: standard deviations of errors that all judges of a group share on a candidate.
        strictness: standard deviation among judges.
        group_strictness: points that each group's judges add for everybody.
        group_drift: points by which the first group's judges become more lenient over the log.
        day: candidates per session.
        day_level: standard deviation of what a session adds to all scores.
        mood: the same for one judge.
        group_mood: the same for one group's judges.
        daily_panel: whether the same judges see all candidates of a session.
        panel: candidates who are seen by the same judges; 0 if each has judges of their own.
        seats: judges of each group on a panel; by chance if empty.
        inflation: points added over the log.
        factor: what the level above 1 is multiplied by over the log, less 1.
        choose: who comes next: "mix", all groups "in turn", "ucb", "greedy", leaving a group when
            its own judges were "below" or "above" the others, the first group "until" its judge in
            the chair gives a good score and then the next one for the rest of the day, or the other
            group whose judges were "lowest" on the last candidate, or on all so far ("lowest sum").
        good: points above the level that the chair must give.
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
    lowest: float = 1.0
    highest: float = 5.0
    slopes: tuple[float, ...] = ()
    slope_spread: float = 0.0
    stretched: bool = False
    bend: float = 0.0
    shared: tuple[float, ...] = ()
    strictness: float = 0.3
    group_strictness: tuple[float, ...] = ()
    group_drift: float = 0.0
    day: int = 1
    day_level: float = 0.0
    mood: float = 0.0
    group_mood: float = 0.0
    daily_panel: bool = False
    panel: int = 0
    seats: tuple[int, ...] = ()
    inflation: float = 0.0
    factor: float = 0.0
    choose: str = "mix"
    good: float = 0.5
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
TEN: dict[str, Any] = {"highest": 10.0, "level": 5.5, "quality": 1.2}
"""A scale from 1 to 10."""
PROMPTS = TEN | {"choose": "in turn", "part": 0.5}
"""All judges see all candidates, one of each group per session."""
FOUR = PROMPTS | {"groups": 4, "judges": 8, "per": 8, "rows": 1_280, "day": 4}
PANELS = TEN | {"groups": 2, "judges": 20, "rows": 900, "day": 10}
PAIRS = TEN | {"groups": 2, "judges": 20, "per": 2, "seats": (1, 1), "rows": 600, "day": 10}
BETTER, BETTER_OF_FOUR = (1.5, 0.0), (1.5, 0.0, 0.0, 0.0)
DAYS: dict[str, Any] = {
    "groups": 2, "per": 2, "seats": (1, 1), "daily_panel": True, "rows": 2_400, "part": 0.5,
    "outside": True, "codes": ("no rota", "scores decided"),
}  # fmt: skip
"""A new panel each day, with one judge of each group, and scores that decide who is seen next."""
FIXED: dict[str, Any] = {
    "choose": "lowest", "rows": 3_000, "part": 0.5, "outside": True, "codes": ("scores decided",),
}  # fmt: skip
"""One panel sees everybody, and its scores decide which group comes next."""
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
    World(46, "slope 1.4, four groups, all see all", slopes=(1.4, 1, 1, 1),
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(47, "slope 1.7, four groups, all see all", slopes=(1.7, 1, 1, 1),
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(48, "slope 1.7, three groups, all see all", slopes=(1.7, 1, 1), groups=3, judges=6, per=6,
          rows=720, day=3, group_quality=(1.5, 0, 0), **PROMPTS),
    World(49, "slope 1.7, two groups, all see all", slopes=(1.7, 1), groups=2, judges=8, per=8,
          rows=640, day=2, group_quality=BETTER, **PROMPTS),
    World(50, "slope 1.4, panels", slopes=(1.4, 1), group_quality=BETTER, **PANELS),
    World(51, "slope 1.7, panels", slopes=(1.7, 1), group_quality=BETTER, **PANELS),
    World(52, "slope 1.7, panels, scale 1 to 5", slopes=(1.7, 1), group_quality=BETTER,
          **PANELS | {"highest": 5.0, "level": 3.0}),
    World(53, "slope 1.7, four groups, scale 1 to 5", slopes=(1.7, 1, 1, 1),
          group_quality=BETTER_OF_FOUR, **FOUR | {"highest": 5.0, "level": 3.0}),
    World(54, "slope 1.4 and judges of their own", slopes=(1.4, 1), slope_spread=0.2,
          group_quality=BETTER, **PANELS),
    World(55, "slope 1.4 and tastes", slopes=(1.4, 1), group_taste=0.4, group_quality=BETTER,
          **PANELS),
    World(56, "slope 1.4, errors stretched, too", slopes=(1.4, 1, 1, 1), stretched=True,
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(57, "curved use of the scale", bend=0.15, group_quality=BETTER, **PANELS),
    World(58, "slope 1.4, groups share errors", slopes=(1.4, 1, 1, 1), shared=(0.5,) * 4,
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(59, "the better group shares errors", shared=(0.8, 0, 0, 0),
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(60, "the other groups share errors", shared=(0, 0.8, 0.8, 0.8),
          group_quality=BETTER_OF_FOUR, **FOUR),
    World(61, "the better of two groups shares errors, panels", shared=(0.8, 0),
          group_quality=BETTER, **PANELS),
    World(62, "the other of two groups shares errors, panels", shared=(0, 0.8),
          group_quality=BETTER, **PANELS),
    World(63, "slope 1.7, one judge of each group", slopes=(1.7, 1), group_quality=BETTER, **PAIRS),
    World(64, "slope 1.4, five groups, all see all", slopes=(1.5, 1.2, 1.0, 0.9, 0.8), groups=5,
          judges=10, per=10, rows=2_000, day=5, group_quality=(1.2, 0.6, 0, -0.3, -0.6), **PROMPTS),
    World(65, "three slopes, panels of 4, scale 1 to 7", slopes=(1.5, 1.05, 0.75), judges=30, per=4,
          rows=1_600, day=8, group_quality=(1.2, 0, -1.0), **TEN | {"highest": 7.0, "level": 4.0}),
    World(66, "slope 1.6, panels of 9", slopes=(1.6, 1), groups=2, judges=40, per=9, rows=1_800,
          day=10, group_quality=(1.0, 0), **TEN),
    World(67, "the worst group uses little of the scale", slopes=(0.6, 1, 1, 1),
          group_quality=(-1.5, 0, 0, 0), **FOUR),
    World(68, "slope 1.4, tastes, a lenient group", slopes=(1.4, 1), slope_spread=0.3,
          group_taste=0.3, group_strictness=(0.5, 0), group_quality=BETTER,
          **PANELS | {"rows": 1_800}),
    World(69, "slope 1.3, one judge of each group, far apart", slopes=(1.3, 1),
          group_quality=(2.0, 0), **PAIRS | {"judges": 40, "rows": 1_200}),
    World(70, "slope 1.5, errors shared, panels of 5", slopes=(1.5, 1), shared=(0.5, 0.5), per=5,
          group_quality=(1.2, 0), **PANELS | {"rows": 1_500}),
    World(71, "until the chair passes one, days of 8", choose="until", day=8, **DAYS),
    World(72, "until the chair passes one, days of 4", choose="until", day=4, **DAYS),
    World(73, "leave when own judge is above, days of 4", choose="above", day=4, **DAYS),
    World(74, "leave when own judge is above, days of 2", choose="above", day=2, **DAYS),
    World(75, "until the chair passes one, three judges", choose="until", day=8,
          **DAYS | {"per": 3, "seats": (1, 2), "rows": 3_600}),
    World(76, "until the chair passes one, days not recorded", choose="until", panel=4,
          **DAYS | {"daily_panel": False}),
    World(77, "until the chair passes one, 200 judges", choose="until", day=4,
          **DAYS | {"judges": 200}),
    World(78, "the group whose judges were lowest, one panel", judges=6, per=6, **FIXED),
    World(79, "until the chair passes one, panels of 6", choose="until", day=6,
          **DAYS | {"per": 6, "seats": (3, 3), "judges": 40, "rows": 4_320}),
    World(80, "the group whose judges were lowest, days of 6", choose="lowest", day=6,
          **DAYS | {"groups": 3, "per": 3, "seats": (1, 1, 1), "judges": 45, "rows": 3_600}),
    World(81, "until the chair passes one, 12 judges", choose="until", day=10, good=0.2,
          **DAYS | {"judges": 12}),
    World(82, "leave when own judges are below, days of 5", choose="below", day=5,
          **DAYS | {"per": 3, "seats": (2, 1), "rows": 3_000}),
    World(83, "the lowest of four groups, one panel", groups=4, judges=8, per=8,
          **FIXED | {"rows": 4_000}),
    World(84, "the lowest sum of three groups, one panel", judges=6, per=6,
          **FIXED | {"choose": "lowest sum"}),
    World(85, "until the chair passes one, one panel", groups=2, judges=4, per=4, day=8,
          **FIXED | {"choose": "until"}),
    World(86, "the group whose judges were lowest, days not recorded", choose="lowest", panel=8,
          **DAYS | {"daily_panel": False, "groups": 3, "per": 3, "seats": (1, 1, 1), "judges": 60,
                    "rows": 3_600}),
)  # fmt: skip
HELD_OUT = (*range(64, 71), 79, *range(81, 87))
"""Numbers of worlds that no rule was tuned on. World 80 was one, until its logs left no trace."""


def draw_log(world: World, number: int) -> ScoreLog:
    """Draw a log of a world."""
    maker = _Maker(world, np.random.default_rng([SEED + number, world.number]))
    if world.choose in ("mix", "in turn") and world.assign != "invited":
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
        if world.choose == "in turn":
            self.group = np.arange(size) % groups
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
        self.panel = np.arange(size) // world.panel if world.panel else np.arange(size)
        if world.daily_panel:
            self.panel = self.session
        self.place = self.panel if world.panel else self.session
        self.keys = generator.random((int(self.panel[-1]) + 1, judges))
        self.error = draw(0.0, world.error, (size, world.per))
        self.skew = np.where(generator.random((size, world.per)) < 0.1, -2.25, 0.25)
        self.invited = np.ones(judges)
        self.slope = np.array(world.slopes or np.ones(groups))[self.judge_group]
        further = generator.spawn(1)[0]  # worlds without these settings stay as they are
        self.slope = self.slope * np.exp(further.normal(0.0, world.slope_spread, judges))
        shared = np.array(world.shared or np.zeros(groups))
        self.shared = (further.normal(0.0, 1.0, (size, groups)) * shared)[:, self.judge_group]

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
        waits = -np.log(self.keys[self.panel[rows]]) / weight
        if world.seats:
            drawn = [
                np.argsort(np.where(self.judge_group == number, waits, np.inf), axis=1)[:, :seats]
                for number, seats in enumerate(world.seats)
            ]
            return np.hstack(drawn)
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
        quality = (self.base[rows] + self.group_quality[group])[:, None]
        middle, slope = (world.lowest + world.highest) / 2.0, self.slope[who]
        away = quality - middle
        value = stretched(quality, slope, middle) + self.strictness[who]
        value += world.bend * (self.judge_group[who] == 0) * away * np.abs(away)
        added = self.taste[who, group[:, None]] + self.shared[rows[:, None], who]
        value += self.mood[self.session[rows][:, None], who]
        if world.stretched:
            error, added = slope * error, slope * added
        value += added
        if world.people:
            value += self.pair_taste[self.person[rows][:, None], who]
        value += world.favor * own + error
        score: FloatArray = on_scale(value, world.lowest, world.highest)
        score[group == world.lowest_group] = world.lowest
        return score

    def run(self) -> tuple[IntArray, FloatArray]:
        """Draw candidates one after the other: earlier scores decide who comes or who judges."""
        world, groups = self.world, self.world.groups
        who = np.empty((self.size, world.per), dtype=np.int64)
        scores = np.empty((self.size, world.per))
        luck = self.generator.random(self.size)
        total, count = np.full(groups, world.level), np.ones(groups)
        now, lead = int(self.group[0]), 0.0
        leads, passed = np.zeros(groups), False
        for row in range(self.size):
            drawn = int(self.group[row])
            begins = not row or self.place[row] != self.place[row - 1]
            if world.choose == "ucb":
                now = int(np.argmax(total / count + 1.5 * np.sqrt(np.log(row + 2) / count)))
            elif world.choose == "greedy":
                now = drawn if luck[row] < 0.1 else int(np.argmax(total / count))
            elif world.choose == "mix":
                now = drawn
            elif world.choose == "until":
                passed = passed and not begins
                now = int(passed)
            elif world.choose.startswith("lowest"):
                others = [number for number in range(groups) if number != now]
                now = min(others, key=leads.__getitem__)
            elif (lead > 0.0) == (world.choose == "above"):
                now = (now + 1) % groups
            rows, group = np.array([row]), np.array([now])
            seats = self.seat(rows, group)
            values = self.score(rows, group, seats)[0]
            who[row], scores[row], self.group[row] = seats[0], values, now
            total[now] += values.mean()
            count[now] += 1.0
            own = self.judge_group[who[row]] == now
            passed = passed or values[0] >= world.level + world.good
            if world.choose.startswith("lowest"):
                found = values - self.strictness[seats[0]]
                sat = self.judge_group[seats[0]]
                sums, sizes = np.bincount(sat, found, groups), np.bincount(sat, minlength=groups)
                means = sums / np.maximum(sizes, 1)
                leads = means - means.mean() + (leads if world.choose == "lowest sum" else 0.0)
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
            scale=(self.world.lowest, self.world.highest),
            judge=coded(judge),
            judge_group=coded(self.judge_group[judge], groups),
            session=coded(np.repeat(self.session, per)),
        )
