"""How long a user waits before anything happens: `python -m bench.startup --json`."""

from __future__ import annotations

import subprocess
import sys
import time

from bench.measure import main

COMMAND = "from affinity_bandits.cli import main; main()"


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    package = best_import("affinity_bandits")
    numpy = best_import("numpy")
    small = ["simulate", "--means", "0.4,0.6", "--horizon", "1e4", "--replicates", "10"]
    command(small)  # compiles, if this machine has not run it before
    return {
        "startup.import_s": package,
        "startup.numpy_import_s": numpy,
        "startup.import_beyond_numpy_s": package - numpy,
        "startup.second_simulate_s": min(command(small) for _ in range(3)),
    }


def best_import(module: str) -> float:
    """Return the shortest time of importing a module in a fresh process, in seconds."""
    program = (
        "import time; start = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - start)"
    )
    times = []
    for _ in range(7):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        times.append(float(done.stdout))
    return min(times)


def command(arguments: list[str]) -> float:
    """Return how long an `affinity` command takes, in seconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main(run))
