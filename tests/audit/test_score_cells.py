"""Words among scores: yes and no count as 1 and 0 only if the whole column has nothing else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from openpyxl import Workbook

from affinity_bandits.audit.read import BadLog, Reading, read_scores
from affinity_bandits.audit.scale import score_range
from affinity_bandits.audit.tables import Table, read_table
from tests.audit.logs import read_log

COLUMNS = {"group": "group", "score": "score"}


def table(*scores: object) -> Table:
    book, out = Workbook(), io.BytesIO()
    book.active.append(["group", "score"])
    for number, score in enumerate(scores):
        book.active.append(["ab"[number % 2], score])
    book.save(out)
    return read_table(Path("log.xlsx"), content=out.getvalue())


def read(*scores: object, scale: tuple[float, float]) -> Reading:
    return read_scores(table(*scores), COLUMNS, scale=scale)


def refused(*scores: object, scale: tuple[float, float]) -> tuple[str, ...]:
    with pytest.raises(BadLog) as caught:
        read(*scores, scale=scale)
    return caught.value.problems


@pytest.mark.parametrize("word", ["Yes", "ja", "x", "no", True, "True"])
@pytest.mark.parametrize("scale", [(1, 4), (0, 1), (0, 4), (1, 0)])
def test_a_word_among_numbers_is_no_score(word: object, scale: tuple[float, float]) -> None:
    """On 1..4, "Yes" would be the lowest score: Greenhouse's scale has the word as its third."""
    numbers = (0.5, 1, 0.5) if max(scale) == 1 else (3, 2, 4)
    (problem,) = refused(*numbers, word, scale=scale)
    assert problem.startswith("row 5: score is a word beside other scores")
    assert "write the number that it stands for, or leave the cell empty" in problem
    assert f"({str(word)!r})" in problem


@pytest.mark.parametrize("scale", [(1, 4), (1, 5), (0, 10), (-1, 1)])
def test_a_column_of_words_is_no_column_of_scores_on_a_longer_scale(
    scale: tuple[float, float],
) -> None:
    (problem,) = refused("Yes", "No", "Yes", "Yes", scale=scale)
    assert "score is yes or no; give the scale yes/no, or write numbers" in problem


def test_a_column_of_yes_and_no_is_read_and_the_conversion_is_told() -> None:
    cells = ("Yes", "no", None, "JA", True, 1, 0, "0", "n/a", "-")
    reading = read(*cells, scale=(0, 1))
    by_group = {"a": [1, 1, 0], "b": [0, 1, 1, 0]}
    for number, name in enumerate(reading.log.groups):
        assert sorted(reading.log.score[reading.log.group == number]) == sorted(by_group[name])
    notes = {note.partition(":")[0]: note for note in reading.notes}
    assert notes["4 scores converted"] == (
        "4 scores converted: yes counts as 1 and no as 0 (rows 2, 3, 5, 6), such as 'Yes', 'no', "
        "'JA', 'True'"
    )
    assert notes["3 rows skipped"].startswith("3 rows skipped: no score (rows 4, 10, 11)")
    assert score_range(table(*cells), "score") == (0.0, 1.0)


def test_an_empty_answer_to_who_was_chosen_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("group,score,hired\na,1,yes\nb,2,\nb,3,no\n", encoding="utf-8")
    reading = read_log(path, scale=(1, 5))
    assert reading.log.hired is not None
    assert int(reading.log.hired.sum()) == 1
    assert "1 row counted as not chosen: no hired (row 3)" in reading.notes


def test_numbers_with_a_word_or_a_total_are_told() -> None:
    reading = read("4 stars", "3/5", "2,5", 5, scale=(1, 5))
    assert sorted(4.0 * reading.log.score + 1.0) == [2.5, 3.0, 4.0, 5.0]
    text = " ".join(reading.notes)
    assert "2 scores converted: only the number counts (rows 2, 3)" in text
    assert "such as '4 stars', '3/5'" in text
    assert "1 score converted: decimal comma (row 4)" in text


@pytest.mark.parametrize("cell", ["4/10", "3/4", "4_0", "1_0"])
def test_a_score_of_another_total_is_no_score(cell: str) -> None:
    (problem,) = refused(4, 2, 3, cell, scale=(1, 50 if "_" in cell else 5))
    assert problem.startswith("row 5: score")
    assert f"({cell!r})" in problem
