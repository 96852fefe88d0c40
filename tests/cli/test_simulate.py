"""`affinity simulate`: what it prints, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Clipped, Gaussian, Power, Result, simulate
from affinity_bandits.policies import UCB1, Elimination, PublishedSchedule
from tests.support.results import assert_equal

from .plan_runner import InsideRunner, Runner

pytestmark = pytest.mark.slow  # each test starts processes or compiles

# A right command line; a later option of the same name overrides it.
QUICK = ("simulate", "--means", "0.4,0.6", "--horizon", "20", "--replicates", "2")

CONFIG = """
[bandit]
true_means = [0.4, 0.6]
bias = { name = "power", alpha = 2 }
initial_pulls = [10, 1]
noise = { name = "gaussian", sigma = 0.5 }

[run]
policies = ["uniform", { name = "elimination", offset = -3 }, { name = "ucb1", exploration = 1.0 }]
horizon = 100
replicates = 3
seed = 7
checkpoints = [1, 10]
"""

affinity, in_a_process = InsideRunner(), Runner()
succeeded, refused = affinity.succeeded, affinity.refused


def test_a_guarantee_that_does_not_cover_the_run_is_said_below_the_table() -> None:
    gated = (*QUICK, "--noise", "gaussian", "--mechanism", "gated", "--bias", "power")
    printed = succeeded(*gated, "--policy", "head-start-elimination", "--policy", "uniform")
    assert printed.endswith(
        "Note: head-start-elimination assumes 1-subGaussian feedback; gated Gaussian feedback here "
        "is 1.036-subGaussian: its guarantee does not cover this run.\n"
    )
    told = succeeded(*gated, "--policy", "head-start-elimination:sigma=1.037")
    assert "Note" not in told


SCORES = [("--scale", "yes/no"), ("--noise", "gaussian:sigma=0.3")]


@pytest.mark.parametrize("scores", SCORES, ids=" ".join)
def test_a_plan_runs_inside_its_own_assumptions(scores: tuple[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    succeeded(
        *("plan", "--groups", "2", "--budget", "300", "--difference", "0.5", *scores, "--again"),
        *("--initial-lead", "2", "--steepness", "1", "--judges", "committee", "--out", plan),
    )
    assert "Note" not in succeeded("simulate", plan, "--replicates", "2")


@pytest.mark.parametrize("arguments", [QUICK, (*QUICK, "--horizon", "0")], ids=["right", "wrong"])
def test_a_process_of_its_own_prints_and_ends_alike(arguments: tuple[str, ...]) -> None:
    in_a_process(*arguments)  # the first one may have to compile, and says so
    one, other = in_a_process(*arguments), affinity(*arguments)
    assert (one.returncode, one.stdout, one.stderr) == (
        other.returncode,
        other.stdout,
        other.stderr,
    )


def test_simulates_from_flags() -> None:
    output = succeeded(
        *QUICK,
        *("--bias", "power:alpha=2", "--initial-pulls", "10,1", "--seed", "3"),
        *("--policy", "ucb1", "--policy", "elimination:offset=-2"),
    )
    above, header, *lines = output.splitlines()
    rows, note = lines[:4], " ".join(lines[4:])
    assert above.split() == ["median", "run", "mean", "regret", "wrong", "arm", "undecided"]
    assert header.split()[:4] == ["policy", "90%", "of", "runs"]
    # Two lines each: figures, and the ends of their intervals or of the runs around them.
    assert [row.split()[0] for row in rows[::2]] == ["ucb1", "elimination(offset=-2)"]
    assert [row.split()[3][-1] for row in rows[::2]] == ["%", "%"]
    assert [row.split().count("to") for row in rows[1::2]] == [1, 2]  # of rates alone
    assert [row.count("too few runs") for row in rows[1::2]] == [2, 2]
    assert note.endswith(", seed 3.")  # no word of how the package computes it
    assert "2 runs of 20 pulls" in note
    assert "x^2" in note
    assert "seed 3" in note


def test_simulates_from_a_file_what_python_simulates(tmp_path: Path) -> None:
    config, saved = tmp_path / "study.toml", tmp_path / "result.npz"
    config.write_text(CONFIG, encoding="utf-8")
    succeeded("simulate", config, "--save", saved)
    bandit = AffinityBandit([0.4, 0.6], Power(2.0), initial_pulls=[10, 1], noise=Gaussian(0.5))
    policies = ["uniform", Elimination(PublishedSchedule(-3.0)), UCB1(1.0)]
    expected = simulate(bandit, policies, 100, replicates=3, seed=7, checkpoints=[1, 10])
    assert_equal(Result.load(saved), expected)


def test_flags_override_the_file(tmp_path: Path) -> None:
    config, saved = tmp_path / "study.toml", tmp_path / "result.npz"
    config.write_text(CONFIG, encoding="utf-8")
    succeeded(
        *("simulate", config, "--save", saved, "--horizon", "5e1", "--policy", "moss"),
        *("--bias", "clipped:base.name=power,base.alpha=2,low=0.1", "--means", "0.2,0.3"),
        *("--noise", "bernoulli", "--checkpoints", "4"),
    )
    bandit = AffinityBandit([0.2, 0.3], Clipped(Power(2.0), low=0.1), initial_pulls=[10, 1])
    expected = simulate(bandit, "moss", 50, replicates=3, seed=7, checkpoints=4)
    assert_equal(Result.load(saved), expected)


@pytest.mark.parametrize("seed", [2**53 + 1, 2**128 - 1])
def test_takes_a_seed_to_the_last_digit(seed: int, tmp_path: Path) -> None:
    saved = tmp_path / "result.npz"
    succeeded(*QUICK, "--policy", "uniform", "--seed", seed, "--save", saved)
    assert Result.load(saved).seed == seed


def test_draws_a_png(tmp_path: Path) -> None:
    picture = tmp_path / "regret.png"
    # Without a warning where no arm is better than another.
    assert f"picture: {picture}" in succeeded(*QUICK, "--means", "0.5,0.5", "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_label_is_printed_as_it_is_written(tmp_path: Path) -> None:
    config = tmp_path / "study.toml"
    config.write_text(
        "[bandit]\ntrue_means = [0.4, 0.6]\n[run]\nhorizon = 20\nreplicates = 2\n"
        '[run.policies]\n"[b] in turn [/x]" = "uniform"\n',
        encoding="utf-8",
    )
    printed = succeeded("simulate", config, "--memory", "5")
    assert "[b] in turn [/x] ran pull by pull, which is slower: with bounded memory" in printed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        # Numbers.
        (("--horizon", "soon"), "horizon must be a number | 'soon'"),
        (("--horizon", ""), "horizon"),
        (("--horizon", "0"), "horizon | from 1 | got 0"),
        (("--horizon", "2.5"), "horizon | whole | 2.5"),
        (("--horizon", "1e16"), "horizon | 1,000,000,000,000,000"),
        (("--horizon", "1e400"), "horizon | inf"),
        (("--replicates", "nan"), "replicates | nan"),
        (("--seed", "-1"), "seed | from 0 | -1"),
        (("--memory", "0"), "memory | from 1 | got 0"),
        (("--checkpoints", "5,21"), "checkpoints[1] | to 20 | 21"),
        (("--means", "0.4;0.6"), "means[0] | number | '0.4;0.6'"),
        (("--means", "0.4,1.2"), "means[1] | [0, 1] | 1.2"),
        (("--initial-pulls", "1"), "initial_pulls | 2"),
        # Names.
        (("--policy", "ucb2"), "policy | 'ucb2' | did you mean 'ucb1'?"),
        (("--policy", "ucb1:exploraton=1"), "ucb1 | did you mean 'exploration'?"),
        (("--policy", "elimination:3"), "policy | elimination:offset=3), got 'elimination:3'"),
        (("--policy", "ucb1", "--policy", "ucb1"), "policies | different | 'ucb1'"),
        (("--policy", "oracle:arm=7"), "arm | 2 arms | got 7"),
        (("--bias", "powr"), "bias | did you mean 'power'?"),
        (("--bias", "power:alpha=steep"), "alpha | 'steep'"),
        (("--bias", "clipped:base=3,base.alpha=2"), "bias | 'base'"),
        (("--bias", "custom"), "bias label"),
        (("--bias", "constant:value=2"), "bias | gated | 2.0"),
        (("--noise", "gausian"), "noise | did you mean 'gaussian'?"),
        (("--mechanism", "scald"), "mechanism | did you mean 'scaled'?"),
        (("--engine", "round"), "engine | did you mean 'rounds'?"),
        (("--engine", "rounds", "--policy", "ucb1"), "engine 'rounds' | ucb1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refuses_a_wrong_option_in_one_line(options: tuple[str, ...], says: str) -> None:
    refused(*QUICK, *options, says=says)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[bandit\n", "TOML | line 1"),
        (b"\xff\xfe\x00", "TOML | decode"),
        ("[bandid]\n", "bandid | did you mean 'bandit'?"),
        ("[run]\nhorizn = 1\n", "[run] | horizn | did you mean 'horizon'?"),
        ("bandit = 3\n", "bandit | table | got 3"),
        ("[bandit]\ntrue_means = 'many'\n", "true_means | list | 'many'"),
        ("[bandit]\ntrue_means = [0.4]\nbias = 3\n", "bias | 'name' | got 3"),
        ("[bandit]\ntrue_means = [0.4]\n[run]\nhorizon = 2020-01-01\n", "horizon | date"),
        ("[bandit]\ntrue_means = [0.4]\n[run]\npolicies = []\n", "policies | at least one"),
        ("[bandit]\ntrue_means = [0.4]\n[run]\npolicies = [{ name = ['ucb1'] }]\n", "policy"),
        # More digits than Python turns into a number.
        (f"[run]\nhorizon = {'1' * 5000}\n", "TOML"),
    ],
    ids=[
        "broken",
        "not-text",
        "unknown-table",
        "unknown-key",
        "value-for-a-table",
        "means-text",
        "bias-number",
        "horizon-date",
        "no-policies",
        "policy-name-list",
        "number-of-5000-digits",
    ],
)
def test_refuses_a_wrong_file_in_one_line(content: str | bytes, says: str, tmp_path: Path) -> None:
    config = tmp_path / "study.toml"
    config.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused("simulate", config, says=says)


def test_refuses_places_that_cannot_be_written(tmp_path: Path) -> None:
    assert "--means" in refused("simulate")
    assert "none.toml" in refused("simulate", tmp_path / "none.toml")
    assert "plot must be in a directory" in refused(*QUICK, "--plot", tmp_path / "no" / "r.png")
    refused(
        *QUICK, "--plot", tmp_path / "r.bmp", says="plot must be a file that ends in .png, .svg"
    )
    assert "save must be in a directory" in refused(*QUICK, "--save", tmp_path / "no" / "r.npz")
    assert str(tmp_path) in refused("simulate", tmp_path)
    assert str(tmp_path) in refused(*QUICK, "--save", tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_names_the_file_that_a_full_disk_would_not_take() -> None:
    refused(*QUICK, "--save", "/dev/full", says="space | /dev/full")
