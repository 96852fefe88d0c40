"""The partial-monitoring view: against its adversary every policy has linear regret."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.paper.evidence import always, number_within
from affinity_bandits.paper.item import CellRunner, Claim, Data, Item, column
from affinity_bandits.plots.style import new_panels
from affinity_bandits.policies import POLICIES, Live
from affinity_bandits.theory.partial_monitoring import (
    OUTCOME_1,
    OUTCOME_2,
    OUTCOMES,
    Outcome,
    feedback_matrix,
    loss_matrix,
    outcome_index,
)

LABEL = "sec:partialMonitoringAppendix"


@dataclass(frozen=True)
class Settings:
    """The paper's two outcomes; other ones plant a game that can be learnt."""

    horizon: int
    replicates: int
    outcomes: tuple[Outcome, Outcome] = (OUTCOME_1, OUTCOME_2)
    means: tuple[float, float] = (0.9, 0.8)
    weights: tuple[float, float] = (0.3, 0.7)


def run(settings: Settings, runner: CellRunner) -> Data:
    """Write both matrices down, and run every policy against both adversaries."""
    del runner  # an adversary is no bandit
    loss, feedback = loss_matrix(), feedback_matrix()
    marks = {outcome_index(outcome): k + 1 for k, outcome in enumerate(settings.outcomes)}
    rows: list[dict[str, Any]] = [
        {
            "kind": "matrix",
            "arm": arm + 1,
            "outcome": index,
            "adversary": marks.get(index, 0),
            "loss": loss[arm, index],
            "feedback": feedback[arm, index],
            "probability": _probability(outcome, settings),
            "expected": settings.means[arm] * settings.weights[arm],
        }
        for arm, (index, outcome) in product((0, 1), enumerate(OUTCOMES))
    ]
    told = [name for name, cls in POLICIES.items() if cls.information == "feedback"]
    for name, replicate in product(told, range(settings.replicates)):
        paths = [_play(name, outcome, settings, replicate) for outcome in settings.outcomes]
        rows.append(
            {
                "kind": "policy",
                "policy": name,
                "n": settings.horizon,
                "same": float(np.array_equal(paths[0], paths[1])),
                **{f"regret_{k + 1}": _regret(paths[k], settings.outcomes[k]) for k in range(2)},
            }
        )
    words = ("kind", "policy")
    numbers = sorted({key for row in rows for key in row} - {*words})
    return {
        **{key: [row.get(key, "") for row in rows] for key in words},
        **{key: [float(row.get(key, np.nan)) for row in rows] for key in numbers},
    }


def _probability(outcome: Outcome, settings: Settings) -> float:
    """Return how likely an outcome is when the adversary simulates the gated mechanism."""
    chances = (*settings.means, *settings.weights)
    return float(np.prod([p if bit else 1.0 - p for p, bit in zip(chances, outcome, strict=True)]))


def _play(name: str, outcome: Outcome, settings: Settings, replicate: int) -> Any:
    """Return the choices of a policy that sees one outcome at every pull."""
    live = Live(policy_from_json(name), 2, settings.horizon, replicate=replicate)
    # Policies take gains: Y = X F, which is 1 less the entry of the feedback matrix.
    seen = 1.0 - feedback_matrix()[:, outcome_index(outcome)]
    choices = np.empty(settings.horizon, dtype=np.int64)
    for t in range(settings.horizon):
        arm = live.ask()
        live.tell(arm, float(seen[arm]))
        choices[t] = arm
    return choices


def _regret(choices: Any, outcome: Outcome) -> float:
    losses = loss_matrix()[:, outcome_index(outcome)]
    return float((losses[choices] - losses.min()).sum())


