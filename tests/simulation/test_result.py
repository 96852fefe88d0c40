"""What one can do with a result: pick policies, put parts together, take it elsewhere, see it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    InvalidInput,
    MissingExtra,
    Power,
    Result,
    UnknownName,
    simulate,
)
from tests.support.processes import run_python
from tests.support.results import assert_equal

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
POLICIES = ["ucb1", "elimination", "thompson-beta"]


def run(replicates: int = 6, first: int = 0, **changes: object) -> Result:
    settings = {"policies": POLICIES, "horizon": 2_000, "seed": 3, **changes}
    return simulate(
        settings.pop("bandit", BANDIT),  # type: ignore[arg-type]
        replicates=replicates,
        first_replicate=first,
        progress=False,
        **settings,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def result() -> Result:
    return run()


# Picking policies.


def test_a_policy_is_picked_by_its_label(result: Result) -> None:
    picked = result["elimination"]
    assert picked.labels == ("elimination",)
    np.testing.assert_array_equal(picked.pulls[0], result.pulls[1])
    np.testing.assert_array_equal(picked.candidates[0], result.candidates[1])
    assert picked.summary() == [result.summary()[1]]
    assert_equal(picked, run(policies="elimination"))


def test_a_name_will_do_where_only_one_policy_has_it() -> None:
    found = run(policies={"mine": {"name": "elimination", "offset": 3}, "a": "ucb1", "b": "moss"})
    assert found["elimination"].labels == ("mine",)
    twice = run(policies={"mine": {"name": "elimination", "offset": 3}, "yours": "elimination"})
    with pytest.raises(UnknownName, match="mine, yours"):
        twice["elimination"]


def test_a_printed_summary_is_the_table_of_the_command(result: Result) -> None:
    head, below, *rows = str(result["elimination"].summary()).splitlines()
    assert head.split()[:4] == ["median", "run", "mean", "regret"]
    assert below.startswith("policy ")
    assert rows[0].startswith("elimination ")
    assert len(rows) == 3
    assert rows[2].strip() == "too few runs for an interval: it needs at least 20"


def test_an_unknown_policy_is_refused_with_those_that_there_are(result: Result) -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'ucb1'\? .* one of elimi"):
        result["ucb"]
    with pytest.raises(UnknownName, match="got 0"):
        result[0]  # type: ignore[index]
    for wrong in ([], ["ucb1", "ucb1"]):
        with pytest.raises(InvalidInput, match="policy must be one label, or a list of different"):
            result[wrong]


def test_a_result_goes_through_its_labels(result: Result) -> None:
    assert list(result) == POLICIES
    assert len(result) == 3
    assert "ucb1" in result
    assert "moss" not in result


# Putting parts together.


def test_parts_together_are_one_run() -> None:
    whole = run(10)
    parts = [run(4), run(1, 4), run(5, 5)]
    assert_equal(parts[0].merge(parts[1]).merge(parts[2]), whole)
    assert_equal(parts[2].merge(parts[0]).merge(parts[1]), whole)
    assert whole.summary() == parts[2].merge(parts[0]).merge(parts[1]).summary()


def test_what_was_interrupted_stays_marked() -> None:
    assert not run(2).merge(replace(run(2, 2), complete=False)).complete


@pytest.mark.parametrize("first", [0, 5])
def test_replicates_that_are_in_both_are_refused(result: Result, first: int) -> None:
    rule = "other must be of other replicates: choose first_replicate above 5"
    with pytest.raises(InvalidInput, match=rule):
        result.merge(run(6, first))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"horizon": 1_000}, r"the same horizon \(2000\), got 1000"),
        ({"bandit": AffinityBandit([0.4, 0.6])}, "the same bandit"),
        ({"policies": ["ucb1", "elimination"]}, "the same policies in the same order"),
        ({"policies": ["elimination", "ucb1", "thompson-beta"]}, "in the same order"),
        (
            {"policies": {**dict.fromkeys(POLICIES, "ucb1")}},
            "the same description of elimination",
        ),
        ({"engine": "steps"}, r"the same engine of elimination \(rounds\), got 'steps'"),
        ({"checkpoints": 3}, "checkpoints"),
    ],
)
def test_results_of_something_else_are_refused(
    result: Result, changes: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidInput, match=f"other must be of .*{says}"):
        result.merge(run(2, 6, **changes))


def test_only_results_of_this_version_are_merged(result: Result) -> None:
    with pytest.raises(InvalidInput, match="the same version"):
        result.merge(replace(run(2, 6), version="0.0.0"))
    with pytest.raises(InvalidInput, match="other must be a Result"):
        result.merge(3)  # type: ignore[arg-type]


# Elsewhere.


def test_the_table_has_a_line_for_each_policy_replicate_and_checkpoint(result: Result) -> None:
    table = result.to_pandas()
    assert list(table.columns) == [*("policy", "replicate", "time", "regret", "pulls_0", "pulls_1")]
    assert len(table) == 3 * 6 * len(result.checkpoints)
    for p, r, t in ((0, 0, 0), (1, 3, 7), (2, 5, -1)):
        line = table[
            (table.policy == result.labels[p])
            & (table.replicate == result.replicates[r])
            & (table.time == result.checkpoints[t])
        ]
        assert len(line) == 1
        assert line.regret.item() == result.regret[p, r, t]
        assert [line.pulls_0.item(), line.pulls_1.item()] == result.pulls[p, r, t].tolist()


def test_the_table_of_runs_has_the_verdicts(result: Result) -> None:
    table = result.to_pandas("runs")
    assert len(table) == 3 * 6
    np.testing.assert_array_equal(table.wrong_arm, result.wrong_arm.ravel())
    np.testing.assert_array_equal(table.simple_regret, result.simple_regret.ravel())
    undecided = table.groupby("policy").undecided.mean()
    assert undecided["elimination"] == result.undecided[1].mean()
    assert np.isnan(undecided["ucb1"])


def test_the_table_says_what_the_dataset_says(result: Result) -> None:
    table = result.to_pandas().set_index(["policy", "replicate", "time"])
    regret = result.to_xarray().regret.to_series()
    np.testing.assert_array_equal(table.loc[regret.index, "regret"], regret)


# Seen.


def test_a_result_is_one_short_line(result: Result) -> None:
    assert repr(result) == (
        "<Result: 3 policies (ucb1, elimination, thompson-beta), 6 replicates of 2,000 pulls, "
        "2 arms, seed 3>"
    )
    stopped = replace(result["ucb1"], complete=False)
    assert repr(stopped).startswith("<Result: 1 policy (ucb1), ")
    assert repr(stopped).endswith(", interrupted>")


def test_many_long_labels_leave_the_line_short() -> None:
    many = run(1, policies={f"number {i} of a lot of policies": "uniform" for i in range(30)})
    assert len(repr(many)) <= 200
    assert "26 more" in repr(many)


class Table(HTMLParser):
    """The texts of a table's cells, line by line; anything that loads from elsewhere fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("table", "caption", "thead", "tbody", "tr", "th", "td")
        assert not attrs
        if tag == "tr":
            self.lines.append([])
        if tag in ("th", "td"):
            self.lines[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.lines and self.lines[-1]:
            self.lines[-1][-1] += data


def test_a_notebook_shows_the_summary(result: Result) -> None:
    head, *lines = Table(result._repr_html_()).lines
    assert head[0] == "policy"
    assert [line[0] for line in lines] == POLICIES
    assert {len(line) for line in (head, *lines)} == {7}
    assert [line[4] for line in lines][::2] == ["-", "-"]
    assert [line[6] for line in lines] == ["steps", "rounds", "steps"]


def test_a_label_is_no_markup() -> None:
    found = run(1, policies={"<script>alert(1)</script>": "uniform"})
    assert "<script" not in found._repr_html_()
    _, line = Table(found._repr_html_()).lines
    assert line[0] == "<script>alert(1)</script>"


@pytest.mark.slow
def test_a_plot_is_the_picture_of_regret(result: Result) -> None:
    figure = result[["ucb1", "elimination"]].plot()
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["ucb1", "elimination"]


def test_a_plot_without_matplotlib_says_what_to_install(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("affinity_bandits.plots.style.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "\.\[plot\]"'):
        result.plot()


@pytest.mark.slow
def test_nothing_of_matplotlib_loads_without_a_plot() -> None:
    program = (
        "import sys; from affinity_bandits import AffinityBandit, simulate; "
        "found = simulate(AffinityBandit([0.4, 0.6]), 'uniform', 100, 2); repr(found); "
        "found._repr_html_(); print('matplotlib' in sys.modules)"
    )
    assert run_python("-c", program).stdout.strip() == "False"
