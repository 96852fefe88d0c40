"""An audit as JSON, for programs and for `affinity plan --from`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits._version import __version__
from affinity_bandits.audit.conclude import Audit
from affinity_bandits.audit.log import ScoreLog
from affinity_bandits.audit.sentences import tell
from affinity_bandits.declaration import Declaration
from affinity_bandits.errors import InvalidInput

FORMAT = "affinity audit"
VERSION = 1
NEEDED = ("word", "groups", "scale", "favor", "spread")


def to_json(
    audit: Audit,
    log: ScoreLog,
    *,
    source: str,
    notes: Sequence[str] = (),
    declaration: Declaration | None = None,
) -> str:
    """Return an audit as JSON.

    Args:
        audit: what was found.
        log: in which it was found.
        source: the name of the log.
        notes: what was skipped or converted when the log was read.
        declaration: what the groups are, who is responsible and why, if that was declared.
    """
    found = {
        "format": FORMAT,
        "version": VERSION,
        "package_version": __version__,
        "source": source,
        "declaration": None if declaration is None else declaration.to_json(),
        "notes": list(notes),
        "spread": measure_spread(log),
        "story": asdict(tell(audit)),
        **asdict(audit),
    }
    found["warnings"] = [{"code": code, "detail": detail} for code, detail in audit.warnings]
    return json.dumps(_replace_nan(found), indent=1, allow_nan=False, ensure_ascii=False)


def measure_spread(log: ScoreLog) -> float:
    """Return the standard deviation of scores within the candidates' groups, in points."""
    counts = np.bincount(log.group, log.count)
    means = np.bincount(log.group, log.score * log.count) / np.maximum(counts, 1)
    squares = (log.score - means[log.group]) ** 2
    return log.width * math.sqrt(np.average(squares, weights=log.count))


def read_result(path: Path) -> Mapping[str, Any]:
    """Read what `to_json` wrote.

    Raises:
        InvalidInput: the file is missing or something else.
    """
    rule = f"a file that 'affinity audit --json' wrote (version {VERSION})"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput("from", rule, f"{path}: {error.strerror}") from None
    except ValueError:
        raise InvalidInput("from", rule, str(path)) from None
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != (
        FORMAT,
        VERSION,
    ):
        raise InvalidInput("from", rule, str(path))
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise InvalidInput("from", rule, f"{path} without {', '.join(missing)}")
    return found


def read_answers(path: Path) -> dict[str, Any]:
    """Return the answers to a plan's questions that an audit's file has."""
    return derive_answers(read_result(path))


def derive_answers(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups, the scale, the spread of scores and the largest bonus.

    The bonus is the upper end of the favor's interval, relative to the mean score above the lowest
    one. It is "no idea" if the log cannot tell. The committee is not in an audit.

    Args:
        found: what `to_json` wrote.

    Raises:
        InvalidInput: the groups are protected attributes, which a plan must not compare.
    """
    if found.get("declaration"):
        Declaration.from_json(found["declaration"]).check_comparison()
    low, high = found["scale"]
    counts = [group["scores"] for group in found["groups"]]
    total = sum(n * group["mean"] for n, group in zip(counts, found["groups"], strict=True))
    level = total / sum(counts) - low
    answers: dict[str, Any] = {
        "groups": [group["name"] for group in found["groups"]],
        "scale": f"{low:g}..{high:g}",
        "bonus": "no idea",
    }
    if found["spread"]:
        answers["spread"] = f"{found['spread']:.3g}"
    if found["word"] != "cannot tell" and found["favor"] is not None and level > 0.0:
        answers["bonus"] = f"{math.ceil(100.0 * max(0.0, found['favor']['high']) / level)}%"
    return answers


def _replace_nan(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _replace_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
