"""A cell of a user's own code is that code: edited, it is another cell."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Clipped, Custom, Power, digests
from affinity_bandits.digests import own_code
from affinity_bandits.errors import NotSupported
from affinity_bandits.experiments import (
    Cell,
    Experiment,
    Planned,
    Store,
    Sweep,
    cell_summaries,
    run_cells,
    run_experiment,
    work,
    write_table,
)
from affinity_bandits.experiments.summaries import earlier_code
from affinity_bandits.policies import EXP3, POLICIES, UCB1, DebiasedUCBV
from affinity_bandits.simulation import simulate
from tests.experiments.own_code import FILES, edited, in_a_process, loaded, write

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])

EDITS = {
    "a constant": ("mine", "FIRST = 0", "FIRST = 1"),
    "a constant of another type": ("mine", "FIRST = 0", "FIRST = 0.0"),
    "a set": ("mine", '{"a", "b", "c"}', '{"a", "b", "d"}'),
    "a table": ("mine", '{"step": 1, "other": 2}', '{"step": 1, "other": 3}'),
    "the order of a table": ("mine", '{"step": 1, "other": 2}', '{"other": 2, "step": 1}'),
    "an array": ("mine", "np.array([1.0, 2.0])", "np.array([1.0, 2.5])"),
    "the type of an array": ("mine", "np.array([1.0, 2.0])", "np.array([1, 2])"),
    "an enumeration": ("mine", "SLOW = 1", "SLOW = 3"),
    "select": ("mine", "best = arm", "best = arm + 0"),
    "update, inherited": ("mine", "state.pulls[arm] += 1", "state.pulls[arm] += 2"),
    "a method that is inherited": ("mine", "return counts(arms)", "return counts(arms + 1)"),
    "a class variable that is inherited": ("mine", "limit: ClassVar[int] = 7", "limit = 8"),
    "a class variable": ("mine", "eliminates: ClassVar[bool] = False", "eliminates = True"),
    "the base class": ("mine", "class Base(StepPolicy)", "class Base(StepPolicy, object)"),
    "a default of a field": ("mine", "start_at: int = 0", "start_at: int = 2"),
    "a default argument": ("mine", "horizon, extra=0", "horizon, extra=1"),
    "start": ("mine", "+ extra +", "- extra +"),
    "candidate": ("mine", "> 1.0", "> 1.5"),
    "another function of math": ("mine", "math.sqrt(4.0)", "math.cbrt(4.0)"),
    "a name that is bound": ("mine", "threshold=level", "threshold=lambda: 2"),
    "what a bound name does": ("mine", "    return 1\n", "    return 3\n"),
    "a decorator": ("mine", "+ 0\n\n    return inner", "+ 1\n\n    return inner"),
    "a function under a decorator": ("mine", "    return arms\n", "    return int(arms)\n"),
    "the order of a state's fields": (
        "mine",
        "    pulls: IntArray\n    other: IntArray\n",
        "    other: IntArray\n    pulls: IntArray\n",
    ),
    "a helper in another module": ("helper_of_mine", "return a +", "return a -"),
    "a constant behind two modules": ("deep_helper_of_mine", "SHIFT = 0", "SHIFT = 1"),
    "a helper that is imported late": ("late_helper_of_mine", "MORE + by", "MORE - by"),
    "a constant of that": ("late_helper_of_mine", "MORE = 0", "MORE = 1"),
    "a default argument of that": ("late_helper_of_mine", "by=0", "by=1"),
    "an attribute of a module": ("settings_of_mine", "MOST = 100", "MOST = 2"),
}
SAME = {
    "nothing": ("mine", "FIRST = 0", "FIRST = 0"),
    "a comment": ("mine", "FIRST = 0", "# the first arm\nFIRST = 0  # counts from 0"),
    "blank lines": ("mine", "class Kind(Enum):", "\n\n\n\nclass Kind(Enum):"),
    "an annotation": ("mine", "start_at: int = 0", "start_at: float = 0"),
    "the text about the class": ("mine", "The arm pulled least.", "That arm."),
    "the order of a set": ("mine", '{"a", "b", "c"}', '{"c", "a", "b"}'),
    "a constant that nothing reads": ("settings_of_mine", "UNUSED = 1", "UNUSED = 2"),
    "a function that nothing calls": ("helper_of_mine", "return 2 * x", "return 3 * x"),
}


def digest_of(folder: Path, files: dict[str, str]) -> str:
    with loaded(folder, files) as module:
        found = own_code(module.Mine())
    assert found is not None
    return found


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_an_edit_is_other_code(tmp_path: Path, edit: tuple[str, str, str]) -> None:
    assert digest_of(tmp_path / "a", FILES) != digest_of(tmp_path / "b", edited(*edit))


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME.keys())
def test_what_changes_nothing_is_the_same_code(tmp_path: Path, edit: tuple[str, str, str]) -> None:
    assert digest_of(tmp_path / "a", FILES) == digest_of(tmp_path / "b", edited(*edit))


@pytest.mark.parametrize("blind", ["_follow", "_module"])
def test_a_digest_that_does_not_follow_names_would_be_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blind: str
) -> None:
    """The negative control: without the guard, the edits of helpers above go unnoticed."""
    monkeypatch.setattr(digests._Walk, blind, lambda *_: None)
    names = {
        "_follow": ("a helper in another module", "a constant", "a constant behind two modules"),
        "_module": ("an attribute of a module", "a helper that is imported late"),
    }
    before = digest_of(tmp_path / "a", FILES)
    for number, name in enumerate(names[blind]):
        assert digest_of(tmp_path / f"b{number}", edited(*EDITS[name])) == before


@pytest.mark.slow
def test_the_same_code_is_the_same_in_any_process_and_folder(tmp_path: Path) -> None:
    program = (
        "from mine import Mine; from affinity_bandits.digests import *; print(own_code(Mine()))"
    )
    found = {
        in_a_process(write(tmp_path / name, FILES), program, PYTHONHASHSEED=seed)
        for name, seed in (("one", "1"), ("two", "2"), ("two", "3"))
    }
    assert found == {digest_of(tmp_path / "here", FILES)}


def test_a_module_that_is_loaded_again_is_the_same_code(tmp_path: Path) -> None:
    import importlib

    with loaded(tmp_path, FILES) as module:
        before = own_code(module.Mine())
        assert own_code(importlib.reload(module).Mine()) == before


@pytest.mark.slow
def test_running_it_does_not_change_it(tmp_path: Path) -> None:
    with loaded(tmp_path, FILES) as module:
        policy = module.Mine()
        before = own_code(policy)
        policy.start(2, 10)  # imports a module
        assert own_code(policy) == before
        pickle.dumps(policy)  # makes a note in the class
        assert own_code(policy) == before
        simulate(BANDIT, policy, 2, 1, progress=False)
        assert own_code(policy) == before


def test_built_in_code_is_its_name_and_settings() -> None:
    """Identities as they were before code was part of any."""
    assert Cell(BANDIT, UCB1(), 500, (10, 100)).identity == "ebe166ef2e00ad78a6c8cb670c47815f"
    assert Cell(BANDIT, EXP3(), 500).identity == "6c82586652293636062589b37dcad32f"
    told = Cell(BANDIT, DebiasedUCBV(Power(1.0)), 100)
    assert told.identity == "45ca54146295f28e17862a75390f2108"
    for name, cls in POLICIES.items():
        for policy in cls.examples():
            assert own_code(policy) is None, name


def linear(share: float) -> float:
    return share


def halved(share: float) -> float:
    return 0.5 * share


FACTOR = 0.25


def scaled(share: float) -> float:
    return FACTOR * share


def test_functions_under_one_label_are_different_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    def cells() -> dict[str, str]:
        biases = {f.__name__: Custom(f, 1.0, "mine") for f in (linear, halved, scaled)}
        found = {}
        for name, bias in biases.items():
            bandit = AffinityBandit([0.4, 0.6], bias=bias)
            found[name] = Cell(bandit, UCB1(), 100).identity
            clipped = AffinityBandit([0.4, 0.6], bias=Clipped(bias, low=0.1))
            found[f"clipped {name}"] = Cell(clipped, UCB1(), 100).identity
            found[f"told {name}"] = Cell(BANDIT, DebiasedUCBV(bias), 100).identity
        return found

    before = cells()
    assert len(set(before.values())) == 9
    monkeypatch.setitem(globals(), "FACTOR", 0.5)
    after = cells()
    assert {name for name in before if before[name] != after[name]} == {
        "scaled",
        "clipped scaled",
        "told scaled",
    }


def test_functions_of_the_package_that_are_handed_in_are_told_apart() -> None:
    assert own_code(UCB1.select) is not None
    assert own_code(UCB1.select) != own_code(EXP3.select)


class Louder(UCB1):
    """Under the built-in's name and settings."""

    @staticmethod
    def select(state: Any, rng: Any) -> int:
        return 1


