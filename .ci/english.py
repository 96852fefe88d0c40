"""Count the docstring sentences that readers stumble over: `python .ci/english.py [--list]`.

Two counts over all docstrings of the package:

    negated    sentences with a negation; at most 12% of all
    headless   first sentences with "what", "whoever" or the like instead of a noun; none

`--list` prints the sentences.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"
NEGATED = re.compile(
    r"\b(no|not|nothing|never|none|nobody|nowhere|neither|nor|cannot|without)\b|n't\b", re.I
)
# "What" after these verbs begins an indirect question, which is plain English.
HEADLESS = re.compile(
    r"(?<!\bask )(?<!\bsay )(?<!\bdecide )\b(what|whatever|whoever|whichever)\b", re.I
)
CODE = re.compile(r"`[^`]*`|\bNone\b(?! of)")  # not prose; "None of" is
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`])|\n\s*\n|\n\s*(?=\w+: )")
LARGEST_SHARE = 0.12


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield each docstring of the package with its place."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(SOURCES)}:{getattr(node, 'lineno', 1)}", text


def sentences(text: str) -> list[str]:
    """Return the sentences of a docstring without its examples."""
    kept = [line for line in text.splitlines() if not line.lstrip().startswith((">>>", "..."))]
    parts = (" ".join(part.split()) for part in END.split("\n".join(kept)))
    return [part for part in parts if " " in part]


def prose(sentence: str) -> str:
    """Return a sentence with each piece of code replaced by a word."""
    return CODE.sub("code", sentence)


def main() -> int:
    """Print both counts; return 1 if one is too large."""
    negated: list[str] = []
    headless: list[str] = []
    number = 0
    for place, text in docstrings():
        found = sentences(text)
        number += len(found)
        negated += [f"{place} {one}" for one in found if NEGATED.search(prose(one))]
        headless += [f"{place} {one}" for one in found[:1] if HEADLESS.search(prose(one))]
    for name, examples in (("negated", negated), ("headless", headless)):
        print(f"{name}: {len(examples)} of {number} sentences ({len(examples) / number:.1%})")
        if "--list" in sys.argv:
            print("\n".join(examples))
    return int(len(negated) > LARGEST_SHARE * number or bool(headless))


if __name__ == "__main__":
    sys.exit(main())
