"""Run the Python of a page as its reader types it, in the page's own environment.

Started by reader.py with the interpreter of that environment. Each line on stdin is JSON, the
shell's variables and a file, and so is each answer. A block sees the names of those before it, as
at a prompt, but it is loaded from its file as any module is: what cannot be imported, pickled or
compiled from a file fails.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def load(path: Path, names: dict[str, Any]) -> str:
    """Import a file with some names there already; keep its own; return what it prints."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    own = dict(vars(module))
    vars(module).update(names | own)
    sys.modules[path.stem] = module
    printed = io.StringIO()
    with redirect_stdout(printed):
        spec.loader.exec_module(module)
    names.update({name: value for name, value in vars(module).items() if name[:2] != "__"})
    return printed.getvalue()


def main() -> None:
    """Load one file after the other until nobody asks for more."""
    sys.path.insert(0, "")
    names: dict[str, Any] = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a block's own processes print is not an answer
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.update(asked["variables"])
        try:
            answer = {"printed": load(Path(asked["file"]), names)}
        except BaseException:
            answer = {"failed": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
