"""What `affinity plan` refuses, each in one line that names the option.

It runs the same `main` inside this process, which is much faster than in one of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .plan_runner import TINY, Runner


@pytest.mark.parametrize("left_out", ["groups", "scale", "budget", "difference"])
def test_a_flag_that_is_missing_is_asked_for_by_name(left_out: str, inside: Runner) -> None:
    given = {"groups": "3", "scale": "0..1", "budget": "1e4", "difference": "0.2"}
    del given[left_out]
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    assert f"{left_out} must be given, e.g. --{left_out} " in inside.refused("plan", *words)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--groups", "1"), "groups | from 2 | got '1'"),
        (("--groups", "Oslo"), "groups must be names such as | 'Oslo'"),
        (("--budget", ""), "budget must be a number such as 2000"),
        (("--budget", "1"), "budget | at least one choice for each of 2 groups | got '1'"),
        (("--unit", "3 interviews"), "unit | such as interview | '3 interviews'"),
        (("--begins", "soon"), "begins | 'at once' | 'soon'"),
        (("--begins", "3 months"), "begins | the budget has no choices per week | '3 months'"),
        (("--budget", "1e16"), "budget | 1,000,000,000,000,000"),
        (("--difference", "0"), "difference | above 0 | got '0'"),
        (("--difference", "1.5"), "difference | 5% or 0.05 | 1.5"),
        (("--initial-lead", "-1"), "initial_lead | from 0 | -1"),
        (("--committee", "30,10,10"), "committee | there are 2 groups | 30,10,10"),
        (("--committee", "30,10"), "initial_lead must be left out: the committee is known"),
        (("--bonus", "20"), "bonus | 20% or 0.2 | got '20'"),
        (("--judges", "recused"), "judges | nothing to see"),
        (("--spread", "1"), "spread must be left out: yes and no spread as they must"),
        (("--scale", "1..5", "--spread", "3", "--difference", "1"), "spread | at most 2"),
        (("--steepness", "-0.1"), "steepness | [0, 100] | -0.1"),
        (("--noise", "bernoulli"), "noise | bounded, gaussian | 'bernoulli'"),
        (("--noise", "gaussian:sigma"), "noise | NAME:key=value"),
        (("--noise", "gaussian:sgma=1"), "sgma | sigma"),
        (("--noise", "gaussian"), "scale must be left out: Gaussian scores have no ends"),
        # What belongs to another flag is not a part of the noise.
        (("--noise", "bounded:groups=5"), "groups"),
        (("--largest-mean", "2"), "largest_mean | (0, 1] | got 2"),
        (("--largest-mean", "0.4"), "smallest_difference | (0, 0.4] | 0.5"),
        (("--failure", "5"), "failure | 10% | got '5'"),
        (("--in-flight", "0"), "in_flight | from 1 | got 0"),
        (("--seed", "-1"), "seed | from 0 | -1"),
        (("--seed", "first"), "seed must be a number | 'first'"),
        (("--out", "plan.txt"), "out must be a file that ends in .toml | plan.txt"),
        (("--plot", "plan.bmp"), "plot must be a file that ends in .png, .svg or .pdf"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refuses_a_wrong_option_in_one_line(
    options: tuple[str, ...], says: str, inside: Runner
) -> None:
    inside.refused(*TINY, *options, says=says)


@pytest.mark.parametrize(("flag", "name"), [("--out", "plan.toml"), ("--plot", "plan.png")])
def test_refuses_a_place_where_there_is_no_folder(
    flag: str, name: str, inside: Runner, tmp_path: Path
) -> None:
    assert name in inside.refused(*TINY, flag, tmp_path / "nowhere" / name)
    assert inside.kept == []  # said before the work, not after it


def test_names_the_directory_that_stands_where_a_plan_should_be_written(
    inside: Runner, tmp_path: Path
) -> None:
    folder = tmp_path / "here" / "folder.toml"
    folder.mkdir(parents=True)
    assert str(folder) in inside.refused(*TINY, "--out", folder)
    assert list(folder.parent.iterdir()) == [folder]
