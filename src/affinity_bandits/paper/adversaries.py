"""Adversaries of the proofs: lifting arms above a share, and partial monitoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.base.looks import LIGHT
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel
from affinity_bandits.model.streams import generator, stream_key
from affinity_bandits.paper.item import (
    CellRunner,
    Claim,
    Data,
    Item,
    column,
    in_every_case,
    number_within,
    to_columns,
)
from affinity_bandits.plots.style import line_style, new_figure, new_panels
from affinity_bandits.policies import POLICIES, Live
from affinity_bandits.theory.ucb import (
    OUTCOME_1,
    OUTCOME_2,
    OUTCOMES,
    Outcome,
    feedback_matrix,
    loss_matrix,
    outcome_index,
)

SEQUENTIAL, GREEDY, POOREST, ROUND_ROBIN, RANDOM = range(5)
ADVERSARIES = {
    SEQUENTIAL: "one arm after the other",
    GREEDY: "the arm closest below",
    POOREST: "the poorest arm, until lifted",
    ROUND_ROBIN: "every arm in turn",
    RANDOM: "any arm",
}


@kernel
def lift(
    kind: int,
    shares: FloatArray,
    initial: IntArray,
    prefix: IntArray,
    horizon: int,
    rng: np.random.Generator,
    members: IntArray,
    small: IntArray,
    order: IntArray,
    pulls: IntArray,
) -> tuple[int, int]:
    """Play one path of an adversary that lifts arms above a share.

    `members` is work space. `small` is set to 1 for each arm of S_{n_0}(beta), `order` to 1, 2, ...
    for those whose share exceeds beta' / K before n, and `pulls` to T_i(n_0, tau_i).

    Returns:
        The number of arms lifted, and of pulls at which |S_t(beta)| < (1 - 1/beta) K.
    """
    arms = len(initial)
    beta, target = shares[0], shares[1]
    total = 0
    for i in range(arms):
        members[i] = initial[i]
        total += initial[i]
        order[i] = 0
        pulls[i] = 0
    first = len(prefix)
    lifted, failures, found = 0, 0, -1
    for t in range(1, horizon + 1):
        chosen = 0
        if t <= first:
            chosen = prefix[t - 1]
        elif kind == ROUND_ROBIN:
            chosen = t % arms
        elif kind == RANDOM:
            chosen = int(rng.random() * arms)
        else:
            # Whoever lifts the poorest arm must stay with it, or all arms stay alike.
            stays = kind == POOREST and found >= 0 and order[found] == 0
            if not stays:
                found = -1
            for i in range(arms):
                if stays or small[i] == 0 or order[i] > 0:
                    continue
                if (
                    found < 0
                    or (kind == GREEDY and members[i] > members[found])
                    or (kind == POOREST and members[i] < members[found])
                ):
                    found = i
            chosen = max(found, 0)
        members[chosen] += 1
        total += 1
        if t > first:
            pulls[chosen] += 1 if order[chosen] == 0 else 0
            # Both sides are exact: beta and beta' have few binary digits.
            above = members[chosen] * arms > target * total
            if above and t < horizon and small[chosen] == 1 and order[chosen] == 0:
                lifted += 1
                order[chosen] = lifted
        below = 0
        for i in range(arms):
            inside = members[i] * arms <= beta * total
            below += 1 if inside else 0
            if t == first:
                small[i] = 1 if inside else 0
        if below * beta < (beta - 1.0) * arms:
            failures += 1
    return lifted, failures


STARTS = ("even", "poised", "random")
"""Before n_0: every arm in turn; as many arms as can be, in turn, so that they stand at beta / K;
any arm."""

NUMBERS = (
    "arms",
    "beta",
    "beta_prime",
    "prefix",
    "largest_initial",
    "adversary",
    "horizon",
    "small_failures",
    "small_arms",
    "j",
    "pulls",
    "bound",
    "recursion_bound",
)
SHOWN = {
    "arms": 32,
    "beta": 2.0,
    "beta_prime": 4.0,
    "prefix": 10,
    "largest_initial": 1,
    "start": "random",
}


class LiftingPath(NamedTuple):
    """One path: the instance, the pulls before n_0 and the policy after it."""

    key: tuple[
        int, float, float, int, int, str, int
    ]  # arms, beta, beta', n_0 over K, largest T0, start, adversary
    initial: IntArray
    prefix: IntArray  # the arms pulled up to n_0
    horizon: int


@dataclass(frozen=True)
class StabilitySettings:
    """Which paths; `growth` other than 1 multiplies the exponent of the bound: a wrong lemma."""

    arms: Sequence[int]
    prefixes: Sequence[int]
    betas: Sequence[tuple[float, float]] = ((1.25, 1.5), (1.25, 4.0), (2.0, 4.0), (2.0, 6.0))
    largest_initial: Sequence[int] = (1, 20)
    stretch: int = 100
    growth: float = 1.0
    seed: int = 0


def cases(settings: StabilitySettings) -> Iterator[LiftingPath]:
    """Yield every path of the settings."""
    key = stream_key(settings.seed, "noise")
    grid = product(
        settings.arms,
        settings.betas,
        settings.prefixes,
        settings.largest_initial,
        STARTS,
        ADVERSARIES,
    )
    for number, (arms, (beta, target), times, largest, start, kind) in enumerate(grid):
        rng = generator(key, 2 * number)
        initial = rng.integers(1, largest, size=arms, endpoint=True)
        prefix = np.arange(times * arms)
        if start == "random":
            prefix = rng.integers(0, arms, size=times * arms)
        else:
            prefix %= arms if start == "even" else int(np.ceil(arms / beta))
        horizon = settings.stretch * int(initial.sum() + len(prefix))
        yield LiftingPath(
            (arms, beta, target, times, largest, start, kind), initial, prefix, horizon
        )


def run_stability(settings: StabilitySettings, runner: CellRunner) -> Data:
    """Play every path and note each arm that was lifted, in order."""
    del runner  # nothing here is random but some of the adversaries
    from affinity_bandits.kernels.compile import compile_kernel

    play = compile_kernel(lift, allocates=True)
    key = stream_key(settings.seed, "noise")
    parts: list[FloatArray] = []
    starts: list[str] = []
    for number, case in enumerate(cases(settings)):
        arms, beta, target, times, largest, start, kind = case.key
        members, small, order, pulls = (np.zeros(arms, dtype=np.int64) for _ in range(4))
        lifted, failures = play(
            kind,
            np.array((beta, target)),
            case.initial,
            case.prefix,
            case.horizon,
            generator(key, 2 * number + 1),
            members,
            small,
            order,
            pulls,
        )
        # Row 0 stands for the path, the others for the arms in the order in which they rose.
        j = np.arange(lifted + 1)
        rose = np.concatenate([[0], pulls[np.argsort(order)[arms - lifted :]]])
        unit = (target - beta) * (case.initial.sum() + len(case.prefix))
        fixed = (arms, beta, target, times, largest, kind, case.horizon, failures, small.sum())
        printed = unit / arms * np.exp(settings.growth * target * j / arms)
        recursion = unit / (arms - target) * (arms / (arms - target)) ** (j - 1.0)
        parts.append(
            np.column_stack([np.tile(fixed, (lifted + 1, 1)), j, rose, printed, recursion])
        )
        starts += [start] * (lifted + 1)
    return {"start": starts, **dict(zip(NUMBERS, np.concatenate(parts).T, strict=True))}


def claims_stability(data: Data) -> list[Claim]:
    """Judge the pigeonhole bound at every pull and the growth at every arm lifted."""
    j, pulls = column(data, "j"), column(data, "pulls")
    path, arm = j == 0, j > 0
    found = [
        in_every_case(
            f"|S_t(beta)| >= (1 - 1/beta) K, whoever pulls ({int(path.sum())} paths)",
            "lem:smallBiasSetBound",
            int(column(data, "small_failures")[path].sum()),
            int(column(data, "horizon")[path].sum()),
            "pulls",
        )
    ]
    for sentence, label, name in (
        (
            "The j-th arm whose share exceeds beta'/K before n was pulled at least "
            "(beta' - beta)(t_0 + n_0)/K exp(beta' j/K) times since n_0",
            "lem:stabilityGeneral",
            "bound",
        ),
        (
            "It was pulled more than (beta' - beta)(t_0 + n_0)/(K - beta') (1 + beta'/(K - "
            "beta'))^(j-1) times, which the recursion of the proof gives",
            "lem:stabilityTechnical",
            "recursion_bound",
        ),
    ):
        ratio = pulls[arm] / column(data, name)[arm]
        claim = in_every_case(sentence, label, int((ratio < 1.0).sum()), ratio.size, "arms lifted")
        lowest = f"; smallest ratio {ratio.min():.4f}" if ratio.size else ""
        found.append(claim._replace(evidence=claim.evidence + lowest))
    return found


def draw_stability(data: Data) -> Any:
    """Draw the pulls each lifted arm took, against its place in the order, with the bounds."""
    figure, axes = new_figure(height=4.2)
    mine = column(data, "j") > 0
    for name, value in SHOWN.items():
        mine &= column(data, name) == value
    for i, (kind, label) in enumerate(ADVERSARIES.items()):
        rows = mine & (column(data, "adversary") == kind)
        if not rows.any():
            continue
        axes.plot(
            column(data, "j")[rows],
            column(data, "pulls")[rows],
            marker="osv^D"[i],
            markersize=4,
            linewidth=0.8,
            label=label,
            **{**line_style(i), "linestyle": "-"},
        )
    for name, label, dashes in (
        ("recursion_bound", "bound of the recursion", ":"),
        ("bound", "bound of the lemma", "--"),
    ):
        j, first = np.unique(column(data, "j")[mine], return_index=True)
        axes.plot(
            j, column(data, name)[mine][first], color=LIGHT["ink"], linestyle=dashes, label=label
        )
    axes.set(
        yscale="log",
        xlabel="place j in the order of the first large bias times",
        ylabel=r"pulls since $n_0$ to the first large bias time",
    )
    axes.legend(frameon=False, fontsize=8.5)
    return figure


STABILITY = Item(
    identity="stability",
    title="Lifting arm after arm above a share costs exponentially many pulls",
    labels=("lem:stabilityGeneral", "lem:stabilityTechnical", "lem:smallBiasSetBound"),
    notes=(
        "Counting alone, no noise. K arms from 8 to 64; T0_i = 1, or any number up to 20; n_0 a "
        "multiple of K, up to which arms are pulled in turn, or only ceil(K/beta) of them so that "
        "their shares stand as high as S_{n_0}(beta) allows, or any; n is 100 (t_0 + n_0). Then an "
        "adversary tries to lift arms above beta'/K: one after the other by number, the closest "
        "below first, the poorest first; or arms are pulled in turn, or any. The proof of "
        "Lemma D.9 prints K - beta in the denominator of its intermediate bound, from "
        "which its conclusion would not follow; its induction yields K - beta', from which it "
        "does. The picture has K = 32, beta = 2, beta' = 4, n_0 = 320, T0_i = 1, and any arms "
        "pulled up to n_0; there, as in most cases, pulling in turn or at random lifts no arm."
    ),
    settings={
        "quick": StabilitySettings((8, 32), (1, 10)),
        "full": StabilitySettings((8, 16, 32, 64), (1, 10, 40)),
        "as-published": StabilitySettings((8, 16, 32, 64), (1, 10)),
    },
    run=run_stability,
    claims=claims_stability,
    draw=draw_stability,
)


LABEL = "sec:partialMonitoringAppendix"


@dataclass(frozen=True)
class MonitoringSettings:
    """The paper's two outcomes; other ones plant a game that can be learnt."""

    horizon: int
    replicates: int
    outcomes: tuple[Outcome, Outcome] = (OUTCOME_1, OUTCOME_2)
    means: tuple[float, float] = (0.9, 0.8)
    weights: tuple[float, float] = (0.3, 0.7)


