"""The walkthrough of docs/live.md, run as it stands: a real service, a real database."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from affinity_bandits import simulate
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.planning.files import write_plan
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.store.connection import connect
from tests.support.clients import running

pytestmark = pytest.mark.slow  # it makes a plan and starts processes

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "live.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the guide's `affinity plan` writes."""
    (words,) = re.findall(r"affinity plan (--.*?)--out plan\.toml", GUIDE, flags=re.DOTALL)
    flags = dict(re.findall(r"--([a-z-]+) (\S+)", words))
    assert (flags.pop("scale"), flags.pop("judges")) == ("yes/no", "committee")
    made = make_plan(
        Assumptions(
            groups=int(flags.pop("groups")),
            horizon=int(flags.pop("budget")),
            smallest_difference=float(flags.pop("difference")),
            head_start=int(flags.pop("head-start")),
            steepness=float(flags.pop("steepness")),
            in_flight=int(flags.pop("in-flight")),
        ),
        progress=False,
    )
    assert flags == {}
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    write_plan(made, path)
    return path


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("live_walkthrough", DOCS / "live_walkthrough.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_walkthrough_prints_what_the_guide_shows(
    empty_dsn: str, plan: Path, script: ModuleType, tmp_path: Path
) -> None:
    picture = tmp_path / "live.png"
    done = subprocess.run(
        [sys.executable, DOCS / "live_walkthrough.py", plan, "--picture", picture],
        env=os.environ | {"AFFINITY_DSN": empty_dsn},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (shown,) = re.findall(r"```text\n(the schema.*?)```", GUIDE, flags=re.DOTALL)
    assert done.stdout == shown
    assert picture.read_bytes().startswith(b"\x89PNG")

    # Slot by slot over HTTP, the service chose what the simulator chooses with the same seed.
    expected = simulate(
        script.WORLD,
        {"plan": policy_of(plan)},
        script.HORIZON,
        replicates=1,
        seed=1,
        checkpoints=[script.SHOWN],
        engine="steps",
        progress=False,
    ).pulls[0, 0, 0]
    assert asyncio.run(answers_in(empty_dsn)) == tuple(expected)


def policy_of(plan: Path) -> object:
    import tomllib

    return tomllib.loads(plan.read_text(encoding="utf-8"))["run"]["policies"]["plan"]


async def answers_in(dsn: str) -> tuple[int, ...]:
    pool = await connect(dsn)
    try:
        tenant = await pool.fetchval("SELECT id FROM affinity.tenants")
        (campaign,), _ = await CampaignQueries(pool).campaigns(tenant, None, 2)
        return (await CampaignQueries(pool).answers([campaign]))[campaign.id]
    finally:
        await pool.close()


def test_the_guide_says_how_often_ucb1_is_wrong(plan: Path, script: ModuleType) -> None:
    usual: Counter[int] = Counter()
    times = []
    for seed in range(100):
        result = simulate(
            script.WORLD,
            {"ucb1": "ucb1", "plan": policy_of(plan)},
            script.HORIZON,
            replicates=1,
            seed=seed,
            checkpoints=1,
            engine="steps",
            progress=False,
        )
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


def test_the_python_of_the_guide_runs(
    dsn: str,
    plan: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    example, *_ = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    monkeypatch.chdir(plan.parent)
    with running(dsn) as service:
        monkeypatch.setenv("AFFINITY_URL", service.url)
        monkeypatch.setenv("AFFINITY_KEY", service.key())
        exec(compile(example, "live.md", "exec"), {})
    assert "handed_out=3, answered=3" in capsys.readouterr().out
