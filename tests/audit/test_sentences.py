"""Every code of an audit has its sentence, and sentences claim no more than the verdict."""

from __future__ import annotations

import re

import pytest

from affinity_bandits.audit import conclude
from affinity_bandits.audit.sentences import ASSUMPTIONS, CANNOT_TELL, MISSING, WARNINGS, tell
from tests.plots.audit_report.test_page import AUDITS

NEVER_SAID = ("no bias", "unbiased", "racis", "sexis", "discriminat", "guilty", "e+0", "nan")


def test_every_code_of_an_audit_has_its_sentence() -> None:
    listed = " ".join((conclude.__doc__ or "").split("put", 1)[1].split())
    codes = set(re.split(r"[,.:]\s*", listed.split("missing ")[1].replace("Indicated", "")))
    for heading in ("assumptions ", "warnings "):
        codes = {code.removeprefix(heading) for code in codes}
    known = {*CANNOT_TELL, *MISSING, *ASSUMPTIONS, *WARNINGS}
    assert codes - {"", "cannot tell"} == known


@pytest.mark.parametrize("name", AUDITS)
def test_sentences_are_whole_and_claim_no_more_than_the_verdict(name: str) -> None:
    audit = AUDITS[name]
    story = tell(audit)
    text = " ".join(
        [story.sentence, *story.reasons, *story.explanations, *story.power, *story.steps]
    )
    assert not [claim for claim in NEVER_SAID if claim in text.lower()]
    assert not re.search(r"[{}]|\.\.|  ", text)
    assert all(one[0].isupper() and one.endswith(".") for one in story.steps)
    claimed = story.heading.startswith(("Yes: judges ", "No, the opposite: judges "))
    assert claimed == (audit.word in ("shown", "shown less"))
