"""Make the file of what every policy, bias and noise chooses: python -m tests.simulation.choices

Changing a number in it changes what saved results mean: raise the package version first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from affinity_bandits import AffinityBandit, Gaussian, InGroupBonus, Power, simulate
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.policies import POLICIES, HeadStartElimination, RoundPolicy
from tests.model.bias.examples import ONE_OF_EACH
from tests.model.noise.examples import NOISES
from tests.support.without_compiler import value_without_compiler

MEANS = [0.5, 0.6]
STORED = Path(__file__).with_name("choices.json")
BANDIT = AffinityBandit([0.55, 0.6, 0.5], bias=InGroupBonus(0.5), initial_pulls=[40, 10, 25])
LATE = AffinityBandit(
    [0.55, 0.6, 0.57, 0.5],
    bias=Power(1.0),
    initial_pulls=[40, 10, 25, 1],
    noise=Gaussian(0.05),
)
"""Where the best arm is found late."""
TOLD = HeadStartElimination(initial_pulls=[40, [8, 12], 25, 1], sigma=0.05)


def pulls(bandit: AffinityBandit, policy: Any, horizon: int, engine: str) -> Any:
    result = simulate(bandit, policy, horizon, 2, seed=7, engine=engine, progress=False)
    return [result.runs[0].engine, result.pulls[0, :, -1].tolist()]


def of_policies() -> dict[str, Any]:
    """Return what policies choose: pull by pull and, where it can be, by whole rounds."""
    found = {}
    for name, kind in POLICIES.items():
        examples = kind.examples()
        if "memory" not in kind.told:
            usual = policy_from_json(name, BANDIT)
            examples = [usual, *(one for one in examples if one != usual)]
        for policy in examples:
            made = [pulls(BANDIT, policy, 300, "steps")]
            if isinstance(policy, RoundPolicy) and not policy.told_judges:
                made.append(pulls(BANDIT, policy, 10**6, "auto"))
            found[f"policy {policy}"] = {"pulls": made}
    return found


def found_late() -> dict[str, Any]:
    return {"found late": {"pulls": [pulls(LATE, TOLD, 20_000, "rounds")]}}


def of_models() -> dict[str, Any]:
    """Return what is chosen with each bias and noise."""
    bandits = {}
    for place, bias in enumerate(ONE_OF_EACH):
        bandits[f"bias {place} {bias}"] = AffinityBandit(MEANS, bias=bias, noise="gaussian")
    for place, noise in enumerate(NOISES):
        bandits[f"noise {place} {noise}"] = AffinityBandit(MEANS, bias="power", noise=noise)
    rounds = HeadStartElimination(initial_lead=5, sigma=0.3, failure=0.05)
    return {
        name: {"pulls": [pulls(one, "ucb1", 200, "steps"), pulls(one, rounds, 3_000, "auto")]}
        for name, one in bandits.items()
    }


def choices() -> dict[str, Any]:
    return {"simulation": 1, **of_policies(), **found_late(), **of_models()}


def made(wanted: str = "choices()", change: str = "") -> dict[str, Any]:
    """Return some of it, found without a compiler, which would take longer than that."""
    found: dict[str, Any] = value_without_compiler("tests.simulation.choices", wanted, change)
    return found


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in made().items())
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {STORED.name}")
