"""What the room shows, and that it costs nothing to import."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

from affinity_bandits import theory

WITHOUT_LABEL = {"lai_robbins", "outcome_index"}
"""A bound of others, and a helper."""


def test_every_function_names_its_source() -> None:
    for name in theory.__all__:
        function = getattr(theory, name)
        if inspect.isfunction(function) and name not in WITHOUT_LABEL:
            assert re.search(r"`(eq|thm|lem|cor|def|sec|rem):\w+`", function.__doc__ or ""), name


@pytest.mark.slow
def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ["numba", "scipy", "xarray", "matplotlib", "affinity_bandits.simulation"]
    code = (
        f"import sys, affinity_bandits.theory; print(*(m for m in {heavy!r} if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == []
