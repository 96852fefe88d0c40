"""Play a policy beside the rule that the theorems in `proofs/` are about."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from affinity_bandits.policies import HeadStartElimination, PanelElimination
from affinity_bandits.policies.betting import BettingState, ParallelBettingElimination
from affinity_bandits.policies.leading import CLEARLY
from affinity_bandits.policies.wealth import LOST, log_worth, prior_stakes

PROOFS = Path(__file__).parents[2] / "proofs"
NEAR = 1e-9
"""Distance in log-wealth within which rounding may decide whether a group is dropped. Wealth is a
product of at most some thousand factors, each with a relative error of a few times 1e-16."""

Scores = Callable[[BettingState, list[int], int, int], np.ndarray]
"""Tallies of a round by its state, arms, repetitions and number: [arm, node]."""


def need_coq() -> None:
    """Skip the test where the proof assistant is missing."""
    for program in ("coqc", "coq_makefile", "make"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed: sudo apt-get install coq make")


def need_ocaml() -> None:
    """Skip the test where the extracted rule cannot be compiled."""
    need_coq()
    if shutil.which("ocamlfind") is None:
        pytest.skip("ocamlfind is not installed: sudo apt-get install coq libzarith-ocaml-dev")
    where = subprocess.run(
        ["ocamlfind", "query", "zarith"], check=False, capture_output=True, text=True
    )
    if where.returncode or not Path(where.stdout.strip(), "z.cmi").exists():
        pytest.skip("Zarith is not installed: sudo apt-get install libzarith-ocaml-dev")


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(folder: Path, change: tuple[str, str] | None = None) -> Path:
    """Extract the rule, compile it and return the program.

    Args:
        folder: an empty one.
        change: a piece of Rule.v and what replaces it, for a rule that differs from the proven one.
    """
    for name in ("Trees.v", "Bets.v", "Rule.v", "tie/Extract.v", "tie/follow.ml"):
        shutil.copy(PROOFS / name, folder)
    if change is not None:
        rule = folder / "Rule.v"
        text = rule.read_text(encoding="utf-8")
        assert text.count(change[0]) == 1
        rule.write_text(text.replace(*change), encoding="utf-8")
    for name in ("Trees", "Bets", "Rule", "Extract"):
        run("coqc", "-q", "-Q", ".", "AffinityBandits", f"{name}.v", cwd=folder)
    (folder / "rule.mli").unlink(missing_ok=True)
    command = ["ocamlfind", "ocamlopt", "-package", "zarith", "-linkpkg"]
    run(*command, "rule.ml", "follow.ml", "-o", "follow", cwd=folder)
    return folder / "follow"


@dataclass
class Comparison:
    """What was compared, and where the two differed."""

    histories: int = 0
    rounds: int = 0
    drops: int = 0
    leaders: int = 0
    near: int = 0
    """Rounds that were not compared because a wealth was within `NEAR` of the threshold."""
    widest: float = 0.0
    """Largest difference of logarithms of wealth."""
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.histories} histories, {self.rounds} rounds, {self.drops} groups dropped,"
            f" {self.leaders} leaders named; {self.near} rounds within {NEAR} of the threshold;"
            f" logarithms of wealth differ by at most {self.widest:.1e};"
            f" {len(self.differences)} histories differ"
        )


class Follower:
    """The compiled rule, which is told histories and answers with plans and wealths."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout

    def close(self) -> None:
        self.input.close()
        self.process.wait()
        self.output.close()

    def ask(self, *lines: str) -> tuple[str, list[float]]:
        """Send lines; return plan, active groups and leader as a text, and the log-wealths."""
        self.input.write("".join(f"{line}\n" for line in lines))
        self.input.flush()
        *said, wealths = self.output.readline().split(";")
        return ";".join(said), [float(one) for one in wealths.split()]

    def end(self) -> None:
        self.input.write("end\n")


def fraction(value: float | Fraction) -> str:
    exact = Fraction(value)
    return f"{exact.numerator}/{exact.denominator}"


def settings_of(policy: ParallelBettingElimination, state: BettingState) -> list[str]:
    """Return the policy's settings as the lines that begin a history."""
    assert policy.failure is not None
    arms = len(state.pulls)
    _, prior = prior_stakes(0.0, False, None)
    parts = [Fraction(one) for one in prior]
    parts[0] = 1 - sum(parts[1:])  # cash takes what rounding left
    clearly = [
        CLEARLY * (1.0 + math.sqrt(2.0 * math.log(left))) if left > 0 else 0.0
        for left in range(arms + 1)
    ]
    kind = "recusal"
    if isinstance(policy, HeadStartElimination):
        kind = "head-start"
    elif isinstance(policy, PanelElimination):
        kind = "panel"
    return [
        f"{kind} {arms} {policy.in_flight or 1} {fraction(1 / Fraction(policy.failure))}",
        " ".join(map(str, state.fewest.tolist())),
        " ".join(map(str, state.most.tolist())),
        " ".join(map(fraction, state.stakes.tolist())),
        " ".join(map(fraction, parts)),
        " ".join(fraction(Fraction(one) ** 2) for one in clearly),
        fraction(math.exp(LOST)),
    ]


def told(policy: ParallelBettingElimination, state: BettingState) -> str:
    """Return plan, active groups and leader as the follower writes them."""
    left = int(state.left[0])
    active = ",".join(map(str, state.active[:left].tolist()))
    arms, repetitions = policy.kernels().plan(state)
    plan = f"{int(repetitions)} of {','.join(map(str, arms.tolist()))}" if left > 1 else "over"
    return f"{plan}; {active}; {int(state.leader[0])}"


def compare(
    policy: ParallelBettingElimination,
    arms: int,
    scores: Scores,
    follower: Follower,
    found: Comparison,
    *,
    rounds: int,
    random: np.random.Generator,
) -> None:
    """Play one history on both sides and record the first difference."""
    kernels = policy.kernels()
    state = policy.start(arms, 10**6)
    said, _ = follower.ask(*settings_of(policy, state))
    found.histories += 1
    for number in range(rounds):
        expected = told(policy, state)
        if said.strip() != expected:
            found.differences.append(f"{policy}, round {number}: {expected!r}, proven: {said!r}")
            break
        if state.left[0] == 1:
            break
        seats = random.integers(0, 4, arms)
        if policy.told_judges:
            kernels.meet(state, seats)
        planned, repetitions = kernels.plan(state)
        tallies = scores(state, planned.tolist(), int(repetitions), number)
        before, led = int(state.left[0]), int(state.leader[0])
        kernels.absorb(state, tallies.astype(np.float64).ravel())
        lines = (" ".join(map(str, one)) for one in (seats.tolist(), tallies.ravel().tolist()))
        said, wealths = follower.ask(*lines)
        found.rounds += 1
        found.drops += before - int(state.left[0])
        found.leaders += int(state.leader[0]) != led
        ours = [log_worth(state, arm) for arm in range(arms)]
        found.widest = max(found.widest, *(abs(a - b) for a, b in zip(ours, wealths, strict=True)))
        if any(abs(one - state.log_threshold) <= NEAR for one in wealths):
            found.near += 1
            break
    follower.end()
