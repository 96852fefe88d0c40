"""The public names, and the packages that importing one of them loads."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path

import pytest

import affinity_bandits
from affinity_bandits.base import errors
from affinity_bandits.model import bias
from affinity_bandits.policies import POLICIES
from tests.support.processes import run_python

ROOMS = (
    *("audit", "policies", "simulation", "experiments", "paper", "planning"),
    *("plots", "testing", "theory"),
)
HEAVY = {"numba", "matplotlib", "xarray", "pandas", "scipy", "typer", "rich", "pyarrow", "ray"}
EXTRAS = ["pyarrow", "matplotlib", "ray", "httpx", "asyncpg", "fastapi"]


@pytest.mark.parametrize("name", ["affinity_bandits", *(f"affinity_bandits.{x}" for x in ROOMS)])
def test_all_lists_what_a_module_offers(name: str) -> None:
    module = importlib.import_module(name)
    names: dict[str, object] = {}
    exec(f"from {name} import *", names)
    assert set(module.__all__) <= set(names)
    assert len(set(module.__all__)) == len(module.__all__)
    ours = {
        key
        for key, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith("affinity_bandits")
        and not key.startswith("_")
    }
    assert ours <= set(module.__all__)


def test_a_public_name_is_listed_once_and_is_where_it_is_listed() -> None:
    """A name of the stub that its module does not have would be an error on first use only."""
    stub = Path(affinity_bandits.__file__).with_suffix(".pyi")
    listed = [
        (line.module, name.name)
        for line in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    ]
    names = [name for _, name in listed]
    assert sorted(names) == sorted(affinity_bandits.__all__)
    for room, name in listed:
        place = f"affinity_bandits.{name if room is None else room}"
        found = importlib.import_module(place)
        assert getattr(affinity_bandits, name) is (getattr(found, name) if room else found)


def test_every_policy_bias_and_error_is_a_name_of_the_package() -> None:
    raised = [x for x in vars(errors).values() if inspect.isclass(x) and issubclass(x, Exception)]
    for one in (*POLICIES.values(), *bias.BIASES.values(), *raised):
        assert getattr(affinity_bandits, one.__name__) is one
        assert one.__name__ in dir(affinity_bandits)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="attribute simulat"):
        _ = affinity_bandits.simulat


def loaded_by(statement: str) -> set[str]:
    """Return the packages outside the standard library that a fresh interpreter loads."""
    code = f"import sys; {statement}; print(*(name for name in sys.modules if sys.modules[name]))"
    tops = {name.partition(".")[0] for name in run_python("-c", code).stdout.split()}
    return tops - {*sys.stdlib_module_names, "affinity_bandits", "sitecustomize"}


def test_importing_the_package_loads_nothing_but_its_loader() -> None:
    loaded = loaded_by("import affinity_bandits; dir(affinity_bandits)")
    assert loaded - loaded_by("pass") == {"lazy_loader"}


LIVE = "live = Live(policy_from_json('elimination'), 2, 9); live.tell(live.ask(), 1.0)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "there", "absent"),
    [
        ("import affinity_bandits; affinity_bandits.policies.UCB1()", {"numpy"}, HEAVY),
        (f"from affinity_bandits import Live, policy_from_json; {LIVE}", {"numpy"}, HEAVY),
        ("from affinity_bandits import *", {"numba"}, HEAVY - {"numba", "scipy"}),
        (
            f"sys.modules.update(dict.fromkeys({EXTRAS!r})); from affinity_bandits import *",
            {"numba"},
            set(EXTRAS),
        ),
    ],
)
def test_a_statement_loads_no_more_than_it_needs(
    statement: str, there: set[str], absent: set[str]
) -> None:
    loaded = loaded_by(statement)
    assert there <= loaded
    assert not loaded & absent
