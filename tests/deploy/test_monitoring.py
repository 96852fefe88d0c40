"""Alerts and the dashboard: each metric, label and page that they name is there."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.environments import ROOT
from tests.support.web_site import Site, on_site, opened

MONITORING = ROOT / "deploy" / "monitoring"
NAME = re.compile(r"\b(?:affinity_\w+)")
SELECTOR = re.compile(r"(affinity_\w+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)(=~|!=|!~|=)"([^"]*)"')
BY = re.compile(r"by \(([^)]*)\)")
LAST = ("affinity_campaign_findings", "affinity_notices")
"""Those that are there once the service has looked."""
Labels = dict[str, dict[str, set[str]]]


def alerts() -> list[dict[str, object]]:
    groups = yaml.safe_load((MONITORING / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    board = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    shown = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [str(rule["expr"]) for rule in alerts()] + shown


@pytest.fixture(scope="module")
def exposed(dsn: str) -> Labels:
    """What /metrics has: samples, their labels, and the values of these."""
    found: Labels = defaultdict(lambda: defaultdict(set))

    async def look(site: Site) -> None:
        async with site.client(await site.key()) as client:
            campaign = await opened(client)
            asked = await client.post(f"/v1/campaigns/{campaign}/ask", json={"count": 1})
            assert asked.status_code == 200
            async with asyncio.timeout(30):
                text = ""
                while not all(f"{one}{{" in text for one in LAST):
                    await asyncio.sleep(0.05)
                    text = await metrics(site)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found[sample.name].setdefault("", set())
                for label, value in sample.labels.items():
                    found[sample.name][label].add(value)

    async def metrics(site: Site) -> str:
        text = await site.metrics()
        return "\n".join(line for line in text.splitlines() if "affinity_" in line) + "\n"

    on_site(dsn, look)
    return found


def complaints(expression: str, exposed: Labels) -> list[str]:
    """What an expression names that the service does not expose."""
    found = [f"no metric {name}" for name in NAME.findall(expression) if name not in exposed]
    for name, inside in SELECTOR.findall(expression):
        for label, how, value in MATCHER.findall(inside):
            known = exposed.get(name, {}).get(label)
            if known is None:
                found.append(f"{name} has no label {label}")
            elif label in ("kind", "severity", "outcome", "state") and value not in known:
                found.append(f"{label} of {name} is never {value}")
            elif (
                how == "=~" and label == "route" and not any(re.fullmatch(value, k) for k in known)
            ):
                found.append(f"no route is {value}")
    labels = {label for name in NAME.findall(expression) for label in exposed.get(name, ())}
    for group in BY.findall(expression):
        wanted = {one.strip() for one in group.split(",")}
        found += [f"nothing to group by {one}" for one in wanted - labels]
    return found


def test_every_metric_label_and_value_is_there(exposed: Labels) -> None:
    assert len(expressions()) > 20
    assert [one for text in expressions() for one in complaints(text, exposed)] == []


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("max(affinity_rounds_do) > 0", "no metric affinity_rounds_do"),
        ('affinity_answers_total{outcom="late"}', "affinity_answers_total has no label outcom"),
        (
            'affinity_answers_total{outcome="tardy"}',
            "outcome of affinity_answers_total is never tardy",
        ),
        ("sum by (campaign) (affinity_faults_total)", "nothing to group by campaign"),
    ],
)
def test_a_wrong_name_is_seen(expression: str, complaint: str, exposed: Labels) -> None:
    assert complaints(expression, exposed) == [complaint]


def test_every_metric_of_the_service_is_watched_or_shown(exposed: Labels) -> None:
    named = {name for text in expressions() for name in NAME.findall(text)}
    bare = {name.removesuffix("_bucket") for name in named}
    ours = {
        name for name in exposed if not name.endswith(("_created", "_sum", "_count", "_bucket"))
    }
    assert ours - bare == set()


def test_every_alert_says_where_to_read_on_and_the_place_exists() -> None:
    for rule in alerts():
        file, _, anchor = rule["annotations"]["runbook"].partition("#")  # type: ignore[index]
        page = (ROOT / file).read_text(encoding="utf-8")
        heads = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
        assert not anchor or anchor in {one.lower().replace(" ", "-") for one in heads}, rule


def promtool(*words: str) -> subprocess.CompletedProcess[str]:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    return subprocess.run([tool, *words], capture_output=True, text=True, timeout=60, check=False)


def test_prometheus_reads_the_rules_and_the_alerts_go_off_when_they_should() -> None:
    done = promtool("check", "rules", str(MONITORING / "alerts.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
    done = promtool("test", "rules", str(MONITORING / "alerts_test.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_alert_that_does_not_go_off_is_seen(tmp_path: Path) -> None:
    rules = (MONITORING / "alerts.yaml").read_text(encoding="utf-8")
    (tmp_path / "alerts.yaml").write_text(rules.replace("attention) > 0", "attention) > 9"))
    shutil.copy(MONITORING / "alerts_test.yaml", tmp_path)
    assert promtool("test", "rules", str(tmp_path / "alerts_test.yaml")).returncode != 0


def test_every_alert_is_tried() -> None:
    tried = (MONITORING / "alerts_test.yaml").read_text(encoding="utf-8")
    assert [rule["alert"] for rule in alerts() if f"alertname: {rule['alert']}" not in tried] == []
