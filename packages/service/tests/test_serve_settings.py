"""Settings of `affinity serve`: a flag before a variable before a file before the default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_service.cli import Setting, app, settings_of
from tests.support.environments import ROOT

COMMAND = get_command(app)
ALL = settings_of(COMMAND)
VALUES = {
    "text": ("postgres://one", "postgres://two", "postgres://three"),
    "integer": (21, 22, 23),
    "float": (2.5, 3.5, 4.5),
    "boolean": (True, True, True),
}
"""For the file, the variable and the flag."""


def shown(*arguments: str, **variables: str) -> dict[str, tuple[str, str]]:
    """What `affinity serve settings` prints: value and source by name."""
    done = CliRunner().invoke(app, [*arguments, "settings"], env=variables, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = {}
    for line in done.stdout.splitlines():
        name, rest = line.split(maxsplit=1)
        value, _, source = rest.rpartition("  (")
        found[name] = (value, source.rstrip(")"))
    return found


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in ALL:
        monkeypatch.delenv(one.variable, raising=False)


def written(path: Path, **settings: object) -> str:
    path.write_text("".join(f"{name} = {json.dumps(one)}\n" for name, one in settings.items()))
    return str(path)


def text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("one", [one for one in ALL if one.name != "config"], ids=lambda o: o.name)
def test_each_setting_is_taken_in_one_order(one: Setting, tmp_path: Path) -> None:
    in_file, in_variable, in_flag = VALUES[one.kind]
    config = written(tmp_path / "settings.toml", **{one.name: in_file})
    flag = [one.flag] if one.kind == "boolean" else [one.flag, str(in_flag)]
    variable = {one.variable: text(in_variable)}
    assert shown()[one.name] == (one.default, "default")
    assert shown("--config", config)[one.name] == (text(in_file), "file")
    assert shown(AFFINITY_CONFIG=config)[one.name] == (text(in_file), "file")
    assert shown("--config", config, **variable)[one.name] == (text(in_variable), "variable")
    everything = shown("--config", config, *flag, **variable)
    assert everything[one.name] == (text(in_flag), "flag")


def test_every_option_is_a_setting_and_its_variable_is_named_after_it() -> None:
    options = {one.name for one in COMMAND.params if "completion" not in (one.name or "")}
    assert options == {one.name for one in ALL}
    for one in ALL:
        assert one.variable == f"AFFINITY_{one.name.upper()}"
        assert one.flag == "--" + one.name.replace("_", "-")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prot": 1}, "did you mean 'port'?"),
        ({"config": "other.toml"}, "'config'"),
        ({"port": True}, "port in {} must be a whole number, got 'bool'"),
        ({"port": "80"}, "port in {} must be a whole number, got 'str'"),
        ({"quiet": 1}, "quiet in {} must be true or false, got 'int'"),
        ({"dsn": ["postgresql://u:secret@h/d"]}, "dsn in {} must be a text, got 'list'"),
    ],
)
def test_a_mistake_in_the_file_is_named(
    settings: dict[str, object], words: str, tmp_path: Path
) -> None:
    config = written(tmp_path / "settings.toml", **settings)
    with pytest.raises(InvalidInput) as found:
        shown("--config", config)
    assert words.format(config) in str(found.value)
    assert "secret" not in str(found.value)


def test_what_is_no_toml_is_said(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("port: 80")
    with pytest.raises(InvalidInput, match="a TOML file"):
        shown("--config", str(tmp_path / "s"))


def test_variables_that_are_no_settings_are_warned_about() -> None:
    given = {"AFFINITY_ADMIN_PROT": "9", "AFFINITY_DSN": "d", "AFFINITY_KEY": "k", "PORT": "1"}
    done = CliRunner().invoke(app, ["settings"], env=given)
    assert json.loads(done.stderr) == {
        "level": "warning",
        "event": "unknown setting",
        "variable": "AFFINITY_ADMIN_PROT",
        "did_you_mean": "AFFINITY_ADMIN_PORT",
    }
    assert done.exit_code == 0


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:secret@h/d",
        "postgresql://u:secret#1@h/d",
        "postgresql://u:2/secret@h/d",
        "postgresql://h/d?password=secret",
        "postgresql://h/d?pass%77ord=secret",
        "host=h password=secret",
        "postgres host=h password=secret",
        "u:secret@h/d",
        "secret",
    ],
)
def test_a_password_is_not_shown(dsn: str) -> None:
    assert "secret" not in shown(AFFINITY_DSN=dsn)["dsn"][0]


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://127.0.0.1:5432/d",
        "postgres://u@h:5432/d?sslmode=require",
        "postgres://[::1]/d",
    ],
)
def test_a_dsn_without_a_password_is_shown(dsn: str) -> None:
    assert shown(AFFINITY_DSN=dsn)["dsn"][0] == dsn


def test_the_table_of_the_documentation_is_that_of_the_command() -> None:
    page = (ROOT / "docs" / "reference" / "service-settings.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and "`AFFINITY_" in line]
    assert rows == [
        f"| `{one.name}` | `{one.flag}` | `{one.variable}` | {one.default} | {one.help} |"
        for one in ALL
    ]
