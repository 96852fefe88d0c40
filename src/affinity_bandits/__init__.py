"""Study, plan, run and audit sequential choices whose feedback favours what was chosen before.

Only the errors load at once, so that a program which talks to the service loads its client and no
numpy. The model and the policies, the simulator, the planner, experiments and pictures load when
one of their names is first used.
"""

from __future__ import annotations

from importlib import import_module

from affinity_bandits._version import __version__
from affinity_bandits.errors import (
    AffinityError,
    CallerError,
    InvalidInput,
    MissingExtra,
    NotSupported,
    StateMismatch,
    UnknownName,
)

_NAMES = {
    "audit": "DecisionLog decision_log log_of_run verdicts",
    "bandit": "AffinityBandit",
    "bias": (
        "Bias Clipped Constant Custom InGroupBonus PiecewisePower Plateau Power Root Sigmoid "
        "Step bias_from_json"
    ),
    "catalogue": "policy_from_json",
    "committee": "Joining Judges",
    "experiments": "Cell Experiment Store Sweep cell_summaries run_cells run_experiment",
    "noise": "Bernoulli Beta CustomNoise Empirical Gaussian Noise Ordinal noise_from_json",
    "planning": "Assumptions Plan make_plan",
    "plots": (
        "draw_plan draw_quantiles draw_ranking draw_regret draw_sureness draw_sweep save_for_print"
    ),
    "policies": (
        "EXP3 EXP3IX KLUCB LUCB MOSS UCB1 UCBV DebiasedUCBV EfficientUCBV Elimination "
        "EpsilonGreedy EXP3Gains ExploreThenCommit HandicapElimination InPython Live Oracle "
        "Policy RoundPolicy SequentialHalving StepPolicy SuccessiveRejects ThompsonBeta "
        "ThompsonGaussian Uniform WeightedUCB"
    ),
    "simulation": (
        "Environment PairedDifference PolicyRun RankedPolicy Ranking Result RunLog StepRun "
        "SummaryRow simulate simulate_log write_logs"
    ),
}
"""What each room offers here; `__init__.pyi` says the same to type checkers."""
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = [
    "AffinityError",
    "CallerError",
    "InvalidInput",
    "MissingExtra",
    "NotSupported",
    "StateMismatch",
    "UnknownName",
    "__version__",
]
__all__ += list(_ROOM_OF)


def __getattr__(name: str) -> object:
    """Load a room when it, or one of its names, is first used."""
    if name in _NAMES:
        return import_module(f"{__name__}.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found  # the next time it is simply there
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
