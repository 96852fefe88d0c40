"""Clients that others generate from /openapi.json: typed throughout, and they work."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from affinity_bandits_service.http import create_app
from tests.support.clients import RANGES, ROUNDS, Service, planned
from tests.support.declared import DECLARED

pytestmark = pytest.mark.slow
METHODS = {"get", "post"}
TYPESCRIPT = Path(__file__).parent / "generated_client.ts"
PYTHON_TOOL = "openapi-python-client==0.29.1"
TOOLS = ["@hey-api/openapi-ts@0.95.0", "typescript@5"]


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return create_app("postgresql://127.0.0.1:1/none").openapi()


def operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in description["paths"].values():
        yield from (one for method, one in path.items() if method in METHODS)


@pytest.fixture(scope="module")
def generated(
    description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The package that openapi-python-client makes."""
    place = tmp_path_factory.mktemp("generated")
    # An environment of its own: it wants an older typer than the package is checked with.
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, place / "venv"], check=True)
    python = str(place / "venv" / "bin" / "python")
    install = [*uv, "pip", "install", "--quiet", "--python", python, PYTHON_TOOL]
    if subprocess.run(install, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"no registry has {PYTHON_TOOL}")
    (place / "openapi.json").write_text(json.dumps(description), encoding="utf-8")
    command = [python, "-m", "openapi_python_client", "generate", "--path", "openapi.json"]
    done = subprocess.run(
        [*command, "--meta", "none", "--output-path", "made_client"],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    # Of the two names of lines it knows one; nothing else may be missing.
    assert done.stdout.count("WARNING") <= done.stdout.count("application/x-ndjson"), done.stdout
    sys.path.insert(0, str(place))
    yield "made_client"
    sys.path.remove(str(place))


def module_of(package: str, operation: dict[str, Any]) -> ModuleType:
    name = f"{package}.api.{operation['tags'][0]}.{operation['operationId']}"
    return importlib.import_module(name)


def test_every_operation_has_a_name_that_reads_well(description: dict[str, Any]) -> None:
    names = [one["operationId"] for one in operations(description)]
    assert sorted(names) == [
        *("ask", "ask_block", "create_campaign", "create_webhook", "get_campaign"),
        *("list_campaigns", "list_events", "list_rounds", "list_webhooks", "name_judges"),
        *("release", "remove_webhook", "retry_webhook", "stop_campaign", "tell", "tell_block"),
        "tell_many",
    ]


def test_every_body_and_reply_in_python_is_typed(
    generated: str, description: dict[str, Any]
) -> None:
    for operation in operations(description):
        call = inspect.signature(module_of(generated, operation).sync)
        assert "Any" not in str(call.return_annotation), operation["operationId"]
        assert "Problem" in str(call.return_annotation), operation["operationId"]
        assert ("body" in call.parameters) == ("requestBody" in operation)
        if "requestBody" in operation:
            assert inspect.isclass(call.parameters["body"].annotation)


def test_the_python_client_makes_a_campaign_asks_and_tells(
    generated: str, service: Service
) -> None:
    models = importlib.import_module(f"{generated}.models")
    made = importlib.import_module(f"{generated}.client")
    api = {
        name: importlib.import_module(f"{generated}.api.{name}").sync
        for name in ("campaigns.create_campaign", "slots.ask", "slots.tell", "slots.tell_many")
    }
    with made.AuthenticatedClient(base_url=service.url, token=service.key()) as client:
        body = models.CreateCampaign(
            name="generated",
            arms=["a", "b"],
            policy=models.Policy.from_dict(ROUNDS),
            horizon=1000,
            declaration=models.DeclareUse.from_dict(DECLARED.to_json()),
        )
        campaign = api["campaigns.create_campaign"](client=client, body=body)
        assert isinstance(campaign, models.Campaign)

        def call(name: str, body: Any) -> Any:
            return api[f"slots.{name}"](campaign.id, client=client, body=body)

        first, second = (call("ask", models.Ask(count=1)) for _ in range(2))
        assert isinstance(first, models.Lease)
        score = models.SlotScore(slot=first.slots[0].slot, score=0.5)
        told = call("tell", models.Tell(lease=first.lease, answers=[score]))
        assert isinstance(told, models.Told)
        assert told.counted == 1
        count = models.ScoreCount(score=0.25, count=1)
        total = models.Total(arm=second.slots[0].arm, scores=[count])
        line = call("tell_many", models.TellLine(lease=second.lease, totals=[total]))
        assert isinstance(line, models.ToldLine)
        assert (line.line, line.status, line.counted) == (1, 200, 1)
        again = call("tell", models.Tell(lease=99, answers=[score]))
        assert isinstance(again, models.Problem)
        assert again.code == "no_such_lease"
    assert service.differences(str(campaign.id)) == ()


@pytest.mark.parametrize(("lowest", "highest"), RANGES)
def test_the_python_client_makes_a_campaign_of_a_plan(
    generated: str, service: Service, lowest: float, highest: float
) -> None:
    models = importlib.import_module(f"{generated}.models")
    made = importlib.import_module(f"{generated}.client")
    create = importlib.import_module(f"{generated}.api.campaigns.create_campaign").sync
    plan = models.Plan.from_dict(planned(lowest, highest) | {"declaration": DECLARED.to_json()})
    with made.AuthenticatedClient(base_url=service.url, token=service.key()) as client:
        body = models.CreateCampaign(name="planned", arms=["a", "b"], plan=plan)
        campaign = create(client=client, body=body)
    assert isinstance(campaign, models.Campaign), campaign
    assert (campaign.lowest, campaign.highest) == (lowest, highest)


@pytest.mark.nightly
def test_the_typescript_client_makes_a_campaign_asks_and_tells(
    description: dict[str, Any], service: Service, tmp_path: Path
) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    install = ["npm", "install", "--no-audit", "--no-fund", *TOOLS]
    if subprocess.run(install, cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("the registry of npm has no @hey-api/openapi-ts")
    (tmp_path / "openapi.json").write_text(json.dumps(description), encoding="utf-8")
    shutil.copy(TYPESCRIPT, tmp_path / "use.ts")
    tools = tmp_path / "node_modules" / ".bin"
    compiling = ["--strict", "--target", "es2022", "--module", "commonjs", "--skipLibCheck"]
    for command in (
        [tools / "openapi-ts", "-i", "openapi.json", "-o", "generated"],
        [tools / "tsc", *compiling, "--outDir", "out", "use.ts"],
        ["node", "out/use.js"],
    ):
        environment = os.environ | {"AFFINITY_URL": service.url, "AFFINITY_KEY": service.key()}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout) == {"status": "leased", "counted": 1, "line": 200}
