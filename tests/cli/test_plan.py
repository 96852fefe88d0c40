"""`affinity plan`: what it asks, says, writes, remembers and refuses.

In a process of its own wherever the process matters; what is only refused or remembered runs the
same `main` inside this one, which is much faster.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from affinity_bandits.base.progress import Progress
from affinity_bandits.planning import Assumptions, make_plan
from affinity_bandits.planning.files import read_plan
from affinity_bandits.planning.sentences import WAYS, tell_judges
from tests.support.quiet import without_heartbeat

from .plan_runner import ASSUMED, TINY, Runner, command, surroundings

slow = pytest.mark.slow

ALIKE = ("--favor-gap", "same", "--strictness", "same")
PLAIN = ("plan", "--scale", "yes/no", "--difference", "0.5", "--bonus", "20%", *ALIKE)
ENOUGH = "300 choices are enough."
ENOUGH_MATCHES = "300 matches are enough."


@slow
def test_prints_the_verdict_what_was_said_and_what_it_costs(affinity: Runner) -> None:
    verdict, said, *lines = affinity.succeeded(*TINY).splitlines()
    plan = make_plan(ASSUMED)
    assert verdict == ENOUGH
    assert said == "2 groups, none ahead of another by more than 2 members. Scores from 0 to 1, any"
    (row,) = [line for line in lines if line.startswith("the whole committee")]
    cost = plan.cost
    assert row.split()[3:] == [
        f"{cost.choices:,.0f}",
        f"{cost.choices_95:,.0f}",
        f"{plan.detectable:.2g}",
        "yes",
    ]
    text = " ".join(lines)
    assert "at most 5%; at worst" in text
    assert "everybody chosen joins the committee at once, and nobody leaves;" in text
    assert "never lowers a score as a share grows." in text
    assert f"at worst {plan.most_wrong.wrong} of {plan.most_wrong.replicates:,} runs" in text
    assert "weeks" not in text  # nobody said how fast choices come


@slow
def test_flags_are_the_assumptions(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    inside.succeeded(
        *("plan", "--groups", "3", "--budget", "1e2", "--difference", ".5"),
        *("--initial-lead", "1", "--steepness", "1", "--lipschitz", "0.75", "--failure", "10%"),
        *("--noise", "gaussian:sigma=0.25", "--largest-mean", "2", "--in-flight", "7"),
        *("--judges", "committee", "--seed", "12", "--out", path),
        *("--favor-gap", "same", "--strictness", "same", "--judges-per-group", "5"),
    )
    wanted = Assumptions(
        groups=3,
        horizon=100,
        smallest_difference=0.5,
        initial_lead=1,
        steepness=1.0,
        lipschitz=0.75,
        noise="gaussian",
        sigma=0.25,
        largest_mean=2.0,
        failure=0.1,
        in_flight=7,
        judges_per_group=5,
    )
    assert read_plan(path) == make_plan(wanted, seed=12)


@slow
def test_explains_what_is_assumed_and_which_differences_are_noticed(inside: Runner) -> None:
    output = inside.succeeded(*TINY, "--in-flight", "6", "--explain")
    assert output.startswith(ENOUGH)
    _, _, explained = output.partition("What is assumed where the whole committee judges\n")
    assumed, _, apart = explained.partition("Which differences can be told apart\n")
    sentences = " ".join(assumed.split())
    assert "no group outnumbers another by more than 2 members" in sentences
    assert "Scores lie between 0 and 1; the bias acts on what a score has above 0." in sentences
    assert "Up to 6 choices are under way at once, scored in any order." in sentences
    plan = make_plan(replace(ASSUMED, in_flight=6))
    apart, _, differ = apart.partition("How often the wrong group is chosen if")
    (_, *rows), reach = [line.split() for line in apart.splitlines() if line], plan.reach
    assert [row[0] for row in rows] == [f"{one.horizon:,}" for one in reach]
    # The smallest difference is that of the plan where the choices are.
    (own,) = [row for row in rows if row[0] == "300"]
    assert own[1:] == [f"{plan.detectable:.3g}", "or", "more"]
    assert rows[0][1:] == ["nothing", "yet"]
    row = plan.if_judges_differ[0]
    assert f"equal, judges alike {row.wrong:>9}%" in " ".join(differ.split()) or row.wrong == 0
    assert len([line for line in differ.splitlines() if line.endswith("%")]) == 7


@slow
def test_writes_a_plan_that_simulate_takes(affinity: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    assert f"affinity simulate {path}" in affinity.succeeded(*TINY, "--out", path)
    plan = read_plan(path)
    assert plan == make_plan(ASSUMED)
    _, header, row, _, note = affinity.succeeded("simulate", path).splitlines()
    assert header.split()[0] == "policy"
    assert row.split()[0] == "plan"
    assert note.startswith("100 runs of 300 pulls")
    assert note.endswith("seed 0.")
    # The flags of simulate still override the file.
    _, _, row, _, note = affinity.succeeded(
        *("simulate", path, "--policy", "uniform", "--horizon", 50, "--replicates", 30)
    ).splitlines()
    assert row.split()[0] == "uniform"
    assert note.startswith("30 runs of 50 pulls")


@slow
def test_the_cheapest_way_that_is_enough_is_saved(inside: Runner, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    told = inside.succeeded(*PLAIN, "--groups", 3, "--budget", 1000, "--out", path)
    enough = {
        line.split()[0]: float(line.split()[-3].replace(",", ""))
        for line in told.splitlines()
        if line.endswith(" yes")
    }
    assert len(enough) == 4
    cheapest = min(enough, key=enough.__getitem__)
    saved = read_plan(path)
    assert WAYS[saved.assumptions.judges][0].split()[0] == cheapest
    who = tell_judges([saved.assumptions.judges])
    words = " ".join(told.split())
    assert f"The saved plan is the one where {who}: the cheapest way that is enough." in words


@slow
def test_who_should_judge_is_recommended_saved_and_said(inside: Runner, tmp_path: Path) -> None:
    """Nothing is known of three groups' judges, so panels promise nothing and blocks are saved."""
    path = tmp_path / "plan.toml"
    plain = ("plan", "--scale", "yes/no", "--difference", "0.5", "--groups", 3, "--budget", 1000)
    told = " ".join(inside.succeeded(*plain, "--out", path).split())
    assert told.startswith(
        "1,000 choices are enough if third groups judge; no number of choices is enough if panels"
        " or the whole committee judge."
    )
    assert "Recommended: neutral blocks. One person of a third group scores" in told
    assert "in % of runs" not in told
    assert "The saved plan is the one where third groups judge: the only way" in told
    assert "affinity simulate" not in told
    saved = read_plan(path)
    assert (saved.assumptions.judges, saved.policy.name) == ("neutral", "neutral-elimination")
    for words in ("simulate", path), ("simulate", "--policy", "neutral-elimination"):
        message = inside.refused(*words)
        assert "run in blocks" in message
        assert "docs/plan/neutral-blocks.md" in message
        assert "did you mean" not in message
    told = " ".join(inside.succeeded(*plain, "--judges", "outsiders").split())
    assert told.startswith("1,000 choices are enough.")
    assert "Recommended: outsiders alone." in told
    assert "no outsiders" in inside.refused(*plain, "--outsiders", "no", "--judges", "outsiders")
    assert "a third group judge" in inside.refused(*plain, "--groups", 2, "--judges", "neutral")