def test_a_policy_under_a_built_in_name_is_another_cell() -> None:
    own, ours = Cell(BANDIT, Louder(), 100), Cell(BANDIT, UCB1(), 100)
    assert own.policy.to_json() == ours.policy.to_json()
    assert own.identity != ours.identity
    again = Cell.from_json(own.to_json())  # from its JSON it would be the built-in one
    assert again.identity == own.identity
    with pytest.raises(NotSupported, match="policy 'ucb1' is not the one"):
        again.check_code()


def test_what_cannot_be_compared_is_named(tmp_path: Path) -> None:
    files = edited("mine", "FIRST = 0", "import threading\n\nFIRST = 0\nLOCK = threading.Lock()")
    files["mine"] = files["mine"].replace("best = FIRST", "best = FIRST; LOCK")
    with (
        loaded(tmp_path, files) as module,
        pytest.raises(NotSupported, match=r"select > LOCK is a _thread\.lock.* edited"),
    ):
        Experiment([Cell(BANDIT, module.Mine(), 100)], 1)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards that are run."""
    ran: list[str] = []
    real = work.run_shard

    def run(shard: Any, root: str) -> None:
        ran.append(shard.name)
        real(shard, root)

    monkeypatch.setattr(work, "run_shard", run)
    return ran


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Load an edit of the policy, as if in a fresh process, and give it its name."""
    made = []

    def load(files: dict[str, str]) -> Any:
        for context in made:
            context.__exit__(None, None, None)
        made[:] = [loaded(tmp_path / f"version{id(files)}", files)]
        module = made[0].__enter__()
        monkeypatch.setitem(POLICIES, "mine", module.Mine)
        return module

    yield load
    for context in made:
        context.__exit__(None, None, None)


