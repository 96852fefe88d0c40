"""Worker processes end with the process that started them, and bad work ends in words."""

from __future__ import annotations

import base64
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from affinity_bandits.base import workers
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.workers import BoundedWorkers, Worker
from tests.support.environments import ROOT

pytestmark = pytest.mark.slow
PATIENCE = 60.0


def spin(*_: object) -> None:
    """Work on without looking at anything, as a reader of a file does."""
    ends = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < ends:
        pass


def start_bounded() -> None:
    threading.Thread(target=BoundedWorkers(1).run, args=(spin,), daemon=True).start()


def start_worker() -> None:
    Worker(spin)


def start_plain() -> None:
    """The control: a process as `multiprocessing` starts it."""
    context = multiprocessing.get_context("spawn")
    context.Process(target=spin, daemon=True).start()


DRIVER = """
import multiprocessing, sys, time
from tests.base import test_workers

if __name__ == "__main__":
    getattr(test_workers, sys.argv[1])()
    while not multiprocessing.active_children():
        time.sleep(0.01)
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(600)
"""


def is_busy(pid: int) -> bool:
    """Whether a process lives and has spent half a second of CPU time, more than a start takes."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    except OSError:
        return False
    return state[0] != "Z" and int(state[11]) > 0.5 * os.sysconf("SC_CLK_TCK")


@pytest.fixture
def kill_the_driver(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Start a driver with a busy worker, kill the driver, and return the worker's number."""
    found: list[int] = []

    def kill(how: str) -> int:
        script = tmp_path / "driver.py"
        script.write_text(DRIVER, encoding="utf-8")
        command = [sys.executable, str(script), how]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as driver:
            assert driver.stdout is not None
            pid = int(driver.stdout.readline())
            found.append(pid)
            wait_until(lambda: is_busy(pid))
            driver.kill()
        return pid

    yield kill
    for pid in found:
        if is_busy(pid):
            os.kill(pid, signal.SIGKILL)


def wait_until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.parametrize("how", [start_bounded, start_worker])
def test_a_busy_worker_ends_when_its_driver_is_killed(
    kill_the_driver: Callable[[str], int], how: Callable[[], None]
) -> None:
    pid = kill_the_driver(how.__name__)
    wait_until(lambda: not is_busy(pid))


def test_a_plain_process_would_live_on(kill_the_driver: Callable[[str], int]) -> None:
    pid = kill_the_driver(start_plain.__name__)
    time.sleep(3.0)
    assert is_busy(pid)


def test_work_that_takes_too_long_is_ended() -> None:
    bounded = BoundedWorkers(1, seconds=4.0)
    with pytest.raises(InvalidInput, match="in 4 seconds, got"):
        bounded.run(time.sleep, 60)
    assert bounded.run(base64.b64encode, b"a") == b"YQ=="


def test_small_work_need_not_wait_for_large_work() -> None:
    bounded = BoundedWorkers(1, seconds=60.0, seconds_beside=12.0)
    long = threading.Thread(target=bounded.run, args=(time.sleep, 30.0))
    long.start()
    time.sleep(0.5)
    assert bounded.run(base64.b64encode, b"a") == b"YQ=="
    with pytest.raises(InvalidInput, match="in 12 seconds while larger ones are; try again later"):
        bounded.run(time.sleep, 60)
    assert long.is_alive()
    long.join()


def abort() -> None:
    os.write(2, b"a page of addresses\n")
    os.abort()


def test_work_that_aborts_is_reported_in_words_alone(capfd: pytest.CaptureFixture[str]) -> None:
    bounded = BoundedWorkers(1)
    with pytest.raises(InvalidInput, match="with 2,048 MB of memory"):
        bounded.run(abort)
    assert capfd.readouterr().err == ""
    assert bounded.run(base64.b64encode, b"a") == b"YQ=="


def test_workers_start_where_signals_cannot_be_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.delattr(signal, "pthread_sigmask")
    assert BoundedWorkers(1).run(base64.b64encode, b"a") == b"YQ=="


def test_workers_answer_where_memory_cannot_be_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, which has no module `resource`; in this process, to take it away."""
    monkeypatch.setattr(workers, "find_spec", lambda _: None)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    near: Connection
    near, far = multiprocessing.Pipe()
    serving = threading.Thread(target=workers.answer_calls, args=(far, 1 << 20))
    serving.start()
    near.send((base64.b64encode, (b"a",)))
    assert near.recv() == (b"YQ==", None)
    near.close()
    serving.join()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
