"""What an expression is in a process of its own that compiles nothing."""

from __future__ import annotations

import json
from typing import Any

from .processes import run_python


def value_without_compiler(module: str, expression: str, before: str = "") -> Any:
    """Return the value of an expression over the names of a module, as JSON brings it back."""
    program = f"{before}\nimport json\nfrom {module} import *\nprint(json.dumps({expression}))"
    done = run_python("-W", "error", "-c", program, NUMBA_DISABLE_JIT="1")
    return json.loads(done.stdout)
