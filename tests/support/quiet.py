"""What a command said on standard error, without the words that only show that it is alive."""

from __future__ import annotations

import re
import subprocess

ALIVE = re.compile(
    r"(?:at work|(?:\d+% done|\d+%, .* left)(?:; if .*)?|"
    r"[\d,]+ of [\d,]+ replicates.*|\S+: [\d,]+ runs finished|drawn: .*)"
    r"(?:; compiling once for this machine|; starting Ray)?, \d+ s"
)


def without_heartbeat(said: str) -> str:
    """Return output without a heartbeat's lines, which depend on the machine's speed and caches."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not ALIVE.fullmatch(line.rstrip()))


def quiet(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Return a command that has ended as if it had not been waited for."""
    done.stderr = without_heartbeat(done.stderr)
    return done
