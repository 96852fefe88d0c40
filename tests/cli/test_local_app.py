"""`affinity app`: how it is started and ended."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import httpx
import pytest
from typer.testing import CliRunner

from affinity_bandits.cli.app import app as command
from tests.support.served import until


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "given with --allow-host"),
        (["--host", "::"], "given with --allow-host"),
        (["--host", "example.org"], "an address such as 127.0.0.1"),
        (["--port", "70000"], "port"),
        (["--port", "many"], "a number"),
    ],
)
def test_a_start_that_others_could_reach_needs_a_name(words: list[str], said: str) -> None:
    result = CliRunner().invoke(command, ["app", "--no-browser", *words])
    assert result.exit_code != 0
    assert said in str(result.exception)


@pytest.mark.slow
def test_ctrl_c_ends_the_command_without_complaint() -> None:
    start = "from affinity_bandits.cli import main; main()"
    command = [sys.executable, "-c", start, "app", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = re.findall(r"http://127\.0\.0\.1:\d+", said)[0]
        until("served", lambda: httpx.get(address).status_code == 200)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
