"""Worlds for `research.judges_as_they_are`; held-out ones were committed before their policies."""

from __future__ import annotations

from typing import Any

from affinity_bandits.model.judges import JudgeWorld

FAVORS = (0.57, 0.23, 0.50, 0.43)
"""Found by an audit of interviews; group 1 is the least favored."""


def stars(groups: int, *, lead: float = 0.0, **changes: Any) -> JudgeWorld:
    """Return the world that the policy was developed in: whole stars from 1 to 5.

    Group 1, the least favored, leads by `lead` points.
    """
    quality = [3.2] * groups
    quality[1] += lead
    told: dict[str, Any] = {"favors": FAVORS[:groups]} | changes
    return JudgeWorld(quality=tuple(quality), **told)


KNOWN = {
    "three groups": stars(3),
    "four groups": stars(4),
    "three groups, strictness": stars(3, group_strictness=0.4),
    "four groups, strictness": stars(4, group_strictness=0.4),
    "three groups, strictness, slope 1.3": stars(3, group_strictness=0.4, slopes=(1.3, 1, 1)),
    "four groups, strictness, slope 1.3": stars(4, group_strictness=0.4, slopes=(1.3, 1, 1, 1)),
}
HELD_OUT = {
    "five groups, 1 to 10, few and many judges": JudgeWorld(
        quality=(6.0,) * 5, lowest=1.0, highest=10.0, spread=1.6, error=1.2,
        judges=(3, 12, 5, 8, 20), favors=(1.2, 0.0, 0.6, 0.3, 0.9),
        slopes=(1.4, 0.8, 1.0, 1.2, 0.9), group_strictness=0.8, judge_strictness=0.9,
    ),
    "three groups, 0 to 100 in fives": JudgeWorld(
        quality=(62.0,) * 3, lowest=0.0, highest=100.0, unit=5.0, spread=12.0, error=10.0,
        judges=(2, 6, 15), favors=(15.0, 4.0, 9.0), group_strictness=8.0, judge_strictness=6.0,
        slopes=(0.7, 1.5, 1.0), drift=4.0,
    ),
    "eight groups, 1 to 7": JudgeWorld(
        quality=(4.4,) * 8, lowest=1.0, highest=7.0, spread=1.1, error=0.9,
        judges=(2, 3, 4, 5, 6, 7, 8, 9), favors=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
        group_strictness=0.5, judge_strictness=0.5,
    ),
    "six groups, drift": JudgeWorld(
        quality=(3.0,) * 6, judges=5, favors=(0.4, 0.3, 0.2, 0.1, 0.0, 0.5), drift=0.5,
        period=300.0, group_strictness=0.3,
    ),
    "three groups, yes or no": JudgeWorld(
        quality=(0.55,) * 3, lowest=0.0, highest=1.0, spread=0.25, error=0.25,
        judges=(4, 9, 6), favors=(0.2, 0.0, 0.1), group_strictness=0.1, judge_strictness=0.1,
    ),
    "three groups, those chosen join": JudgeWorld(
        quality=(3.3,) * 3, judges=3, favors=(0.6, 0.1, 0.3), joining=0.1, group_strictness=0.4,
        judge_strictness=0.5,
    ),
    "four groups, raters not by lot, tired": JudgeWorld(
        quality=(3.3,) * 4, judges=6, favors=(0.5, 0.1, 0.3, 0.4), by_lot=False, tiring=0.15,
        drift=0.3, group_strictness=0.4, judge_strictness=0.6,
    ),
    "seven groups near the end of the scale": JudgeWorld(
        quality=(4.6,) * 7, judges=(3, 3, 9, 9, 3, 3, 9),
        favors=(0.5, 0.0, 0.4, 0.2, 0.3, 0.1, 0.6),
        slopes=(1.5, 0.7, 1.0, 1.2, 0.8, 1.0, 1.3), group_strictness=0.4,
    ),
}  # fmt: skip
"""No third group has a taste, and all groups are equally good, so at most 5% of runs may drop
the least favored one. None was run before the policy was final."""
TASTES = {
    f"{words} groups, tastes {size:g}": JudgeWorld(
        quality=(3.2,) * groups, favors=(0.57, 0.23, 0.50, 0.43, 0.3)[:groups], tastes=size,
        group_strictness=0.4,
    )
    for groups, words in ((3, "three"), (5, "five"))
    for size in (0.05, 0.1, 0.2)
}  # fmt: skip
"""Third groups like one of the compared groups better. No theorem covers them."""
MODELS = JudgeWorld(
    quality=(6.0, 6.4, 6.2, 5.8), lowest=1.0, highest=10.0, spread=1.2, error=0.8, judges=2,
    favors=(0.8, 0.1, 0.6, 0.9), slopes=(1.5, 0.8, 1.2, 1.0), group_strictness=0.5,
    judge_strictness=0.2,
)  # fmt: skip
"""Four families of language models, two models each. The best is the least favored."""
CROSSED = {
    f"{words} groups, strictness{also}": stars(groups, group_strictness=0.4, slopes=slopes[:groups])
    for groups, words in ((2, "two"), (3, "three"), (4, "four"))
    for also, slopes in (("", ()), (", slope 1.3", (1.3, 1.0, 1.0, 1.0)))
}
CROSSED_HELD_OUT = {
    "two groups, 1 to 10, few and many judges": JudgeWorld(
        quality=(6.0, 6.0), lowest=1.0, highest=10.0, spread=1.6, error=1.2, judges=(14, 3),
        favors=(1.2, 0.5), slopes=(1.4, 0.8), group_strictness=0.8, judge_strictness=0.9,
    ),
    "two groups, 0 to 100 in fives, drift": JudgeWorld(
        quality=(58.0, 58.0), lowest=0.0, highest=100.0, unit=5.0, spread=12.0, error=10.0,
        judges=(6, 2), favors=(11.0, 4.0), slopes=(0.8, 1.3), group_strictness=8.0,
        judge_strictness=6.0, drift=6.0, period=250.0,
    ),
    "two groups, yes or no": JudgeWorld(
        quality=(0.5, 0.5), lowest=0.0, highest=1.0, spread=0.3, error=0.3, judges=(4, 9),
        favors=(0.15, 0.0), group_strictness=0.1, judge_strictness=0.1,
    ),
    "two groups, 1 in 10 joins": JudgeWorld(
        quality=(3.1, 3.1), judges=3, favors=(0.5, 0.1), joining=0.1, group_strictness=0.4,
        judge_strictness=0.5,
    ),
    "two groups, raters not by lot, tired": JudgeWorld(
        quality=(3.3, 3.3), judges=6, favors=(0.4, 0.2), by_lot=False, tiring=0.15, drift=0.3,
        group_strictness=0.4, judge_strictness=0.6,
    ),
    "two groups, one against its own": JudgeWorld(
        quality=(3.0, 3.0), judges=(5, 11), favors=(0.3, -0.15), group_strictness=0.5,
    ),
    "three groups, 1 to 7, drift": JudgeWorld(
        quality=(4.2,) * 3, lowest=1.0, highest=7.0, spread=1.1, error=0.9, judges=(2, 12, 5),
        favors=(0.8, 0.1, 0.5), slopes=(1.2, 0.7, 1.0), group_strictness=0.6, drift=0.5,
    ),
    "four groups near the end of the scale, 1 in 10 joins": JudgeWorld(
        quality=(4.5,) * 4, judges=(3, 9, 4, 6), favors=(0.5, 0.0, 0.4, 0.2), joining=0.1,
        slopes=(1.4, 0.7, 1.0, 1.2), group_strictness=0.4,
    ),
}  # fmt: skip
"""For blocks that raters of every group score, each with the largest difference of its favors as
the stated bound. All groups are equally good; the least favored one may be dropped in at most 5% of
runs. None was run before the policy was final."""
END_OF_SCALE = JudgeWorld(
    quality=(4.2, 4.2), favors=(0.5, 0.5), strictness=(0.6, -0.6), group_strictness=0.0
)
"""Equal favors near the end of the scale, where those of the lenient judges show less."""
