"""A plan: the policy for stated assumptions, with its measured outcomes and costs."""

from __future__ import annotations

from dataclasses import dataclass

from affinity_bandits._version import __version__
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.displays import html_table, short
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.enough import decided_enough
from affinity_bandits.planning.judge_worlds import BlockWorld
from affinity_bandits.planning.judges_differ import IfJudgesDiffer
from affinity_bandits.planning.otherwise import Otherwise
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.reach import Reach
from affinity_bandits.planning.worlds import (
    HardWorld,
)
from affinity_bandits.policies import BlockPolicy, RoundPolicy


@dataclass(frozen=True)
class Plan:
    """A policy for stated assumptions, with its measured outcomes.

    Numbers are in the units of the assumptions' scores.

    Attributes:
        assumptions: the assumptions.
        policy: the policy to run, for `simulate` and `Live`, or for `simulate_blocks` and `Blocks`,
            on scores mapped to [0, 1].
        worlds: the hardest world that was found for each initial committee, or the world of judges
            of neutral blocks.
        hardest: the outcome of the policy in each of them, which decides the verdict.
        detectable: the smallest difference that 95% of runs detect in the costliest world.
        sufficient: a sufficient number of choices; None if the planned one suffices, or if even
            10**15 is too small (10**6 for neutral blocks).
        needed: the outcome with sufficient choices in the world that takes most; None if even
            10**15 choices are too few, or if no number is enough because scores cannot tell groups
            from judges (`Assumptions.identified`). Then `detectable`, `otherwise` and `reach` are
            empty as well.
        otherwise: the cost under another spread or bias.
        reach: outcomes with fewer and with more choices.
        if_judges_differ: how often the wrong group is chosen if judges differ.
        seed: seed of all runs.
        version: version of the package that made it.
        declaration: of the groups, the person responsible and the purpose, if made.
    """

    assumptions: Assumptions
    policy: RoundPolicy | BlockPolicy
    worlds: tuple[HardWorld | BlockWorld, ...]
    hardest: tuple[Outcome, ...]
    detectable: float | None
    sufficient: int | None
    needed: Outcome | None
    otherwise: tuple[Otherwise, ...]
    reach: tuple[Reach, ...]
    if_judges_differ: tuple[IfJudgesDiffer, ...] = ()
    seed: int = 0
    version: str = __version__
    declaration: Declaration | None = None

    def __post_init__(self) -> None:
        if self.declaration is not None:
            self.declaration.check_comparison()

    def __repr__(self) -> str:
        return f"<Plan: {self._verdict}; {self.policy}>"

    def _repr_html_(self) -> str:
        given, cost, wrong = self.assumptions, self.cost, self.most_wrong
        told_apart = "none" if self.detectable is None else f"{self.detectable:.2g}"
        if self.failure is None:
            return html_table(self._verdict, (), (("policy", str(self.policy)),))
        rows = (
            ("policy", str(self.policy)),
            ("chance of choosing the wrong group", f"at most {100 * self.failure:.3g}%, proven"),
            ("most runs that did", f"{wrong.wrong:,} of {wrong.replicates:,}"),
            ("choices spent comparing, at worst", f"{short(cost.choices)} on average"),
            ("in 19 of 20 runs", f"{short(cost.choices_95)} of {given.horizon:,}"),
            ("the worst is where", str(self.worlds[self.costliest])),
            ("smallest difference told apart there", told_apart),
        )
        return html_table(self._verdict, (), rows)

    @property
    def _verdict(self) -> str:
        given = self.assumptions
        asked = (
            f"{given.groups:,} groups, differences of {given.smallest_difference:g} or more, "
            f"{given.horizon:,} choices"
        )
        if not given.identified:
            return f"{asked}: no number is enough, as scores cannot tell groups from judges"
        if self.enough:
            return f"{asked}: enough{given.covered and f' for {given.covered}'}"
        most = "10^6" if given.judges == "neutral" else "10^15"
        would = (
            f"{most} would not do" if self.sufficient is None else f"{self.sufficient:,} would do"
        )
        return f"{asked}: too few, {would}"

    @property
    def failure(self) -> float | None:
        """The proven bound on the probability of choosing the wrong group; None if there is none.

        It holds for every nonnegative, nondecreasing bias of any steepness that all groups share
        (but for a stated gap in favor), if the assumed people judge, drawn by lot. If
        people of other groups judge, those of each group must also be equally strict on average.
        """
        return self.assumptions.failure if self.assumptions.identified else None

    @property
    def enough(self) -> bool:
        """Whether at most 5% of runs end undecided in every hardest world (95% confidence).

        Never, if scores cannot tell groups from judges.
        """
        return self.assumptions.identified and all(map(decided_enough, self.hardest))

    @property
    def costliest(self) -> int:
        """The index of the hardest world that took the most choices."""
        return costliest(self.hardest)

    @property
    def cost(self) -> Outcome:
        """The outcome in the costliest of the hardest worlds."""
        return self.hardest[self.costliest]

    @property
    def enough_choices(self) -> float | None:
        """The choices that are enough in 19 of 20 cases; None if even 10**15 are too few.

        If the planned number is too small, this is `sufficient`, which a plan also finds enough.
        """
        if self.needed is None:
            return None
        found = self.needed.choices_95
        return found if self.enough else float(self.sufficient or found)

    @property
    def most_wrong(self) -> Outcome:
        """The outcome with the largest part of wrong runs."""
        return max(self.hardest, key=lambda one: one.wrong / one.replicates)


def costliest(found: tuple[Outcome, ...] | list[Outcome]) -> int:
    """Return the index of the outcome that took the most choices."""
    return max(range(len(found)), key=lambda i: (found[i].choices_95, found[i].choices))
