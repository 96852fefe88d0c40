"""Work that says nothing else is heard of every so often, and never again once it has ended."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from affinity_bandits import heartbeat as module
from affinity_bandits.heartbeat import heartbeat, meanwhile
from affinity_bandits.progress import progress_bar

COMMAND = "from affinity_bandits.cli import main; main()"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY", 0.02)


def wait_for(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Wait until a heartbeat says these words; a minute is for the busiest machine."""
    until = time.monotonic() + 60.0
    while words not in capsys.readouterr().err:
        assert time.monotonic() < until, words
        time.sleep(0.01)


def test_the_innermost_work_is_named_and_the_outer_one_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with heartbeat("outside"):
        wait_for("outside, ", capsys)
        with heartbeat("inside"):
            wait_for("inside, ", capsys)
            with meanwhile(lambda: "within"):
                wait_for("within, ", capsys)
        wait_for("outside, ", capsys)


def test_nothing_is_said_after_the_end_nor_without_a_heartbeat(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> None:
        with heartbeat("work"):
            wait_for("work", capsys)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not [one for one in threading.enumerate() if one.name == "heartbeat"]
    capsys.readouterr()
    with meanwhile(lambda: "nobody says this"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_threads_may_end_in_any_order(capsys: pytest.CaptureFixture[str]) -> None:
    """One that works on inside of another's heartbeat ends in order, and the next one is heard."""
    begun, ended, failures = threading.Event(), threading.Event(), list[BaseException]()

    def other() -> None:
        try:
            with heartbeat("other"):
                begun.set()
                assert ended.wait(60.0)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=other)
    with heartbeat("first"):
        thread.start()
        assert begun.wait(60.0)
        wait_for("other, ", capsys)
    ended.set()
    thread.join()
    assert failures == []
    with heartbeat("next"):
        wait_for("next, ", capsys)


def test_a_run_without_a_terminal_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with heartbeat("at work"), progress_bar(None, 4.0) as bar:
        bar.tick(1.0)
        wait_for("25% done", capsys)


def test_work_goes_on_if_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            tried.set()
            raise BrokenPipeError(text)

    monkeypatch.setattr(sys, "stderr", Closed())
    with heartbeat("work"):
        assert tried.wait(60.0)


@pytest.mark.slow
def test_a_command_that_compiles_is_heard_of_every_two_seconds(tmp_path: Path) -> None:
    """The costliest policy to compile: a word for every two seconds, but for six of a busy day."""
    words = ("simulate", "--means", "0.4,0.6", "--horizon", "200", "--replicates", "2")
    policy = ("--policy", "handicap-elimination:head_start=10")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words, *policy],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("compiling, ")]
    assert len(said) >= took / 2.0 - 3.0
    assert took > 6.0, "it compiled too fast to show anything"
