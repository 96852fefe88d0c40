"""What a policy's guarantee assumes of feedback and of judges, compared with a bandit."""

from __future__ import annotations

from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.policies import RoundPolicy, StepPolicy


def caveat_of(label: str, policy: StepPolicy | RoundPolicy, bandit: AffinityBandit) -> str:
    """Return how feedback or judges violate a policy's assumption, as a sentence, or ""."""
    if missing := policy.assumes.missing(bandit.feedback):
        assumed = f"{policy.assumes.in_words}; {bandit.feedback_name} here {missing}"
    elif not _judged_as_assumed(policy, bandit):
        assumed = f"that {JUDGED[policy.judged_by]}"
    else:
        return ""
    return f"{label} assumes {assumed}: its guarantee does not cover this run"


JUDGED = {
    "everybody": "everybody chosen judges from then on",
    "members": "nobody who judges leaves during a round",
    "panel": "a panel judges, which stays the same for a round",
    "recused": "nobody judges their own group",
    "memory": "the people chosen last judge, as many as it is told or fewer",
}
"""What a policy's guarantee assumes about judges."""


def _judged_as_assumed(policy: StepPolicy | RoundPolicy, bandit: AffinityBandit) -> bool:
    joining, who = bandit.joining, bandit.judges.who
    if who == "recused":  # all shares are equal
        return True
    match policy.judged_by:
        case "everybody":
            return bandit.counts_pulls
        case "members":
            return who == "panel" or joining.leaving == 0.0
        case "panel":
            return who == "panel" or (joining.when == "next round" and joining.leaving == 0.0)
        case "memory":
            return bandit.memory is not None and bandit.memory <= policy.to_json()["memory"]
    return policy.judged_by != "recused"
