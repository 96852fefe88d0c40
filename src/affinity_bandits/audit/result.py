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
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput

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
        audit: the result.
        log: its scores.
        source: the name of the log.
        notes: skipped and converted cells of the log.
        declaration: of the groups, the person responsible and the purpose, if made.
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
        "worst_score": audit.scale[0],
        "best_score": audit.scale[1],
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
    """Read a file from `to_json`.

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


def _replace_nan(value: Any) -> Any:
    """Return a value with None for numbers that are not finite, which JSON cannot express."""
    if isinstance(value, dict):
        return {name: _replace_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
