"""`affinity plan`: what it asks, says, writes, remembers and refuses.

In a process of its own wherever the process matters; what is only refused or remembered runs the
same `main` inside this one, which is much faster.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from affinity_bandits.cli import main
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.planning.files import read_plan

slow = pytest.mark.slow  # starts processes

TINY = (
    *("plan", "--groups", "2", "--horizon", "300", "--smallest-difference", "0.5"),
    *("--head-start", "2", "--steepness", "0"),
)
"""A right command line whose plan takes no time; a later option of the same name overrides it."""

ASSUMED = Assumptions(groups=2, horizon=300, smallest_difference=0.5, head_start=2, steepness=0.0)

ENOUGH = "2 groups, differences of 0.5 or more, 300 choices: enough."


def command(*arguments: object) -> list[str]:
    code = "from affinity_bandits.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


def surroundings(cache: Path) -> dict[str, str]:
    """Wide enough that no table is folded, the same text everywhere, and a cache of its own."""
    changes = {"COLUMNS": "200", "NO_COLOR": "1", "XDG_CACHE_HOME": str(cache)}
    # Where compiled code is kept must not move with the cache.
    compiled = os.environ.get("NUMBA_CACHE_DIR")
    kept = {} if compiled is None else {"NUMBA_CACHE_DIR": compiled}
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **changes, **kept}


class Runner:
    """Runs the command; the working directory stays, as PYTHONPATH may be relative to it."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    @property
    def kept(self) -> list[Path]:
        return sorted(self.cache.rglob("plans/*"))

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=300,
            env=surroundings(self.cache),
        )

    def succeeded(self, *arguments: object) -> str:
        done = self(*arguments)
        assert done.stderr == ""
        assert done.returncode == 0
        return done.stdout

    def refused(self, *arguments: object) -> str:
        """Run a wrong command line and return its complaint, which is a single line."""
        done = self(*arguments)
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode == 2
        assert done.stderr.startswith("affinity: ")
        assert done.stderr.endswith("\n")
        assert len(done.stderr.splitlines()) == 1
        return done.stderr


