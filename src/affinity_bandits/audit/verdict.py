"""What a log shows, and under which assumption."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import odds
from affinity_bandits.audit.drawn_panels import panels_at_random
from affinity_bandits.audit.drifting_odds import odds_with_drift
from affinity_bandits.audit.likelihoods import likelihood_ratios
from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.matched_pairs import pairs
from affinity_bandits.audit.pair_table import pair_table_of
from affinity_bandits.audit.recorded_panels import panels_on_record
from affinity_bandits.audit.table import table_of

LEVEL = 0.05
"""The probability at most with which something is shown although there is nothing."""
WEIGHTS = {
    "nothing": {"odds": 0.5, "pairs": 0.3, "likelihood_ratios": 0.2},
    "steady": {"odds_with_drift": 0.5, "pairs": 0.5},
    "alike": {"pairs": 1.0},
    "slow": {"panels_on_record": 1.0},
    "random": {"panels_at_random": 1.0},
}
"""The part that each test has in the average of a verdict: fixed before any log is seen."""
WORDS = {
    "nothing": "if nothing drifts",
    "steady": "if all drift alike and at a steady rate",
    "alike": "whatever drifts for all alike",
    "slow": "whoever judged, if no group's level drifts far",
    "random": "whoever judged was drawn at random",
}


class Verdict(NamedTuple):
    """Whether scores rise with the share of the group, under one assumption.

    Attributes:
        assumption: "nothing", "steady", "alike", "slow" or "random".
        words: the assumption, for people.
        log_e: the logarithm of the evidence.
        tests: the same of each test that is in it.
        shown: whether the evidence is at least 20: if there is nothing, and the assumption holds,
            this happens with probability at most 5%.
    """

    assumption: str
    words: str
    log_e: float
    tests: dict[str, float]
    shown: bool


def verdicts(log: DecisionLog, *, steady: bool = True) -> tuple[Verdict, ...]:
    """Return what a log shows under each assumption that can be made of it.

    Args:
        log: of decisions; with panels there are two verdicts more.
        steady: whether to look for drift at a steady rate, which takes some seconds.
    """
    table = table_of(log)
    found = {
        "odds": odds(table),
        "pairs": pairs(pair_table_of(log)),
        "likelihood_ratios": likelihood_ratios(table),
    }
    if steady:
        found["odds_with_drift"] = odds_with_drift(table)
    if log.panel is not None:
        found["panels_on_record"] = panels_on_record(log)
        found["panels_at_random"] = panels_at_random(log).peak
    return tuple(
        _verdict(assumption, found)
        for assumption in WEIGHTS
        if WEIGHTS[assumption].keys() <= found.keys()
    )


def _verdict(assumption: str, found: dict[str, float]) -> Verdict:
    """Average the e-values of one assumption."""
    weights = WEIGHTS[assumption]
    tests = {name: found[name] for name in weights}
    parts = [math.log(weight) + tests[name] for name, weight in weights.items()]
    log_e = float(np.logaddexp.reduce(parts))
    return Verdict(assumption, WORDS[assumption], log_e, tests, log_e >= math.log(1.0 / LEVEL))
