"""What can be imported from where, and what importing the package costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import affinity_bandits
from affinity_bandits import bias, errors
from affinity_bandits.policies import POLICIES

EXTRAS = ["pyarrow", "matplotlib", "ray", "httpx", "asyncpg", "fastapi"]
MODULES = [
    "affinity_bandits",
    "affinity_bandits.audit",
    "affinity_bandits.client",
    "affinity_bandits.policies",
    "affinity_bandits.simulation",
    "affinity_bandits.studies",
    "affinity_bandits.experiments",
    "affinity_bandits.paper",
    "affinity_bandits.planning",
    "affinity_bandits.plots",
    "affinity_bandits.testing",
    "affinity_bandits.theory",
]
HEAVY = ["numba", "matplotlib", "xarray", "pandas", "scipy", "typer", "rich", "pyarrow", "ray"]


def sorted_as_by_ruff(names: list[str]) -> list[str]:
    """Constants, then classes, then the rest, as ruff's RUF022 puts them."""
    return sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_resolves(name: str) -> None:
    module = importlib.import_module(name)
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_sorted_and_without_repetition(name: str) -> None:
    names = importlib.import_module(name).__all__
    assert len(set(names)) == len(names)
    if name != "affinity_bandits":  # has them by rooms
        assert names == sorted_as_by_ruff(names)


def test_type_checkers_are_told_the_names_that_load_late_and_of_the_same_rooms() -> None:
    """A name that only one of the two knows is a type error, or an error when it is used."""
    stub = ast.parse(Path(affinity_bandits.__file__).with_suffix(".pyi").read_text("utf-8"))
    told = {
        (name.name, line.module)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
    at_once = {name for name in affinity_bandits.__all__ if name not in affinity_bandits._ROOM_OF}
    late = {(name, f"affinity_bandits.{room}") for name, room in affinity_bandits._ROOM_OF.items()}
    assert late == {(name, module) for name, module in told if name not in at_once}
    (shown,) = (ast.literal_eval(line.value) for line in stub.body if isinstance(line, ast.Assign))
    assert sorted(shown) == sorted(affinity_bandits.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_whatever_of_ours_a_module_shows_is_public(name: str) -> None:
    module = importlib.import_module(name)
    shown = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith("affinity_bandits")
    }
    assert shown <= set(module.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_a_star_import_brings_the_public_names(name: str) -> None:
    names: dict[str, object] = {}
    exec(f"from {name} import *", names)
    assert set(importlib.import_module(name).__all__) <= set(names)


def test_every_policy_of_the_catalogue_is_exported() -> None:
    policies = importlib.import_module("affinity_bandits.policies")
    for name, policy in POLICIES.items():
        assert policy.name == name
        assert policy.__name__ in policies.__all__
        assert getattr(policies, policy.__name__) is policy


def test_every_policy_bias_and_error_is_a_name_of_the_package() -> None:
    wanted = [
        *POLICIES.values(),
        *bias.BIASES.values(),
        *(
            one
            for one in vars(errors).values()
            if inspect.isclass(one) and issubclass(one, Exception)
        ),
    ]
    for one in wanted:
        assert one.__name__ in affinity_bandits.__all__
        assert getattr(affinity_bandits, one.__name__) is one


@pytest.mark.parametrize("room", ["simulation", "planning", "experiments", "plots"])
def test_a_name_that_loads_late_is_that_of_its_room(room: str) -> None:
    module = importlib.import_module(f"affinity_bandits.{room}")
    shared = set(module.__all__) & set(affinity_bandits.__all__)
    assert len(shared) >= 3
    for name in shared:
        assert getattr(affinity_bandits, name) is getattr(module, name)


def test_the_directory_of_the_package_is_its_public_names() -> None:
    assert sorted(affinity_bandits.__all__) == dir(affinity_bandits)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = affinity_bandits.simulat


def loaded_after(statement: str) -> set[str]:
    """The heavy modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*(name for name in {HEAVY!r} if sys.modules.get(name)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


def others_after(statement: str) -> set[str]:
    """The packages that are not of the standard library and that a statement loads."""
    code = (
        f"import sys; before = {{*sys.modules}}; {statement}; "
        "tops = {name.partition('.')[0] for name in {*sys.modules} - before}; "
        "print(*(tops - {*sys.stdlib_module_names}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split()) - {"affinity_bandits"}


@pytest.mark.slow
def test_importing_the_package_loads_no_other_package() -> None:
    assert others_after("import affinity_bandits") == set()
    assert "numpy" in others_after("from affinity_bandits import UCB1")


@pytest.mark.slow
def test_importing_the_client_loads_no_numpy() -> None:
    loaded = others_after("import affinity_bandits.client")
    assert "httpx" in loaded
    assert "numpy" not in loaded


@pytest.mark.slow
def test_a_room_is_there_without_having_been_imported() -> None:
    assert others_after("import affinity_bandits; affinity_bandits.policies.UCB1()") == {"numpy"}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import affinity_bandits") == set()


def test_looking_at_the_names_loads_nothing_heavy() -> None:
    assert loaded_after("import affinity_bandits; dir(affinity_bandits)") == set()


@pytest.mark.slow
def test_a_policy_loads_nothing_heavy() -> None:
    assert loaded_after("from affinity_bandits import UCB1, Power, InvalidInput; UCB1()") == set()


@pytest.mark.slow
def test_a_star_import_loads_the_compiler_and_what_that_loads() -> None:
    alone = loaded_after("import numba")
    assert loaded_after("from affinity_bandits import *") == alone
    assert alone <= {"numba", "scipy"}


@pytest.mark.slow
def test_a_star_import_needs_no_extra() -> None:
    without = f"sys.modules.update(dict.fromkeys({EXTRAS!r}))"
    assert "numba" in loaded_after(f"{without}; from affinity_bandits import *")


@pytest.mark.slow
def test_a_live_run_needs_nothing_heavy() -> None:
    # It is what a service would import: no compiler, no plotting.
    statement = (
        "from affinity_bandits import Live, policy_from_json; "
        "live = Live(policy_from_json('elimination'), 2, 100); "
        "live.tell(live.ask(), 1.0); live.to_json()"
    )
    assert loaded_after(statement) == set()
