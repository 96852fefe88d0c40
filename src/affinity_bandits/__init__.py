"""Study, plan, run and audit sequential choices whose feedback favors earlier choices.

Importing the package loads only its errors. Every other name loads its subpackage on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from affinity_bandits._version import __version__ as __version__
from affinity_bandits.base.errors import (
    AffinityError as AffinityError,
    CallerError as CallerError,
    InvalidInput as InvalidInput,
    MissingExtra as MissingExtra,
    NotSupported as NotSupported,
    StateMismatch as StateMismatch,
    UnknownName as UnknownName,
)

if TYPE_CHECKING:  # the names of _NAMES for type checkers
    from affinity_bandits.audit import (
        Audit as Audit,
        ScoreLog as ScoreLog,
        audit_scores as audit_scores,
        score_log as score_log,
    )
    from affinity_bandits.model.bandit import AffinityBandit as AffinityBandit
    from affinity_bandits.model.bias import (
        Bias as Bias,
        Clipped as Clipped,
        Constant as Constant,
        Custom as Custom,
        InGroupBonus as InGroupBonus,
        PiecewisePower as PiecewisePower,
        Plateau as Plateau,
        Power as Power,
        Root as Root,
        Sigmoid as Sigmoid,
        Step as Step,
        bias_from_json as bias_from_json,
    )
    from affinity_bandits.catalogue import policy_from_json as policy_from_json
    from affinity_bandits.model.committee import Joining as Joining, Judges as Judges
    from affinity_bandits.experiments import (
        Cell as Cell,
        Experiment as Experiment,
        Store as Store,
        Sweep as Sweep,
        cell_summaries as cell_summaries,
        run_cells as run_cells,
        run_experiment as run_experiment,
    )
    from affinity_bandits.model.noise import (
        Bernoulli as Bernoulli,
        Beta as Beta,
        CustomNoise as CustomNoise,
        Empirical as Empirical,
        Gaussian as Gaussian,
        Noise as Noise,
        Ordinal as Ordinal,
        noise_from_json as noise_from_json,
    )
    from affinity_bandits.planning import (
        Assumptions as Assumptions,
        Plan as Plan,
        make_plan as make_plan,
    )
    from affinity_bandits.plots import (
        draw_plan as draw_plan,
        draw_quantiles as draw_quantiles,
        draw_ranking as draw_ranking,
        draw_regret as draw_regret,
        draw_sureness as draw_sureness,
        draw_sweep as draw_sweep,
        save_for_print as save_for_print,
    )
    from affinity_bandits.policies import (
        EXP3 as EXP3,
        EXP3IX as EXP3IX,
        KLUCB as KLUCB,
        LUCB as LUCB,
        MOSS as MOSS,
        UCB1 as UCB1,
        UCBV as UCBV,
        DebiasedUCBV as DebiasedUCBV,
        EfficientUCBV as EfficientUCBV,
        Elimination as Elimination,
        EpsilonGreedy as EpsilonGreedy,
        EXP3Gains as EXP3Gains,
        ExploreThenCommit as ExploreThenCommit,
        HeadStartElimination as HeadStartElimination,
        InPython as InPython,
        Live as Live,
        MembersElimination as MembersElimination,
        MemoryElimination as MemoryElimination,
        Oracle as Oracle,
        PanelElimination as PanelElimination,
        Policy as Policy,
        RoundPolicy as RoundPolicy,
        SequentialHalving as SequentialHalving,
        StepPolicy as StepPolicy,
        RecusalElimination as RecusalElimination,
        SuccessiveRejects as SuccessiveRejects,
        ThompsonBeta as ThompsonBeta,
        ThompsonGaussian as ThompsonGaussian,
        Uniform as Uniform,
        WeightedUCB as WeightedUCB,
    )
    from affinity_bandits.simulation import (
        Environment as Environment,
        PairedDifference as PairedDifference,
        PolicyRun as PolicyRun,
        RankedPolicy as RankedPolicy,
        Ranking as Ranking,
        Result as Result,
        RunLog as RunLog,
        StepRun as StepRun,
        SummaryRow as SummaryRow,
        simulate as simulate,
        simulate_log as simulate_log,
        write_logs as write_logs,
    )

_NAMES = {
    "audit": "Audit ScoreLog audit_scores score_log",
    "catalogue": "policy_from_json",
    "experiments": "Cell Experiment Store Sweep cell_summaries run_cells run_experiment",
    "model.bandit": "AffinityBandit",
    "model.bias": (
        "Bias Clipped Constant Custom InGroupBonus PiecewisePower Plateau Power Root Sigmoid "
        "Step bias_from_json"
    ),
    "model.committee": "Joining Judges",
    "model.noise": "Bernoulli Beta CustomNoise Empirical Gaussian Noise Ordinal noise_from_json",
    "planning": "Assumptions Plan make_plan",
    "plots": (
        "draw_plan draw_quantiles draw_ranking draw_regret draw_sureness draw_sweep save_for_print"
    ),
    "policies": (
        "EXP3 EXP3IX KLUCB LUCB MOSS UCB1 UCBV DebiasedUCBV EfficientUCBV Elimination "
        "EpsilonGreedy EXP3Gains ExploreThenCommit HeadStartElimination InPython Live "
        "MembersElimination MemoryElimination Oracle PanelElimination Policy RoundPolicy "
        "SequentialHalving StepPolicy RecusalElimination SuccessiveRejects ThompsonBeta "
        "ThompsonGaussian Uniform WeightedUCB"
    ),
    "simulation": (
        "Environment PairedDifference PolicyRun RankedPolicy Ranking Result RunLog StepRun "
        "SummaryRow simulate simulate_log write_logs"
    ),
}
"""The public names of each subpackage."""
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}

_PUBLIC = [
    "AffinityError",
    "CallerError",
    "InvalidInput",
    "MissingExtra",
    "NotSupported",
    "StateMismatch",
    "UnknownName",
    "__version__",
    *_ROOM_OF,
]
if not TYPE_CHECKING:  # checkers take the aliases above for the public names
    __all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    """Import a subpackage, or one of its public names, on first use."""
    if name in _NAMES:
        return import_module(f"{__name__}.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found  # later uses do not come here
    return found


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
