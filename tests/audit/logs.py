"""Small logs of scores for tests of the audit, and logs in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits.audit.log import ScoreLog, score_log
from affinity_bandits.audit.look import Answers, open_log
from affinity_bandits.audit.read import Reading
from affinity_bandits.audit.tables import read_table

Effect = Callable[[str, int, str, int], float]
"""Candidate's group, judge, judge's group and session to points."""
Columns = dict[str, list[Any]]


def no_effect(group: str, judge: int, judge_group: str, session: int) -> float:
    """Add nothing."""
    return 0.0


def draw_columns(
    candidates: int = 240,
    *,
    groups: str = "ABC",
    judges: int = 12,
    per: int = 3,
    day: int = 12,
    favor: float = 0.0,
    error: float = 1.0,
    effect: Effect = no_effect,
    seed: int = 0,
) -> Columns:
    """Draw scores from 0 to 20; quality and strictness are random."""
    generator = np.random.default_rng(seed)
    strictness = generator.normal(0.0, 1.0, judges)
    quality = generator.normal(10.0, 1.0, candidates)
    drawn = generator.integers(len(groups), size=candidates)
    seats = generator.random((candidates, judges)).argsort(axis=1)[:, :per]
    noise = generator.normal(0.0, error, (candidates, per))
    columns: Columns = {
        "candidate": np.repeat(np.arange(candidates), per).tolist(),
        "group": [groups[g] for g in np.repeat(drawn, per)],
        "judge": [f"j{judge:02}" for judge in seats.ravel()],
        "judge_group": [groups[judge % len(groups)] for judge in seats.ravel()],
        "session": np.repeat(np.arange(candidates) // day, per).tolist(),
    }
    added = [
        favor * (group == own_group) + effect(group, int(judge), own_group, session)
        for group, judge, own_group, session in zip(
            columns["group"], seats.ravel(), columns["judge_group"], columns["session"], strict=True
        )
    ]
    points = (quality[:, None] + strictness[seats] + noise).ravel() + np.array(added)
    columns["score"] = points.clip(0.0, 20.0).tolist()
    return columns


def draw(candidates: int = 240, **settings: Any) -> ScoreLog:
    """Draw a log; see `draw_columns`."""
    return score_log(**draw_columns(candidates, **settings), scale=(0.0, 20.0))


def read_log(
    path: Path,
    *,
    scale: tuple[float, float],
    columns: Mapping[str, str] | None = None,
    people: Path | None = None,
    date_format: str | None = None,
    sheet: str | None = None,
) -> Reading:
    """Read a log from a file, whose scale goes from the worst to the best score."""
    answers = Answers(
        columns=columns or {},
        scale=f"{scale[0]:g}..{scale[1]:g}",
        best="highest" if scale[0] < scale[1] else "lowest",
        date_format=date_format,
    )
    look = open_log(path, answers, sheet=sheet)
    return look.read(None if people is None else read_table(people))
