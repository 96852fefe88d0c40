"""What users declare decides what may be compared or audited; no name of a group does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from affinity_bandits.base.declaration import EXAMPLES, Declaration
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.planning import make_plan
from affinity_bandits.planning.files import plan_from_toml, plan_to_toml
from affinity_bandits_client.messages import CreateCampaign
from affinity_bandits_client.messages import Plan as PlanMessage
from affinity_bandits_client.messages.campaigns import EXAMPLE
from affinity_bandits_service.core.spec import CampaignSpec, read_spec
from tests.cli.inside import Done, inside
from tests.planning.assumed import TINY as ASSUMED

SOURCES = Declaration("sources of candidates", "head of recruiting", "where to look next year")
SEXES = replace(SOURCES, groups_are="men and women", protected=True)
MONITORED = replace(SEXES, purpose="Monitoring equality of interviews, 2026")
TINY = ("plan", "--scale", "yes/no", "--budget", "300", "--difference", "0.5", "--judges", "panels")
LOG = "candidate,group,judge,judge group,score\n" + "".join(
    f"c{n},{('Frauen', 'Maenner')[n % 2]},j{j},{('Frauen', 'Maenner')[j % 2]},{1 + (n + j) % 5}\n"
    for n in range(40)
    for j in range(2)
)


def flags(declared: Declaration) -> list[str]:
    said = declared.to_json()
    found = ["--protected"] if said.pop("protected") else []
    return [*found, *(word for name, one in said.items() for word in (as_flag(name), one))]


def as_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(*words: object) -> Done:
    return inside(words, {"NO_COLOR": "1"})


def test_a_comparison_of_protected_attributes_is_refused_with_the_reason() -> None:
    SOURCES.check_comparison()
    for declared in (SEXES, MONITORED):
        with pytest.raises(InvalidInput, match=r"drops whole groups.*discrimination"):
            declared.check_comparison()
    done = run(*TINY, "--groups", "A,B", *flags(SEXES))
    assert done.returncode == 2
    assert "protected must be false for a plan or a campaign" in done.stderr


def test_an_audit_of_protected_attributes_must_monitor_equality(tmp_path: Path) -> None:
    SOURCES.check_audit()
    MONITORED.check_audit()
    with pytest.raises(InvalidInput, match="monitoring equality"):
        SEXES.check_audit()
    log, kept = tmp_path / "log.csv", tmp_path / "audit.json"
    log.write_text(LOG, encoding="utf-8")
    assert run("audit", log, "--scale", "1..5", *flags(SEXES)).returncode == 2
    done = run("audit", log, "--scale", "1..5", "--json", kept, *flags(MONITORED))
    assert done.returncode == 0, done.stderr
    # What was audited so cannot become a comparison.
    done = run(*TINY[:1], "--from", kept, *TINY[3:])
    assert done.returncode == 2
    assert "discrimination" in done.stderr


@pytest.mark.slow
def test_names_decide_nothing() -> None:
    """A name says little, and in many languages: "Frauen", "women", "group 1"."""
    done = run(*TINY, "--groups", "men,women")
    assert done.returncode == 0, done.stderr
    assert "Not declared yet: what the groups are" in done.stdout


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"groups_are": "sources"}, "responsible and purpose must be given"),
        ({**SOURCES.to_json(), "reason": "x"}, "declaration must be a table of groups_are"),
        ({**SOURCES.to_json(), "purpose": " "}, "purpose must be a text of 1 to 200"),
        ({**SOURCES.to_json(), "purpose": "a\x00b"}, "purpose must be a text of 1 to 200"),
        ({**SOURCES.to_json(), "protected": "no"}, "protected must be true or false"),
        ([], "declaration must be a table"),
    ],
)
def test_a_declaration_is_whole_or_refused(data: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Declaration.from_json(data)


@pytest.mark.slow
def test_it_goes_from_the_plan_to_the_campaign_and_its_trail() -> None:
    tiny = make_plan(ASSUMED, progress=False)
    text = plan_to_toml(replace(tiny, declaration=SOURCES))
    assert plan_from_toml(text).declaration == SOURCES
    assert plan_from_toml(plan_to_toml(tiny)).declaration is None
    body = CreateCampaign(name="x", arms=("A", "B"), plan=PlanMessage.from_toml(text))
    spec = read_spec(body)
    assert spec.declaration == SOURCES
    described = spec.to_json()  # what the first event of the trail records
    assert described["declaration"] == SOURCES.to_json()
    assert CampaignSpec.from_json(described) == spec
    with pytest.raises(InvalidInput, match="discrimination"):
        replace(spec, declaration=SEXES)
    with pytest.raises(InvalidInput, match="discrimination"):
        replace(tiny, declaration=SEXES)


def test_a_campaign_may_be_declared_without_a_plan() -> None:
    body = CreateCampaign(
        name="x",
        arms=("A", "B"),
        policy={"name": "elimination"},
        horizon=100,
        declaration=SOURCES.to_json(),
    )
    assert read_spec(body).declaration == SOURCES
    assert EXAMPLE == EXAMPLES
    with pytest.raises(ValidationError, match="declaration must be given, such as"):
        CreateCampaign(name="x", arms=("A", "B"), policy={"name": "elimination"}, horizon=100)
