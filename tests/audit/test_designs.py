"""Who judges whom, of any shape: the whole audit, its page, its JSON and its text."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affinity_bandits.audit import audit_scores
from affinity_bandits.audit.judges import remove_effects
from affinity_bandits.audit.log import ScoreLog, score_log
from affinity_bandits.audit.result import to_json
from affinity_bandits.plots.audit_report.page import render_page
from tests.cli.inside import inside

SHAPES = {
    "crossed": "Yes: ",
    "half crossed": "Yes: ",
    "groups skipped": "This file cannot tell",
    "disconnected": "Yes: ",
}
"""Who judges whom, and the verdict on 40 prompts with 2 judges in each of 3 groups."""
Rows = list[tuple[int, str, float, str, str, int]]


def draw_rows(
    shape: str, groups: int, per: int, items: int, *, seed: int = 0, steps: float = 0.0
) -> Rows:
    """Draw scores from 0 to 1: judges `per` group, and `items` candidates of each group.

    Shapes: every judge sees everybody; every second pair is missing; judges never see the next
    group; or judges with the same number in their group see their own candidates only.
    """
    generator = np.random.default_rng(seed)
    judges = [(number, group) for group in range(groups) for number in range(per)]
    rows: Rows = []
    for item in range(items):
        for group in range(groups):
            quality = generator.normal(0.5, 0.15)
            for number, judge_group in judges:
                seen = {
                    "crossed": True,
                    "half crossed": (item + group + number + judge_group) % 2 == 0,
                    "groups skipped": (group + 1) % groups != judge_group or groups == 2,
                    "disconnected": item % per == number,
                }[shape]
                favor = 0.06 * (judge_group == group)
                score = min(1.0, max(0.0, quality + generator.normal(0.0, 0.15) + favor))
                if steps:
                    score = round(score / steps) * steps
                if seen:
                    who, own = f"g{judge_group}j{number}", f"g{judge_group}"
                    rows.append((item * groups + group, f"g{group}", score, who, own, item))
    return rows


def make_log(rows: Rows) -> ScoreLog:
    candidate, group, score, judge, judge_group, session = zip(*rows, strict=True)
    return score_log(
        candidate, group, score, scale=(0.0, 1.0), judge=judge, judge_group=judge_group,
        session=session,
    )  # fmt: skip


@pytest.mark.slow
@example("crossed", 3, 1, 10, 0, 0.0)
@example("crossed", 3, 2, 37, 1, 0.0)
@example("crossed", 7, 2, 12, 2, 0.25)
@example("crossed", 3, 2, 12, 2, 1.0)
@settings(max_examples=60)
@given(
    st.sampled_from(list(SHAPES)),
    st.integers(2, 7),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(0, 99),
    st.sampled_from((0.0, 0.25, 1.0)),
)
def test_every_design_gets_a_whole_report(
    shape: str, groups: int, per: int, items: int, seed: int, steps: float
) -> None:
    log = make_log(draw_rows(shape, groups, per, items, seed=seed, steps=steps))
    audit = audit_scores(log, draws=2)
    numbers = [chance for _, chance in audit.power]
    if audit.favor is not None:
        assert -1.0 <= audit.favor.low <= audit.favor.points <= audit.favor.high <= 1.0
        numbers += [audit.favor.low, audit.favor.points, audit.favor.high]
    numbers += [audit.log_evidence, audit.deviation]
    assert all(math.isfinite(number) for number in numbers)
    assert sum(group.scores for group in audit.groups) == len(log)
    page = render_page(audit)
    assert ">nan" not in page
    assert " nan" not in page
    assert json.loads(to_json(audit, log, source="a test"))["word"] == audit.word


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("groups", range(2, 8))
def test_residuals_are_those_of_least_squares(shape: str, groups: int) -> None:
    """Also where the judges' effects cancel, and rounding is all that is left of them."""
    log = make_log(draw_rows(shape, groups, 3, 9))
    columns = np.zeros((len(log), log.performances + len(log.judges)))
    rows = np.arange(len(log))
    columns[rows, log.performance] = 1.0
    columns[rows, log.performances + log.judge] = 1.0
    for values in (log.score, log.own.astype(np.float64), np.full(len(log), 1 / 3)):
        fitted = columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
        assert remove_effects(log, values) == pytest.approx(values - fitted, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_command_line_audits_every_design(shape: str, tmp_path: Path) -> None:
    place, page = tmp_path / "scores.csv", tmp_path / "report.html"
    with place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["candidate", "group", "score", "judge", "judge_group", "session"])
        rows.writerows(draw_rows(shape, 3, 2, 40))
    done = inside(("audit", place, "--scale", "0..1", "--report", page), {})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(SHAPES[shape])
    assert SHAPES[shape].rstrip(".") in page.read_text(encoding="utf-8")