@slow
def test_a_plan_that_is_too_few_is_saved_only_if_its_judges_are_named(
    inside: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    few = (*PLAIN, "--groups", 2, "--budget", 6, "--out", path)
    done = inside(*few)
    assert done.returncode == 1
    assert done.stdout.startswith("6 choices are too few, whoever judges.")
    assert "no plan was saved, as none is enough; --judges names one" in done.stderr
    assert not path.exists()
    told = " ".join(inside.succeeded(*few, "--judges", "panels").split())
    assert "The saved plan is the one where panels judge: 6 choices are too few." in told
    assert read_plan(path).assumptions.judges == "panel"
    told = " ".join(inside.succeeded(*few, "--judges", "recused").split())
    assert "no number of choices is enough, and nothing is promised" in told
    assert "5%" not in told
    assert read_plan(path).failure is None


@slow
def test_a_plan_of_another_format_is_refused_with_what_to_do(
    inside: Runner, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    inside.succeeded(*TINY, "--out", path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("format = 1\n", "format = 2\n"), encoding="utf-8")
    for word in ("simulate", "plan"):
        message = inside.refused(word, path)
        assert f"{path}: format must be 1: make the plan again with" in message
        assert "'affinity plan', got 2" in message
    path.write_text(text, encoding="utf-8")
    assert "a table [situation]; a plan is tried with" in inside.refused("plan", path)


@slow
def test_a_file_says_what_flags_say(inside: Runner, tmp_path: Path) -> None:
    situation, plan = tmp_path / "situation.toml", tmp_path / "plan.toml"
    situation.write_text(
        '[situation]\ngroups = 2\nscale = "yes/no"\nbudget = 300\ndifference = 0.5\n'
        'initial_lead = 2\nsteepness = 0\njudges = "panels"\n'
        'favor_gap = "same"\nstrictness = "same"\n',
        encoding="utf-8",
    )
    inside.succeeded("plan", situation, "--judges", "committee", "--out", plan)
    assert read_plan(plan) == make_plan(ASSUMED)
    situation.write_text("[situation]\nbudgets = 300\n", encoding="utf-8")
    assert "did you mean 'budget'?" in inside.refused("plan", situation)


@slow
def test_draws_a_picture(affinity: Runner, tmp_path: Path) -> None:
    picture = tmp_path / "plan.png"
    assert f"picture: {picture}" in affinity.succeeded(*TINY, "--plot", picture)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@slow
def test_remembers_a_plan_until_told_to_make_it_again(inside: Runner) -> None:
    first = inside.succeeded(*TINY)
    (kept,) = inside.kept
    assert kept.suffix == ".toml"
    assert inside.succeeded(*TINY) == first
    # A plan that was tampered with gives away where a verdict comes from.
    before, table, rest = kept.read_text(encoding="utf-8").partition("[[plan.hardest]]")
    changed = rest.replace("wrong = 0\n", "wrong = 299\n", 1)
    kept.write_text(before + table + changed, encoding="utf-8")
    assert "299 of 300 runs" in inside.succeeded(*TINY)
    assert inside.succeeded(*TINY, "--again") == first
    assert "299 of 300 runs" not in inside.succeeded(*TINY, "--seed", "1")
    assert len(inside.kept) == 2


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
    # Groups, their unit and scores; what is known of the bias and of judges, who judges, who is
    # there, who joins; what is to be told apart, with how much; four times Enter; and what is
    # declared.
    replies = ["2", "match", "yes/no", "no idea", "same", "same", "", ""]
    replies += ["committee", "do not know", "2", "", "many"]
    replies += ["50%", "300", *("",) * 4, "teams", "no", "the league", "who plays first", ""]
    os.write(ours, "\n".join(replies).encode())
    output, errors = process.communicate(timeout=300)
    os.close(ours)
    assert without_heartbeat(errors) == ""
    assert process.returncode == 0
    assert "Which groups are compared (names, or how many)?" in output
    assert "How many of those chosen join the committee? [all]" in output
    # One answer was wrong, and asked for again.
    assert "Not understood: it must be a part of all answers such as 5% or 0.05" in output
    assert output.count("Which difference in mean scores would matter") == 2
    assert ENOUGH_MATCHES in output
    assert read_plan(path).assumptions == replace(ASSUMED, steepness=2.0, unit="match")
    # The answers end as a file, and as the command that gives them again.
    *_, saved, flags = output.splitlines()
    assert saved.startswith(f"saved as {path} ")
    words = shlex.split(flags.removeprefix("the same as flags: affinity "))
    assert ENOUGH_MATCHES in affinity.succeeded(*words)
    parts = [int(line.partition("%")[0]) for line in errors.splitlines() if "% done" in line]
    assert parts == sorted(parts)


@slow
@terminal
def test_an_interrupt_ends_it_in_one_line_without_a_plan(tmp_path: Path) -> None:
    """Interrupted while its progress bar is drawn; it would take much longer."""
    import pty

    path, cache = tmp_path / "plan.toml", tmp_path / "cache"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(
            *("plan", "--groups", 8, "--scale", "0..1", "--budget", "1e8", "--difference", 0.1),
            *("--initial-lead", 3000, "--judges", "committee", "--out", path),
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


@slow
def test_progress_over_several_plans_never_goes_back(
    monkeypatch: pytest.MonkeyPatch, inside: Runner
) -> None:
    parts: list[float] = []
    tick = Progress.tick

    def recorded(progress: Progress, work: float) -> None:
        tick(progress, work)
        if progress._total == 2:  # that of the command: two plans, as two groups have no recusal
            parts.append(progress.part)

    monkeypatch.setattr(Progress, "tick", recorded)
    inside.succeeded(*TINY, "--bonus", "20%", "--judges", "all", "--explain", "--again")
    assert len(parts) > 20
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1.0)