SWEEP = {
    "axes": {"policy": ["mine", "uniform"], "horizon": [20, 30]},
    "fixed": {"bandit.true_means": [0.4, 0.6]},
    "replicates": 4,
}


@pytest.mark.slow
def test_edited_code_is_run_anew_and_the_old_results_stay(
    tmp_path: Path, registered: Any, counted: list[str]
) -> None:
    store = Store(tmp_path / "store")
    before = registered(FILES)
    cell = Cell(BANDIT, before.Mine(), 40)
    (first,) = run_experiment(Experiment([cell], 4), store).values()
    assert first.pulls[0, :, -1].tolist() == [[20, 20]] * 4
    run_experiment(Experiment([Cell(BANDIT, before.Mine(), 40)], 4), store)
    assert len(counted) == 1  # unchanged code is not run again

    after = registered(edited("mine", "return 1\n", "return 0\n"))  # always arm 0
    changed = Cell(BANDIT, after.Mine(), 40)
    assert changed.policy.to_json() == cell.policy.to_json()
    (second,) = run_experiment(Experiment([changed], 4), store).values()
    assert second.pulls[0, :, -1].tolist() == [[40, 0]] * 4
    assert len(counted) == 2
    kept = {item.identity: item for item in store.kept()}
    assert set(kept) == {cell.identity, changed.identity}
    assert (store.result(kept[cell.identity]).pulls == first.pulls).all()
    # Reproducible to the bit: the cell's streams are its identity's, the policy's its JSON's.
    again = simulate(
        BANDIT, after.Mine(), 40, 4, changed.stream_seed, checkpoints=1, progress=False
    )
    assert (again.pulls[:, :, -1] == second.pulls[:, :, -1]).all()


