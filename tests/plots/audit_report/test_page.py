"""The report of an audit: whole, without network, and readable on a telephone."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from affinity_bandits.audit.cautions import Caution
from affinity_bandits.audit.conclude import Audit, Estimate, GroupScores, Word
from affinity_bandits.audit.read import Reading
from affinity_bandits.audit.sentences import CANNOT_TELL, MISSING, WARNINGS, tell
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.cli.audit import format_audit
from affinity_bandits.plots.audit_report import write_report
from affinity_bandits.plots.audit_report.page import render_page
from tests.audit.logs import draw, read_log
from tests.support.browsers import launched

NAMES = ("referrals", 'agencies <b>"x"</b>', "the open call of spring and of autumn")
SHOWN = Audit(
    word="shown",
    basis="same judges",
    assumptions=("steady judges",),
    favor=Estimate(281.4, 210.2, 352.0),
    missing=(),
    warnings=tuple(Caution(code, "x") for code in WARNINGS),
    power=((25.0, 0.31), (50.0, 0.97), (100.0, 1.0)),
    log_evidence=20.0,
    p_value=0.005,
    groups=tuple(
        GroupScores(
            name, 1500, 100, 12, 4500, 4000.0, (1500, 4200.0), (3000, 3900.0),
            Estimate(200.0, -30.0, 400.0),
        )
        for name in NAMES
    ),
    scale=(0.0, 10_000.0),
    scores=13_500,
    candidates=4500,
    judges=36,
    sessions=90,
    deviation=900.0,
    matters=1000.0,
)  # fmt: skip
INDICATED = replace(SHOWN, word="indicated", missing=tuple(MISSING), favor=None)
NOT_SEEN = replace(SHOWN, word="not seen", favor=Estimate(-3.0, -40.0, 30.0), warnings=())
LESS = replace(SHOWN, word="shown less", favor=Estimate(-281.4, -352.0, -210.2))
AUDITS = {
    "shown": SHOWN,
    "indicated": INDICATED,
    "not seen": NOT_SEEN,
    **{
        code: replace(SHOWN, word="cannot tell", missing=(code,), assumptions=())
        for code in CANNOT_TELL
    },
    "shown less": LESS,
    "indicated less": replace(LESS, word="indicated less", missing=tuple(MISSING)),
    "indicated less without a size": replace(LESS, word="indicated less", favor=None),
    "marks": replace(SHOWN, scale=(10_000.0, 0.0)),
    "marks less": replace(LESS, scale=(10_000.0, 0.0)),
}


@pytest.mark.parametrize(
    ("word", "sizes", "answer", "interval"),
    [
        ("shown", (0.281, 0.212, 0.349), "Yes: judges give their own group 0.28 points more.",
         "0.21 and 0.35 points"),
        ("indicated", (0.281, -0.012, 0.349),
         "Perhaps: judges seem to give their own group 0.28 points more.",
         "0.01 points less and 0.35 more"),
        ("shown less", (-0.281, -0.349, -0.212),
         "No, the opposite: judges give their own group 0.28 points less.",
         "0.21 and 0.35 points"),
    ],
)  # fmt: skip
def test_the_verdict_answers_the_question_and_the_interval_has_its_assumption(
    word: Word, sizes: tuple[float, float, float], answer: str, interval: str
) -> None:
    story = tell(replace(SHOWN, word=word, scale=(1.0, 5.0), favor=Estimate(*sizes)))
    assert story.heading == answer
    assert story.sentence.startswith(
        f"The difference from what other judges give the same candidates is between {interval} (95%"
        " interval). This holds if each judge is about equally strict with candidates of all"
        " groups."
    )


def test_a_verdict_on_marks_says_better() -> None:
    assert tell(AUDITS["marks"]).heading == "Yes: judges score their own group 281 points better."
    assert tell(replace(SHOWN, favor=None)).heading == "Yes: judges give their own group more."
    odd = replace(INDICATED, favor=Estimate(-3.0, -40.0, 30.0))
    assert tell(odd).heading == "Perhaps: judges seem to give their own group more at some time."
    assert "On average they give less" in tell(odd).sentence


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shown", "one judge each", "no judge groups"])
def test_a_page_speaks_of_no_flags_and_no_source_files(name: str) -> None:
    groups = tuple(replace(one, own=(0, None), other=(0, None)) for one in SHOWN.groups)
    page = render_page(replace(AUDITS[name], groups=groups, warnings=()))
    assert not re.search(r"(?<![-!])(?<!var\()--\w|\.md|%[dmY]", page.split("</style>")[1])
    assert "mean score" in page
    assert "4,000 (4,500)" in page


@pytest.mark.slow
def test_names_are_escaped_and_nothing_is_fetched() -> None:
    text = render_page(SHOWN, declaration=Declaration("teams", "us", "a <i>check</i>"))
    assert "<b>" not in text
    assert "<i>" not in text
    assert "agencies &lt;b&gt;" in text
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "@import" not in text


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_screen(tmp_path: Path, width: int) -> None:
    place = tmp_path / "report.html"
    write_report(SHOWN, str(place))
    with launched() as browser:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        sheet = context.new_page()
        errors: list[str] = []
        sheet.on("console", lambda message: errors.append(message.text))
        sheet.goto(place.as_uri())
        assert sheet.evaluate("document.documentElement.scrollWidth") <= width
        assert sheet.locator("svg").count() == 2
        assert all(box.bounding_box()["height"] > 60 for box in sheet.locator("svg").all())  # type: ignore[index]
        assert not errors


@pytest.mark.parametrize("name", AUDITS)
def test_the_text_has_80_columns(name: str, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("group,score\na,1\nb,2\n", encoding="utf-8")
    text = format_audit(AUDITS[name], read_log(log, scale=(1, 5)))
    assert max(map(len, text.splitlines())) <= 80


def test_the_step_to_a_plan_leads_there_with_what_was_found() -> None:
    """The address is the application's; groups that may not be compared lead nowhere."""
    reading = Reading(draw(24), (), {}, "scores.csv")
    given = Declaration("sources", "an auditor", "to decide where to look")
    report = render_page(SHOWN, reading, given)
    (address,) = re.findall(r'<a href="([^"]+)">plan a comparison</a>', report)
    place, query = unescape(address).split("?")
    assert place == "http://127.0.0.1:8400/plan"
    asked = dict(parse_qsl(query))
    assert (asked["scale"], asked["favor_gap"], asked["purpose"]) == (
        "0..10000", "no idea", "to decide where to look",
    )  # fmt: skip
    # 352 points are the upper end of the interval; groups scored 4,000 on average.
    assert asked["bonus"] == "9%"
    assert "affinity app" in report
    for audit, declared in (
        (LESS, given),
        (NOT_SEEN, given),
        (SHOWN, Declaration("sexes", "an auditor", "monitoring equality", protected=True)),
    ):
        assert "<a href" not in render_page(audit, reading, declared)