def run_monitoring(settings: MonitoringSettings, runner: CellRunner) -> Data:
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
    told = [
        name
        for name, cls in POLICIES.items()
        if not cls.told and cls.judged_by not in ("members", "panel")  # nobody names judges here
    ]
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
    return to_columns(rows, words=("kind", "policy"))


def _probability(outcome: Outcome, settings: MonitoringSettings) -> float:
    """Return how likely an outcome is when the adversary simulates the gated mechanism."""
    chances = (*settings.means, *settings.weights)
    return float(np.prod([p if bit else 1.0 - p for p, bit in zip(chances, outcome, strict=True)]))


def _play(name: str, outcome: Outcome, settings: MonitoringSettings, replicate: int) -> Any:
    """Return the choices of a policy that sees one outcome at every pull."""
    live = Live(policy_from_json(name), 2, settings.horizon, replicate=replicate, scale="any")
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


def claims_monitoring(data: Data) -> list[Claim]:
    """Judge the reduction, the two outcomes and their effect on every policy."""
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
        in_every_case(
            "The two outcomes give every action the same feedback",
            LABEL,
            int((~same_feedback).sum()),
            same_feedback.size,
            "actions",
        ),
        in_every_case(
            "L[i, O_1] = 1{i = 1} and L[i, O_2] = 1{i = 2}: action 2 is optimal against the first, "
            "action 1 against the second",
            LABEL,
            int((~np.concatenate(as_said)).sum()),
            4,
            "entries",
        ),
        in_every_case(
            f"Any policy is the same in both environments ({policies} policies tried)",
            LABEL,
            int((column(data, "same")[runs] == 0.0).sum()),
            int(runs.sum()),
            "runs",
        ),
        in_every_case(
            "Any policy suffers regret at least n/2 in one of the two environments",
            LABEL,
            int(short.sum()),
            int(runs.sum()),
            "runs",
        ),
    ]


def draw_monitoring(data: Data) -> Any:
    """Draw the two matrices, with the two outcomes marked."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    figure, panels = new_panels(2, 1, 8.0, 3.6, sharex=True)
    matrix = column(data, "kind") == "matrix"
    colors = ListedColormap([LIGHT["page"], LIGHT["others"]])
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
        axes.imshow(values, cmap=colors, vmin=0, vmax=1, aspect="auto")
        for i, j in product(range(2), range(len(OUTCOMES))):
            axes.text(j, i, f"{values[i, j]:.0f}", ha="center", va="center", fontsize=9)
        for marked in np.flatnonzero(marks):
            frame = Rectangle(
                (marked - 0.47, -0.45), 0.94, 1.9, fill=False, edgecolor=LIGHT["bad"], linewidth=2.2
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


PARTIAL_MONITORING = Item(
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
        "quick": MonitoringSettings(400, 2),
        "full": MonitoringSettings(2000, 10),
        "as-published": MonitoringSettings(400, 2),
    },
    run=run_monitoring,
    claims=claims_monitoring,
    draw=draw_monitoring,
)
