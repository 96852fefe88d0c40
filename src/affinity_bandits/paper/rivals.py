"""What Figures 6 and 7 share: Algorithm 1 against two optimistic algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.bias import Bias, Power
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.experiments import Cell
from affinity_bandits.noise import Gaussian
from affinity_bandits.paper.item import CellRunner, Data

LABEL = "fig:CompareAlgs"
OURS = "elimination"
RIVALS = {"efficient-ucb-v": "Efficient-UCBV", "lucb": "LUCB"}
NAMES = {OURS: "Algorithm 1", **RIVALS}
LAST_PART = 0.1
"""The part of the horizon at its end in which pulls are counted apart."""

NOTES = (
    "Two Gaussian arms with means (.4, .6) and variance 1, f(x) = x, 10 runs as published. The "
    "paper gives neither n nor initial pulls: n = 2,000,000, in which Algorithm 1 plays five "
    "rounds, T0_2 = 10 and T0_1 = 10 + gap. LUCB has delta = .05 and sigma = 1 and commits to its "
    "winner; Efficient-UCBV has rho = 1/2 and psi = n/K^2. With two arms LUCB pulls both in turn "
    "until it decides, so it errs only where the initial gap outlasts its decision, from about "
    "10,000 on, while Efficient-UCBV errs in a good part of the runs at every gap; Algorithm 1 is "
    "deceived too from about 20,000 on, which is Figure 11."
)


GAPS = (10, 30, 100, 300, 1000, 3000, 8000, 11_000, 16_000)


@dataclass(frozen=True)
class Settings:
    """Repeats and gaps; the rivals, which cost far more, may be shown at fewer of them."""

    replicates: int
    rival_gaps: Sequence[int] = GAPS
    gaps: Sequence[int] = GAPS
    bias: Bias = field(default_factory=Power)
    means: Sequence[float] = (0.4, 0.6)
    second: int = 10
    horizon: int = 2_000_000


SETTINGS = {
    "quick": Settings(10, (100, 16_000)),
    "full": Settings(50),
    "as-published": Settings(10),
}


def run(settings: Settings, runner: CellRunner) -> Data:
    """Count the pulls of arm 1 in every run, in all and in the last part of the horizon."""
    n, runs = settings.horizon, settings.replicates
    late = round((1.0 - LAST_PART) * n)
    grid = [(OURS, gap) for gap in settings.gaps]
    grid += [(policy, gap) for policy in RIVALS for gap in settings.rival_gaps]
    cells = []
    for policy, gap in grid:
        initial = (settings.second + gap, settings.second)
        bandit = AffinityBandit(settings.means, settings.bias, initial, Gaussian())
        cells.append(Cell(bandit, policy_from_json(policy), n, (late,)))
    pulls = np.stack([result.pulls[0, :, :, 0] for result in runner.results(cells, runs)])
    return {
        "policy": np.repeat([policy for policy, _ in grid], runs).tolist(),
        "gap": np.repeat([gap for _, gap in grid], runs),
        "run": np.tile(np.arange(runs), len(grid)),
        "horizon": np.full(len(grid) * runs, n),
        "pulls": pulls[:, :, 1].ravel(),
        "late_pulls": (pulls[:, :, 1] - pulls[:, :, 0]).ravel(),
    }
