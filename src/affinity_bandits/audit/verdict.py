"""What a log shows, and under which assumption."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits.audit.betting_odds import odds
from affinity_bandits.audit.drifting_odds import odds_with_drift
from affinity_bandits.audit.likelihoods import likelihood_ratios
from affinity_bandits.audit.log import DecisionLog
from affinity_bandits.audit.matched_pairs import pairs
from affinity_bandits.audit.one_pass import Summary, summary_of_log

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
WIDER = {"steady": ("nothing",), "alike": ("nothing", "steady")}
"""Assumptions that allow for more than others, which are shown first."""
WORDS = {
    "nothing": "if nothing drifts",
    "steady": "if all drift alike and at a steady rate",
    "alike": "whatever drifts for all alike",
    "slow": "whoever judged, if no group's level drifts far",
    "random": "if those who judged were drawn at random",
}


class Verdict(NamedTuple):
    """Whether scores rise with the share of the group, under one assumption.

    Attributes:
        assumption: "nothing", "steady", "alike", "slow" or "random".
        words: the assumption, for people.
        log_e: the logarithm of the evidence.
        tests: the same of each test that is in it.
        shown: whether the evidence is at least 20, as it is under every narrower assumption: if
            there is nothing, and the assumption holds, this happens with probability at most 5%.
    """

    assumption: str
    words: str
    log_e: float
    tests: dict[str, float]
    shown: bool


def verdicts(log: DecisionLog | Summary, *, steady: bool = True) -> tuple[Verdict, ...]:
    """Return what a log shows under each assumption that can be made of it.

    Whatever drifts, at most one log in 20 without a bias leads to any "shown" whose assumption
    holds, of the first three: a wider assumption is looked at only if what is narrower shows the
    bias as well.

    Args:
        log: of decisions, or its summary; with panels there are two verdicts more.
        steady: whether to look for drift at a steady rate, which takes a second.
    """
    summary = log if isinstance(log, Summary) else summary_of_log(log)
    found = {
        "odds": odds(summary.table),
        "pairs": pairs(summary.pair_table),
        "likelihood_ratios": likelihood_ratios(summary.table),
    }
    if steady:
        found["odds_with_drift"] = odds_with_drift(summary.table)
    if summary.on_record is not None and summary.at_random is not None:
        found["panels_on_record"] = summary.on_record
        found["panels_at_random"] = summary.at_random.peak
    made: list[Verdict] = []
    for assumption, weights in WEIGHTS.items():
        if weights.keys() <= found.keys():
            narrower = [one.shown for one in made if one.assumption in WIDER.get(assumption, ())]
            made.append(_verdict(assumption, found, all(narrower)))
    return tuple(made)


def _verdict(assumption: str, found: dict[str, float], may: bool) -> Verdict:
    """Average the e-values of one assumption; it is shown only if it `may` be."""
    weights = WEIGHTS[assumption]
    tests = {name: found[name] for name in weights}
    parts = [math.log(weight) + tests[name] for name, weight in weights.items()]
    log_e = float(np.logaddexp.reduce(parts))
    enough = log_e >= math.log(1.0 / LEVEL)
    return Verdict(assumption, WORDS[assumption], log_e, tests, may and enough)
