"""What a command said on standard error, without the words that only show that it is alive."""

from __future__ import annotations

import re
import subprocess

from affinity_bandits.simulation.notices import NOTICE

ALIVE = re.compile(
    r"(?:at work|compiling|starting|\d+% done|[\d,]+ of [\d,]+ replicates.*"
    r"|\S+: [\d,]+ runs finished), \d+ s"
)


def without_heartbeat(said: str) -> str:
    """Return what is left without a heartbeat's lines and the notice that something is compiled.

    Whether there are any depends on how busy the machine is and on what is compiled already.
    """
    lines = said.splitlines(keepends=True)
    return "".join(x for x in lines if x.rstrip() != NOTICE and not ALIVE.fullmatch(x.rstrip()))


def quiet(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Return a command that has ended as if it had not been waited for."""
    done.stderr = without_heartbeat(done.stderr)
    return done