class InsideRunner(Runner):
    """Runs the command in this process; what it lets through would be a traceback."""

    def __init__(
        self, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        super().__init__(cache)
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        for name, value in surroundings(cache).items():
            monkeypatch.setenv(name, value)

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        words = ["affinity", *map(str, arguments)]
        self._monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        status = ended.value.code or 0
        return subprocess.CompletedProcess(words, status, *self._capsys.readouterr())


@pytest.fixture(scope="module")
def affinity(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """The command, with a cache that tests share."""
    return Runner(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Runner:
    """The command in this process, with a cache that has nothing in it."""
    return InsideRunner(tmp_path / "cache", monkeypatch, capsys)


# What is printed.


@slow
def test_prints_the_verdict_what_it_costs_and_when_groups_are_dropped(affinity: Runner) -> None:
    verdict, *lines = affinity.succeeded(*TINY).splitlines()
    plan = make_plan(ASSUMED)
    assert verdict == ENOUGH
    text = "\n".join(lines)
    assert "at most 0.41% with 95% confidence (0 of 1,000 runs on the worst case)" in text
    assert str(plan.worst) in text
    assert str(plan.tried[plan.costliest]) in text
    assert f"{plan.cost.choices:,.0f} on average, {plan.cost.choices_95:,.0f} in 19 of 20" in text
    costs = lines.index("What it costs, by how scores depend on a group's share")
    assert lines[costs + 2].startswith("no bias")
    drops = lines.index("When groups are dropped, as long as all take part")
    rows = [line.split() for line in lines[drops + 2 :]]
    assert len(rows) == len(plan.rounds)  # and nothing is explained afterwards
    assert [row[:2] for row in rows] == [[str(r.trials), str(r.choices)] for r in plan.rounds]


def test_says_how_many_choices_would_suffice(inside: Runner) -> None:
    verdict, *_ = inside.succeeded(*TINY, "--horizon", 20, "--method", "handicap").splitlines()
    plan = make_plan(Assumptions(2, 20, 0.5, head_start=2, steepness=0.0), "handicap")
    assert plan.sufficient is not None
    assert verdict == (
        "2 groups, differences of 0.5 or more, 20 choices: too few for the worst bias assumed. "
        f"About {plan.sufficient:,} would suffice."
    )


def test_flags_are_the_assumptions(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    inside.succeeded(
        *("plan", "--groups", "3", "--horizon", "1e2", "--smallest-difference", ".5"),
        *("--head-start", "1", "--steepness", "1", "--lipschitz", "0.75", "--failure", "0.1"),
        *("--noise", "gaussian:sigma=0.25", "--largest-mean", "2", "--method", "calibrated"),
        *("--seed", "12", "--out", path),
    )
    wanted = Assumptions(
        groups=3,
        horizon=100,
        smallest_difference=0.5,
        head_start=1,
        steepness=1.0,
        lipschitz=0.75,
        noise="gaussian",
        sigma=0.25,
        largest_mean=2.0,
        failure=0.1,
    )
    assert read_plan(path) == make_plan(wanted, "calibrated", seed=12)


def test_explains_what_is_assumed_and_what_happens_if_it_is_wrong(inside: Runner) -> None:
    output = inside.succeeded(*TINY, "--explain")
    assert output.startswith(ENOUGH)
    _, _, explained = output.partition("What is assumed\n")
    assumed, _, table = explained.partition("What happens if an assumption is wrong\n")
    assert "no group outnumbers another by more than 2 members" in assumed
    assert "Scores lie between 0 and 1." in assumed
    rows = table.splitlines()
    for words in ("a larger head start", "noisier scores", "a smaller difference", "fewer choices"):
        found = [row for row in rows if row.startswith(words)]
        assert len(found) == 2
        assert " 2 times " in found[0]
        assert " 10 times " in found[1]


# What is written.


@slow
def test_writes_a_plan_that_simulate_takes(affinity: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    assert f"affinity simulate {path}" in affinity.succeeded(*TINY, "--out", path)
    plan = read_plan(path)
    assert plan == make_plan(ASSUMED)
    header, row, note = affinity.succeeded("simulate", path).splitlines()
    assert header.split()[0] == "policy"
    assert row.split()[0] == "plan"
    assert row.split()[-1] == "rounds"
    assert note.startswith("100 runs of 300 pulls")
    # The flags of simulate still override the file.
    _, row, note = affinity.succeeded(
        *("simulate", path, "--policy", "uniform", "--horizon", 50, "--replicates", 3)
    ).splitlines()
    assert row.split()[0] == "uniform"
    assert note.startswith("3 runs of 50 pulls")


def test_overwrites_a_plan_and_leaves_nothing_else_behind(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "here" / "plan.toml"
    path.parent.mkdir()
    path.write_text("an older plan", encoding="utf-8")
    inside.succeeded(*TINY, "--out", path)
    assert read_plan(path).assumptions == ASSUMED
    assert list(path.parent.iterdir()) == [path]


@slow
def test_draws_a_picture(affinity: Runner, tmp_path: Path) -> None:
    picture = tmp_path / "plan.png"
    assert f"picture: {picture}" in affinity.succeeded(*TINY, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


# What is remembered.


def test_remembers_a_plan_until_told_to_make_it_again(inside: Runner) -> None:
    first = inside.succeeded(*TINY)
    (kept,) = inside.kept
    assert kept.suffix == ".toml"
    assert inside.succeeded(*TINY) == first
    # A plan that was tampered with gives away where a verdict comes from.
    changed = kept.read_text(encoding="utf-8").replace("wrong = 0\nrep", "wrong = 777\nrep", 1)
    kept.write_text(changed, encoding="utf-8")
    assert "777 of 1,000 runs" in inside.succeeded(*TINY)
    assert inside.succeeded(*TINY, "--again") == first
    assert "777 of 1,000 runs" not in inside.succeeded(*TINY, "--seed", "1")
    assert len(inside.kept) == 2


def test_a_cache_that_cannot_be_used_is_done_without(inside: Runner) -> None:
    inside.cache.write_text("not a directory", encoding="utf-8")
    assert inside.succeeded(*TINY).startswith(ENOUGH)


# What is asked.

terminal = pytest.mark.skipif(
    sys.platform == "win32", reason="needs a pseudo-terminal, which Windows has not"
)


@slow
@terminal
def test_asks_for_what_it_needs_if_nothing_is_given(affinity: Runner, tmp_path: Path) -> None:
    import pty

    path = tmp_path / "plan.toml"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("plan", "--out", path),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=surroundings(affinity.cache),
    )
    os.close(theirs)
    os.write(ours, b"2\n3e2\n0.5\n2\n0\n\n\n")  # Enter twice: bounded, 0.05
    output, errors = process.communicate(timeout=120)
    os.close(ours)
    assert errors == ""
    assert process.returncode == 0
    assert "How many groups are compared?" in output
    assert "Which probability of settling for a worse group is tolerable? [0.05]" in output
    assert ENOUGH in output
    assert read_plan(path).assumptions == ASSUMED


@slow
@terminal
def test_a_wrong_answer_is_refused_as_a_wrong_flag_is(affinity: Runner) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("plan"),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=surroundings(affinity.cache),
    )
    os.close(theirs)
    os.write(ours, b"2\nmany\n\n\n\n\n\n")
    _, errors = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 2
    assert errors == "affinity: horizon must be a number, got 'many'\n"


@slow
def test_asks_nothing_where_nobody_could_answer(affinity: Runner) -> None:
    assert "groups must be given, e.g. --groups 3" in affinity.refused("plan")


@slow
@terminal
def test_an_interrupt_ends_it_in_one_line_without_a_plan(tmp_path: Path) -> None:
    """Interrupted while its progress bar is drawn; it would take much longer."""
    import pty

    path, cache = tmp_path / "plan.toml", tmp_path / "cache"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(
            *("plan", "--groups", 16, "--horizon", "1e9", "--smallest-difference", 0.03),
            *("--head-start", 3000, "--out", path),
        ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=surroundings(cache),
    )
    os.close(theirs)
    errors = b""
    while errors.count(b"%") < 5:
        part = read_terminal(ours)
        assert part, errors
        errors += part
    process.send_signal(signal.SIGINT)
    while part := read_terminal(ours):
        errors += part
    os.close(ours)
    output, _ = process.communicate(timeout=60)
    text = errors.decode()
    assert "Traceback" not in text
    assert process.returncode == 130
    assert output == b""
    assert [entry for entry in tmp_path.rglob("*") if entry.is_file()] == []
    assert "affinity: interrupted" in text


def read_terminal(end: int) -> bytes:
    """Return what is written next, nothing once the other end is closed."""
    assert select.select([end], [], [], 120.0)[0], "nothing for two minutes"
    try:
        return os.read(end, 65_536)
    except OSError:  # how Linux says that it is closed
        return b""


# What is wrong.


@pytest.mark.parametrize("left_out", ["groups", "horizon", "smallest-difference"])
def test_a_flag_that_is_missing_is_asked_for_by_name(left_out: str, inside: Runner) -> None:
    given = {"groups": "3", "horizon": "1e4", "smallest-difference": "0.2"}
    del given[left_out]
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    message = inside.refused("plan", *words)
    assert f"{left_out.replace('-', '_')} must be given, e.g. --{left_out} " in message


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--groups", "1"), "groups | from 2 | got 1"),
        (("--groups", "two"), "groups must be a number | 'two'"),
        (("--groups", "2.5"), "groups | whole | 2.5"),
        (("--groups", "1001"), "groups | 1,000 | 1001"),
        (("--horizon", ""), "horizon must be a number"),
        (("--horizon", "1"), "horizon | at least the number of groups (2) | got 1"),
        (("--horizon", "1e16"), "horizon | 1,000,000,000,000,000"),
        (("--horizon", "nan"), "horizon | nan"),
        (("--smallest-difference", "0"), "smallest_difference | (0, 1] | got 0"),
        (("--smallest-difference", "1.5"), "smallest_difference | (0, 1] | 1.5"),
        (("--smallest-difference", "inf"), "smallest_difference | inf"),
        (("--head-start", "-1"), "head_start | from 0 | -1"),
        (("--head-start", "1e10"), "head_start | 1,000,000,000"),
        (("--steepness", "-0.1"), "steepness | [0, 100] | -0.1"),
        (("--steepness", "square"), "steepness must be a number | 'square'"),
        (("--lipschitz", "-1"), "lipschitz | at least 0 | -1"),
        (("--noise", "bernoulli"), "noise | bounded, gaussian | 'bernoulli'"),
        (("--noise", "gausian"), "noise | did you mean 'gaussian'?"),
        (("--noise", "gaussian:sigma=0"), "sigma | (0, 1e+06] | got 0"),
        (("--noise", "gaussian:sigma"), "noise | NAME:key=value"),
        (("--noise", "gaussian:sgma=1"), "sgma | sigma"),
        # What belongs to another flag is not a part of the noise.
        (("--noise", "bounded:groups=5"), "groups"),
        (("--largest-mean", "0"), "largest_mean | (0, 1] | got 0"),
        (("--largest-mean", "2"), "largest_mean | (0, 1] | got 2"),
        (("--largest-mean", "0.4"), "smallest_difference | (0, 0.4] | 0.5"),
        (("--failure", "0"), "failure | [1e-12, 0.5) | got 0"),
        (("--failure", "0.5"), "failure | 0.5"),
        (("--failure", "5%"), "failure must be a number | '5%'"),
        (("--method", "handicp"), "method | did you mean 'handicap'?"),
        (("--seed", "-1"), "seed | from 0 | -1"),
        (("--seed", "first"), "seed must be a number | 'first'"),
        (("--seed", "1.5"), "seed | whole | 1.5"),
        (("--seed", "nan"), "seed | nan"),
        (("--seed", "inf"), "seed | inf"),
        (("--out", "plan.txt"), "out must be a file that ends in .toml | plan.txt"),
        (("--plot", "plan.bmp"), "plot must be a file that ends in .png, .svg or .pdf"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_refuses_a_wrong_option_in_one_line(
    options: tuple[str, ...], says: str, inside: Runner
) -> None:
    message = inside.refused(*TINY, *options)
    for part in says.split(" | "):
        assert part in message


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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("--frobnicate",), "--frobnicate"), (("--groups",), "--groups"), (("extra",), "extra")],
)
def test_a_command_line_that_cannot_be_read_ends_with_status_2(
    arguments: tuple[str, ...], says: str, inside: Runner
) -> None:
    done = inside("plan", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
