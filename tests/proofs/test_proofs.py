"""The proof assistant accepts every proof, and no theorem rests on an assumption of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.proofs.following import PROOFS, need_coq, run

pytestmark = pytest.mark.slow
GAPS = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|bypass_check)\b"
    r"|Unset (Guard|Positivity|Universe) Checking"
)
COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)


def copied(folder: Path) -> Path:
    """Return a copy of the proofs without anything compiled."""
    return Path(
        shutil.copytree(
            PROOFS, folder / "proofs", ignore=shutil.ignore_patterns("*.vo*", "*.glob", ".*", "tie")
        )
    )


def gaps(folder: Path) -> list[str]:
    """Return where a proof is left out or something is assumed without proof."""
    found = []
    for path in sorted(folder.glob("**/*.v")):
        code = COMMENT.sub("", path.read_text(encoding="utf-8"))
        found += [f"{path.name}: {match[0]}" for match in GAPS.finditer(code)]
    return found


@pytest.mark.long
def test_every_proof_is_accepted_and_rests_on_nothing(tmp_path: Path) -> None:
    need_coq()
    proofs = copied(tmp_path)
    began = time.perf_counter()
    run("make", "-s", cwd=proofs)
    print(f"make proofs: {time.perf_counter() - began:.0f} s")
    told = run("make", "-s", "assumptions", cwd=proofs)
    assert told == (PROOFS / "assumptions.txt").read_text(encoding="utf-8")
    names, rest = told.splitlines()[::2], told.splitlines()[1::2]
    assert len(names) == len(set(names)) >= 16
    assert set(rest) == {"Closed under the global context"}


def test_every_file_is_checked_and_has_its_sentence() -> None:
    project = (PROOFS / "_CoqProject").read_text(encoding="utf-8").split()[3:]
    files = {path.name for path in PROOFS.glob("*.v")}
    assert set(project) == files - {"Assumptions.v"}
    for name in project:
        assert (PROOFS / name).read_text(encoding="utf-8").startswith("(* ")


def test_no_proof_is_left_out() -> None:
    assert gaps(PROOFS) == []


def test_a_proof_that_is_left_out_is_noticed(tmp_path: Path) -> None:
    proofs = copied(tmp_path)
    ville = proofs / "Trees.v"
    text = ville.read_text(encoding="utf-8")
    proof = text[text.index("    intros Hlevel Hpos Hevent") : text.index("  (* The same with a")]
    ville.write_text(text.replace(proof, "  Admitted.\n\n"), encoding="utf-8")
    assert gaps(proofs) == ["Trees.v: Admitted"]
    need_coq()
    (proofs / "Assumptions.v").write_text(
        "From AffinityBandits Require Trees.\nPrint Assumptions Trees.ville.\n", encoding="utf-8"
    )
    for name in ("Trees", "Assumptions"):
        command = ["coqc", "-q", "-Q", ".", "AffinityBandits", f"{name}.v"]
        told = run(*command, cwd=proofs)
    assert told.startswith("Axioms:\nTrees.ville")


def test_a_wrong_theorem_is_refused(tmp_path: Path) -> None:
    need_coq()
    proofs = copied(tmp_path)
    bets = proofs / "Bets.v"
    text = bets.read_text(encoding="utf-8")
    statement = "win stake center p_j * lose stake center p_i <= 1."
    assert text.count(statement) == 1
    bets.write_text(text.replace(statement, statement.replace("1.", "9 # 10.")), encoding="utf-8")
    run("coqc", "-q", "-Q", ".", "AffinityBandits", "Trees.v", cwd=proofs)
    command = ["coqc", "-q", "-Q", ".", "AffinityBandits", "Bets.v"]
    done = subprocess.run(command, check=False, cwd=proofs, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Error" in done.stderr
