"""What an expression is in a process of its own that compiles nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def value_without_compiler(module: str, expression: str, before: str = "") -> Any:
    """Return the value of an expression over the names of a module, as JSON brings it back."""
    program = f"{before}\nimport json\nfrom {module} import *\nprint(json.dumps({expression}))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