@pytest.mark.slow
def test_a_sweep_does_not_mix_codes(tmp_path: Path, registered: Any, counted: list[str]) -> None:
    store = Store(tmp_path / "store")
    registered(FILES)
    sweep = Sweep(**SWEEP)  # type: ignore[arg-type]
    assert [cell.cell().identity for cell in sweep.planned()] == [
        cell.identity for cell in sweep.planned()
    ]
    assert run_cells(sweep, store).run == 16
    assert run_cells(Sweep(**SWEEP), store).found == 16  # type: ignore[arg-type]
    assert list(earlier_code(sweep, store)) == []
    old = {cell.identity: cell for cell in cell_summaries(sweep, store)}

    registered(edited("mine", "return 1\n", "return 0\n"))
    sweep = Sweep(**SWEEP)  # type: ignore[arg-type]
    assert [cell.replicates for cell in cell_summaries(sweep, store)] == [0, 0, 4, 4]
    assert {cell.identity for cell in earlier_code(sweep, store)} == {
        identity for identity, cell in old.items() if cell.code
    }
    summary = run_cells(sweep, store)
    assert (summary.found, summary.run, summary.failed) == (8, 8, 0)
    assert write_table(sweep, store, tmp_path / "cells.csv") == 6
    lines = (tmp_path / "cells.csv").read_text(encoding="utf-8").splitlines()
    codes = [line.rpartition(",")[2] for line in lines[1:]]
    assert codes[:2] == [codes[0]] * 2
    assert codes[2:4] == ["", ""]
    assert codes[4:] == [codes[4]] * 2
    assert codes[0] != codes[4]


@pytest.mark.slow
def test_results_are_read_when_the_code_is_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with loaded(tmp_path / "code", FILES) as module:
        bandit = AffinityBandit([0.4, 0.6], bias=Clipped(Custom(halved, 0.5, "half"), low=0.1))
        cell = Cell(bandit, module.Mine(), 20)
        text = cell.text
        run_experiment(Experiment([cell], 3), store)
    (kept,) = store.kept()
    assert kept.content["policy"]["name"] == "mine"
    assert set(kept.content["code"]) == {"policy", "bias"}
    result = store.result(kept)
    assert result.bandit.to_json() == kept.content["bandit"]
    assert result.pulls.shape == (1, 3, 1, 2)
    (row,) = result.summary()
    assert row.regret is not None
    with pytest.raises(NotSupported, match="bias 'clipped' is code of your own"):
        result.bandit.bias.weight(0.5)
    with pytest.raises(NotSupported, match=r"label 'half' is code of your own.*import its module"):
        Planned(kept.identity, text).cell()
    unknown = json.loads(text)
    unknown["bandit"]["bias"] = {"name": "power", "alpha": 1.0}
    with pytest.raises(NotSupported, match=r"policy 'mine' is code of your own"):
        Cell.from_json(unknown)


def test_code_that_changed_after_the_cell_was_made_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at a prompt: a constant is set anew, the experiment is the old one."""
    cell = Cell(AffinityBandit([0.4, 0.6], bias=Custom(scaled, 1.0)), UCB1(), 10)
    experiment = Experiment([cell], 2)
    monkeypatch.setitem(globals(), "FACTOR", 0.75)
    with pytest.raises(NotSupported, match="bias 'custom' is not the one that this run"):
        run_experiment(experiment, Store(tmp_path))
    assert list(Store(tmp_path).kept()) == []


@pytest.mark.slow
def test_a_constant_that_is_set_anew_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is the same object; only what it reads has changed."""
    bandit = AffinityBandit([0.5, 0.5], bias=Custom(scaled, 1.0, "mine"))

    def pulled() -> list[int]:
        found = simulate(bandit, "ucb1", 2000, 1, progress=False)
        again = simulate(
            AffinityBandit([0.5, 0.5], bias=Power(1.0)), "ucb1", 2000, 1, progress=False
        )
        return [int(found.pulls[0, 0, -1, 0]), int(again.pulls[0, 0, -1, 0])]

    first, plain = pulled()
    monkeypatch.setitem(globals(), "FACTOR", 1.0)  # now it is x, as Power(1.0)
    second, _ = pulled()
    assert first != plain
    assert second == plain