def claims(data: Data) -> list[Claim]:
    """Judge the reduction, the two outcomes and what they do to every policy."""
    kind, arm = column(data, "kind"), column(data, "arm")
    matrix, runs = kind == "matrix", kind == "policy"

    def entries(what: str, adversary: int) -> Any:
        return column(data, what)[matrix & (column(data, "adversary") == adversary)]

    gains = (1.0 - column(data, "feedback")) * column(data, "probability")
    errors = [
        abs(
            float(
                gains[matrix & (arm == i)].sum() - column(data, "expected")[matrix & (arm == i)][0]
            )
        )
        for i in (1, 2)
    ]
    same_feedback = entries("feedback", 1) == entries("feedback", 2)
    as_said = [entries("loss", k) == (np.arange(1, 3) == k) for k in (1, 2)]
    most = np.maximum(column(data, "regret_1"), column(data, "regret_2"))[runs]
    short = most < column(data, "n")[runs] / 2.0
    policies = len(np.unique(column(data, "policy")[runs]))
    return [
        number_within(
            "An adversary that draws X_i and F_i simulates our setting: E[Y] = mu_i W_i",
            LABEL,
            max(errors),
            0.0,
            1e-12,
            "the largest error, summed over the 16 outcomes,",
        ),
        always(
            "The two outcomes give every action the same feedback",
            LABEL,
            int((~same_feedback).sum()),
            same_feedback.size,
            "actions",
        ),
        always(
            "L[i, O_1] = 1{i = 1} and L[i, O_2] = 1{i = 2}: action 2 is optimal against the first, "
            "action 1 against the second",
            LABEL,
            int((~np.concatenate(as_said)).sum()),
            4,
            "entries",
        ),
        always(
            f"Any policy is the same in both environments ({policies} policies tried)",
            LABEL,
            int((column(data, "same")[runs] == 0.0).sum()),
            int(runs.sum()),
            "runs",
        ),
        always(
            "Any policy suffers regret at least n/2 in one of the two environments",
            LABEL,
            int(short.sum()),
            int(runs.sum()),
            "runs",
        ),
    ]


def draw(data: Data) -> Any:
    """Draw the two matrices, with the two outcomes marked."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    figure, panels = new_panels(2, 1, 8.0, 3.6, sharex=True)
    matrix = column(data, "kind") == "matrix"
    colours = ListedColormap(["#F4F4F4", "#56B4E9"])
    shape = (2, len(OUTCOMES))
    marks = column(data, "adversary")[matrix].reshape(shape)[0]
    for axes, (what, title) in zip(
        panels,
        (
            ("loss", r"loss $\mathcal{L}$ = $1 - X_i$"),
            ("feedback", r"feedback $\Phi$ = $1 - X_i F_i$"),
        ),
        strict=True,
    ):
        values = column(data, what)[matrix].reshape(shape)
        axes.imshow(values, cmap=colours, vmin=0, vmax=1, aspect="auto")
        for i, j in product(range(2), range(len(OUTCOMES))):
            axes.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", fontsize=9)
        for marked in np.flatnonzero(marks):
            frame = Rectangle(
                (marked - 0.47, -0.45), 0.94, 1.9, fill=False, edgecolor="#D55E00", linewidth=2.2
            )
            axes.add_patch(frame)
        axes.set_yticks([0, 1], ["action 1", "action 2"])
        axes.set_title(title, fontsize=10, loc="left")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    names = ["".join(str(bit) for bit in outcome) for outcome in OUTCOMES]
    for marked in np.flatnonzero(marks):
        names[marked] += f"\n$O_{int(marks[marked])}$"
    axes.set_xticks(range(len(names)), names)
    axes.set_xlabel("outcome $(X_1, X_2, F_1, F_2)$")
    return figure


ITEM = Item(
    identity="partial-monitoring",
    title="As a partial-monitoring game the problem has linear regret",
    labels=(LABEL,),
    notes=(
        "The 2 x 16 loss and feedback matrices, and the outcomes O_1 = (0, 1, 0, 0) and O_2 = "
        "(1, 0, 0, 0) at every pull. The text says that the feedback of both is 0; by its "
        "definition 1 - X_i F_i it is 1 (it is Y that is 0), which changes nothing, as it is the "
        "same. Every policy of the package that sees nothing but feedback is run against both "
        "adversaries, with Y as feedback. That the adversary can simulate our setting is summed "
        "exactly over the outcomes for means (.9, .8) and weights (.3, .7)."
    ),
    settings={
        "quick": Settings(400, 2),
        "full": Settings(2000, 10),
        "as-published": Settings(400, 2),
    },
    run=run,
    claims=claims,
    draw=draw,
)
