"""The walkthrough of docs/run/live-example.md, as it stands: a real service, a real database."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affinity_bandits import simulate
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.store.connection import connect
from tests.support.environments import ROOT

pytestmark = pytest.mark.slow  # makes a plan and starts processes

DOCS = ROOT / "docs"
SCRIPT = ROOT / "examples" / "live_walkthrough.py"
GUIDE = (DOCS / "run" / "live-example.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the guide's `affinity plan` writes."""
    folder = tmp_path_factory.mktemp("plan")
    (words,) = re.findall(r"\$ affinity (plan --.*?--out plan\.toml)", GUIDE, flags=re.DOTALL)
    command = Path(sys.executable).with_name("affinity")
    subprocess.run([command, *shlex.split(words.replace("\\\n", ""))], cwd=folder, check=True)
    return folder / "plan.toml"


def run(plan: Path, seed: int, **settings: Any) -> Any:
    """Simulate the walkthrough's world; return the result and the script's names."""
    spec = importlib.util.spec_from_file_location("live_walkthrough", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    policies = {
        "ucb1": "ucb1",
        "plan": tomllib.loads(plan.read_text(encoding="utf-8"))["run"]["policies"]["plan"],
    }
    options = {"replicates": 1, "engine": "steps", "progress": False} | settings
    return simulate(script.WORLD, policies, script.HORIZON, seed=seed, **options), script


def test_the_service_chooses_what_the_simulator_chooses(
    empty_dsn: str, plan: Path, tmp_path: Path
) -> None:
    subprocess.run(
        [sys.executable, SCRIPT, plan, "--picture", tmp_path / "live.png"],
        env=os.environ | {"AFFINITY_DSN": empty_dsn},
        check=True,
        capture_output=True,
        timeout=300,
    )
    _, script = run(plan, 1, checkpoints=1)
    expected, _ = run(plan, 1, checkpoints=[script.SHOWN])
    assert asyncio.run(answers_in(empty_dsn)) == tuple(expected.pulls[1, 0, 0])


async def answers_in(dsn: str) -> tuple[int, ...]:
    pool = await connect(dsn)
    try:
        tenant = await pool.fetchval("SELECT id FROM affinity.tenants")
        (campaign,), _ = await CampaignQueries(pool).campaigns(tenant, None, 2)
        return tuple(arm.answers for arm in campaign.arms)
    finally:
        await pool.close()


def test_the_guide_says_how_often_ucb1_is_wrong(plan: Path) -> None:
    usual: Counter[int] = Counter()
    times = []
    for seed in range(100):
        result, script = run(plan, seed, checkpoints=1)
        best = script.SOURCES.index("open call")
        usual[int(result.pulls[0, 0, -1].argmax())] += 1
        assert result.candidates[1, 0].tolist() == [0, 1, 0]
        fewest, fewer = sorted(np.delete(result.pulls[1, 0, -1], best).tolist())
        times.append(2 * fewer + fewest)  # the best kept pace with the last to be dropped
    wrong = sum(usual.values()) - usual[best]
    row = f"**{wrong} of 100** | **0 of 100** | **{int(np.median(times)):,}** |"
    assert row in GUIDE
    assert f"after {min(times):,} to {max(times):,} answers" in re.sub(r"\s+", " ", GUIDE)
    assert times[1] < script.SHOWN  # the seed that is shown decides while it is watched
