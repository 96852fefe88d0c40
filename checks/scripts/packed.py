"""Fail if a first command compiles anything although its wheel has machine code: packed.py.

Run it with the Python of an environment where only the wheel and its packages are installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from affinity_bandits.cli.warm import EXAMPLE, FIRST

COUNT = """
import sys
from affinity_bandits.base import progress
compiled = []
progress.begin_delay = compiled.append
progress.end_delay = lambda words: None
from affinity_bandits.cli import main
try:
    main()
finally:
    print(len(compiled))
"""


def main() -> int:
    """Run each first command with new caches, and say how many functions it compiled."""
    failed = False
    for name, words in FIRST.items():
        with tempfile.TemporaryDirectory() as folder:
            for file in EXAMPLE.iterdir():
                Path(folder, file.name).write_bytes(file.read_bytes())
            cache = Path(folder, "cache")
            done = subprocess.run(
                [sys.executable, "-c", COUNT, *words],
                cwd=folder,
                env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
                check=True,
                text=True,
                stdout=subprocess.PIPE,
            )
            compiled = int(done.stdout.splitlines()[-1])
            loaded = len(list(cache.rglob("*.nbc")))
        print(f"affinity {name}: {loaded} functions from the wheel, {compiled} compiled")
        failed = failed or compiled > 0 or loaded == 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
