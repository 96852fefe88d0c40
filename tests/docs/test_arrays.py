"""The batch jobs that a page prints, each run by a shell loop over their numbers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from affinity_bandits.experiments import Store
from tests.support.environments import ROOT

PAGE = (ROOT / "docs" / "study" / "sweeps-cluster.md").read_text(encoding="utf-8")
SPEC = """
replicates = 4
[axes]
policy = ["uniform", "ucb1"]
horizon = [100, 200]
[fixed]
"bandit.true_means" = [0.4, 0.6]
"""


def block(begin: str) -> str:
    (found,) = re.findall(
        rf"^```text\n({re.escape(begin)}.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
    )
    return str(found)


def shell(folder: Path, script: str, **variables: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("system", ["slurm", pytest.param("kubernetes", marks=pytest.mark.nightly)])
def test_the_jobs_leave_the_store_of_one_run(tmp_path: Path, system: str) -> None:
    (tmp_path / "heads.toml").write_text(SPEC, encoding="utf-8")
    shell(tmp_path, "affinity sweep run heads.toml --store whole --workers 1")
    if system == "slurm":
        script = block("#!/bin/bash")
        (count,) = re.findall(r"^#SBATCH --array=1-(\d+)$", script, re.MULTILINE)
        (cores,) = re.findall(r"^#SBATCH --cpus-per-task=(\d+)$", script, re.MULTILINE)
        (tmp_path / "sweep.sh").write_text(script, encoding="utf-8")
        loop = f"for i in $(seq {count}); do SLURM_ARRAY_TASK_ID=$i bash sweep.sh; done"
        found = {"SLURM_ARRAY_TASK_COUNT": count, "SLURM_CPUS_PER_TASK": cores}
        printed, store = shell(tmp_path, loop, **found), "heads.store"
    else:
        job = yaml.safe_load(block("apiVersion: batch/v1"))["spec"]
        count = str(job["completions"])
        (container,) = job["template"]["spec"]["containers"]
        (words,) = container["args"]
        words = words.replace("/sweeps/heads.toml", "heads.toml").replace("s3://", "")
        (tmp_path / "job.sh").write_text(words, encoding="utf-8")
        loop = f"for i in $(seq 0 $(({count} - 1))); do JOB_COMPLETION_INDEX=$i sh job.sh; done"
        printed, store = shell(tmp_path, loop), "bucket/sweeps/heads"
    runs = re.findall(r"part (\d+)/(\d+) of 4 cells: 0 replicates were there, (\d+) were", printed)
    assert [(part, of) for part, of, _ in runs] == [(str(i + 1), count) for i in range(int(count))]
    assert sum(int(run) for _, _, run in runs) == 16
    assert Store(tmp_path / store).content_hash() == Store(tmp_path / "whole").content_hash()


def test_kubernetes_knows_every_field_of_the_job(tmp_path: Path) -> None:
    validate = shutil.which("kubernetes-validate")
    if validate is None:
        pytest.skip("kubernetes-validate is not installed (PyPI)")
    job = tmp_path / "job.yaml"
    job.write_text(block("apiVersion: batch/v1"), encoding="utf-8")
    assert subprocess.run([validate, "--strict", job], check=False).returncode == 0
    job.write_text(job.read_text().replace("completionMode", "completionKind"), encoding="utf-8")
    assert subprocess.run([validate, "--strict", job], check=False).returncode != 0
