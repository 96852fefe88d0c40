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
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from affinity_bandits.cli.plan_text import print_plan
from affinity_bandits.planning import Assumptions, ScheduledRound, make_plan
from affinity_bandits.planning.files import read_plan

from .plan_runner import ASSUMED, TINY, Runner, command, surroundings

slow = pytest.mark.slow

ENOUGH = "2 groups, differences of 0.5 or more at equal shares, 300 choices: enough."


# What is printed.


@slow
def test_prints_the_verdict_what_it_costs_and_when_groups_are_dropped(affinity: Runner) -> None:
    verdict, *lines = affinity.succeeded(*TINY).splitlines()
    plan = make_plan(ASSUMED)
    assert verdict == ENOUGH
    text = "\n".join(lines)
    assert "at most 5%, proven for every bias that never lowers a score as a share grows" in text
    assert f"at worst {plan.most_wrong.wrong} of {plan.most_wrong.replicates:,} runs here" in text
    assert str(plan.worlds[plan.costliest]) in text
    assert "under way" not in text
    assert f"{plan.cost.choices:,.0f} on average, {plan.cost.choices_95:,.0f} in 19 of 20" in text
    costs = lines.index("What it costs, by how scores depend on a group's share")
    assert lines[costs + 2].startswith("not at all")
    assert any(line.startswith("the worst assumed") for line in lines[costs:])
    drops = lines.index("When groups are dropped, as long as all take part")
    rows = [line.split() for line in lines[drops + 2 :]]  # nothing is explained afterwards
    assert [row[:2] for row in rows] == [[str(row.trials), str(row.choices)] for row in plan.rounds]
    assert " ".join(rows[0][2:]) == "nobody is dropped yet"
    assert rows[-1][2:] == [f"{plan.rounds[-1].drops:.3g}", f"{plan.rounds[-1].detects:.3g}"]


@slow
def test_of_many_rounds_ten_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(ASSUMED, progress=False)
    every = [ScheduledRound(n, 2 * n, 0.5, 0.6) for n in range(1, 36)]
    print_plan(replace(plan, rounds=tuple(every)))
    shown = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[-10:]]
    trials = [int(row[0]) for row in shown]
    assert (trials[0], trials[-1]) == (1, 35)
    assert trials == sorted(set(trials))
    assert {later - earlier for earlier, later in pairwise(trials)} <= {3, 4}


@slow
def test_says_how_many_choices_would_suffice(inside: Runner) -> None:
    verdict, *_ = inside.succeeded(*TINY, "--horizon", 20).splitlines()
    plan = make_plan(Assumptions(2, 20, 0.5, head_start=2, steepness=0.0))
    assert plan.sufficient is not None
    assert verdict == (
        "2 groups, differences of 0.5 or more at equal shares, 20 choices: too few for the worst "
        f"bias assumed. About {plan.sufficient:,} would suffice."
    )


@slow
def test_a_scale_and_what_is_in_flight_are_said_and_written(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    output = inside.succeeded(
        *(*TINY, "--lowest", "1", "--highest", "5", "--smallest-difference", "2"),
        *("--in-flight", "6", "--out", path, "--explain"),
    )
    assert output.startswith("2 groups, differences of 2 or more at equal shares, 300 choices: ")
    assert "choices under way at once             up to 6" in output
    assert "Scores lie between 1 and 5; the bias acts on what a score has above 1." in output
    assert "Up to 6 choices are under way at once, scored in any order." in output
    plan = read_plan(path)
    assert plan.assumptions == Assumptions(
        2, 300, 2.0, head_start=2, steepness=0.0, lowest=1.0, highest=5.0, in_flight=6
    )
    assert plan.policy.order_window == 6
    (_, header, row, *_) = inside.succeeded("simulate", path).splitlines()
    assert (header.split()[0], row.split()[0]) == ("policy", "plan")


@slow
def test_flags_are_the_assumptions(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    inside.succeeded(
        *("plan", "--groups", "3", "--horizon", "1e2", "--smallest-difference", ".5"),
        *("--head-start", "1", "--steepness", "1", "--lipschitz", "0.75", "--failure", "0.1"),
        *("--noise", "gaussian:sigma=0.25", "--largest-mean", "2", "--in-flight", "7"),
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
        in_flight=7,
    )
    assert read_plan(path) == make_plan(wanted, seed=12)


@slow
def test_explains_what_is_assumed_and_what_happens_if_it_is_wrong(inside: Runner) -> None:
    output = inside.succeeded(*TINY, "--explain")
    assert output.startswith(ENOUGH)
    _, _, explained = output.partition("What is assumed\n")
    assumed, _, table = explained.partition("What happens if an assumption is wrong\n")
    assert "no group outnumbers another by more than 2 members" in assumed
    assert "Scores lie between 0 and 1; the bias acts on what a score has above 0." in assumed
    assert "Each choice is scored before the next is made." in assumed
    rows = table.splitlines()
    for words in ("a larger head start", "a smaller difference", "fewer choices"):
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
    _, header, row, _, note = affinity.succeeded("simulate", path).splitlines()
    assert header.split()[0] == "policy"
    assert row.split()[0] == "plan"
    assert row.split()[-1] == "rounds"
    assert note.startswith("100 runs of 300 pulls")
    # The flags of simulate still override the file.
    _, _, row, _, note = affinity.succeeded(
        *("simulate", path, "--policy", "uniform", "--horizon", 50, "--replicates", 3)
    ).splitlines()
    assert row.split()[0] == "uniform"
    assert note.startswith("3 runs of 50 pulls")


@slow
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


@slow
def test_remembers_a_plan_until_told_to_make_it_again(inside: Runner) -> None:
    first = inside.succeeded(*TINY)
    (kept,) = inside.kept
    assert kept.suffix == ".toml"
    assert inside.succeeded(*TINY) == first
    # A plan that was tampered with gives away where a verdict comes from.
    changed = kept.read_text(encoding="utf-8").replace("wrong = 0\n", "wrong = 299\n", 1)
    kept.write_text(changed, encoding="utf-8")
    assert "299 of 300 runs" in inside.succeeded(*TINY)
    assert inside.succeeded(*TINY, "--again") == first
    assert "299 of 300 runs" not in inside.succeeded(*TINY, "--seed", "1")
    assert len(inside.kept) == 2


@slow
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
    # Groups, choices, Enter twice: from 0 to 1; the rest, and Enter twice: one in flight, 0.05.
    os.write(ours, b"2\n3e2\n\n\n0.5\n2\n0\n\n\n")
    output, errors = process.communicate(timeout=120)
    os.close(ours)
    assert errors == ""
    assert process.returncode == 0
    assert "How many groups are compared?" in output
    assert "What is the lowest score there can be? [0]" in output
    assert "How many choices may be under way at once, not scored yet? [1]" in output
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
    os.write(ours, b"2\nmany\n\n\n0.5\n\n\n\n\n")
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
