"""Long work prints something every so often, and nothing once it has ended."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable

import pytest

from affinity_bandits.base import progress as module
from affinity_bandits.base.progress import (
    delay,
    forward_delays,
    heartbeat,
    show_progress,
)


@pytest.fixture
def wait_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], None]:
    """Wait until a heartbeat prints these words; a minute is for the busiest machine."""
    monkeypatch.setattr(module, "SOON", 0.02)
    monkeypatch.setattr(module, "EVERY", 0.02)

    def wait(words: str) -> None:
        until = time.monotonic() + 60.0
        while words not in capsys.readouterr().err:
            assert time.monotonic() < until, words
            time.sleep(0.01)

    return wait


def test_the_innermost_work_is_named_and_the_outer_one_after_it(
    wait_for: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with heartbeat("outside"):
        wait_for("outside, ")
        with heartbeat("inside"):
            wait_for("inside, ")
            with show_progress(words=lambda: "within"):
                wait_for("within, ")
        with show_progress(4.0) as bar:
            bar.tick(1.0)
            wait_for("25% done, ")
        wait_for("outside, ")
    capsys.readouterr()
    with show_progress(words=lambda: "nobody prints this"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_what_a_first_run_waits_for_is_said_beside_the_work(
    wait_for: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with heartbeat("work"):
        with delay("compiling"):
            wait_for("work; compiling, ")
            with delay("starting"):
                wait_for("work; starting, ")
        wait_for("work, ")
    capsys.readouterr()
    with heartbeat(""):  # beside displays that say the rest
        time.sleep(0.2)
        assert capsys.readouterr().err == ""
        with delay("compiling"):
            wait_for("compiling, ")


def test_what_follows_is_said_once_and_no_zero_is_told(
    wait_for: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = ""
    with heartbeat("outside"), show_progress(1.0, after=lambda: verdict) as bar:
        with delay("compiling"):
            wait_for("at work; compiling, ")
        bar.tick(0.004)
        wait_for("at work, ")
        verdict = "; enough"
        bar.tick(0.296)
        wait_for("30% done; enough, ")
        wait_for("30% done, ")
        verdict = "; too few"
        wait_for("30% done; too few, ")
        capsys.readouterr()
        time.sleep(0.2)
        said = capsys.readouterr().err
    assert "few" not in said
    assert said.count("30% done, ") == said.count("\n") > 1


def test_a_driver_is_told_of_the_delays_of_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_forward", [])
    told: list[str] = []
    forward_delays(told.append)
    with delay("compiling"), delay("compiling a part"):
        assert told == ["compiling"]
    assert told == ["compiling", ""]


def test_threads_may_end_in_any_order(wait_for: Callable[[str], None]) -> None:
    begun, ended = threading.Event(), threading.Event()

    def other() -> None:
        with heartbeat("other"):
            begun.set()
            ended.wait(60.0)

    thread = threading.Thread(target=other)
    with heartbeat("first"):
        thread.start()
        assert begun.wait(60.0)
        wait_for("other, ")
    ended.set()
    thread.join()
    with heartbeat("next"):
        wait_for("next, ")


@pytest.mark.usefixtures("wait_for")
def test_work_goes_on_if_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = threading.Event()

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            tried.set()
            raise BrokenPipeError(text)

    monkeypatch.setattr(sys, "stderr", Closed())
    with heartbeat("work"):
        assert tried.wait(60.0)


def test_a_terminal_shows_a_bar_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with show_progress(4.0) as bar:
        bar.tick(1.0)
        assert sys.stderr.getvalue() == ""
        monkeypatch.setattr(module, "PATIENCE", 0.0)
    with show_progress(4.0) as bar:
        bar.tick(1.0)
        bar.tick(1.0)
    assert "50%" in sys.stderr.getvalue()
    with delay("compiling"), show_progress(4.0, wanted=True) as bar:
        bar.tick(1.0)
    assert "25%, 0 s left; compiling" in sys.stderr.getvalue()
    with show_progress(4.0, lambda: "words of one's own"):
        pass
    assert "words of one's own" in sys.stderr.getvalue()
