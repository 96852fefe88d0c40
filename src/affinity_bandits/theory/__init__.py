"""The paper's theory as functions: horizon condition, sets of arms, upper and lower bounds.

The functions take an `AffinityBandit`, and a schedule where Algorithm 1 has one. A horizon is a
whole number of any size, or its logarithm as `log_horizon`. Arms count from 0; the paper's
formulas count from 1.
"""

from __future__ import annotations

from affinity_bandits.theory.bounds import (
    ArmPullBound,
    BoundRatio,
    LaiRobbins,
    LowerBound,
    RegretBound,
    SimplifiedBounds,
    WeightFloor,
    arm_pull_bound,
    bias_error_bound,
    bound_ratio,
    finite_horizon_pulls,
    growth_exponent,
    lai_robbins,
    lower_bound,
    polylog_factor,
    regret_bound,
    simplified_regret_bounds,
    weight_floor,
    worst_case_regret_bound,
)
from affinity_bandits.theory.horizon import (
    HorizonCondition,
    horizon_condition,
    smallest_horizon,
    smallest_log_horizon,
)
from affinity_bandits.theory.rounds import (
    ActiveSets,
    active_sets,
    mean_weight,
    round_lengths,
    rounds_that_fit,
)
from affinity_bandits.theory.ucb import (
    OUTCOME_1,
    OUTCOME_2,
    OUTCOMES,
    STATIC_PULLS,
    UCBLinearRegret,
    feedback_matrix,
    indistinguishable,
    loss_difference,
    loss_matrix,
    outcome_index,
    ucb_linear_regret,
    ucb_linear_regret_bandit,
)

__all__ = [
    "OUTCOMES",
    "OUTCOME_1",
    "OUTCOME_2",
    "STATIC_PULLS",
    "ActiveSets",
    "ArmPullBound",
    "BoundRatio",
    "HorizonCondition",
    "LaiRobbins",
    "LowerBound",
    "RegretBound",
    "SimplifiedBounds",
    "UCBLinearRegret",
    "WeightFloor",
    "active_sets",
    "arm_pull_bound",
    "bias_error_bound",
    "bound_ratio",
    "feedback_matrix",
    "finite_horizon_pulls",
    "growth_exponent",
    "horizon_condition",
    "indistinguishable",
    "lai_robbins",
    "loss_difference",
    "loss_matrix",
    "lower_bound",
    "mean_weight",
    "outcome_index",
    "polylog_factor",
    "regret_bound",
    "round_lengths",
    "rounds_that_fit",
    "simplified_regret_bounds",
    "smallest_horizon",
    "smallest_log_horizon",
    "ucb_linear_regret",
    "ucb_linear_regret_bandit",
    "weight_floor",
    "worst_case_regret_bound",
]
