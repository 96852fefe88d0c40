"""Charts and sentences: names of groups stay text in each."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from markupsafe import Markup

from affinity_bandits.policies import (
    HeadStartElimination,
    SequentialHalving,
)
from affinity_bandits_service.ui import charts
from affinity_bandits_service.ui.pages import render
from affinity_bandits_service.ui.view import decisions_of, view_of
from packages.service.tests.ui.test_story import trail

from .played_campaigns import LISTED, played

HOSTILE = ('<script>alert("x")</script>', "\"'><img src=x onerror=alert(1)>", "{{ 7*7 }} & {0}")


def test_names_stay_text_in_every_sentence_and_picture() -> None:
    # The negative control is the template: without escaping, the tags of names would be found.
    ours = re.compile(r'</?(?:p|bdi(?: class="name")?)>')
    sentences: list[Markup] = []
    head_start = HeadStartElimination(initial_lead=5, bounded=True)
    for policy in (LISTED, head_start, SequentialHalving()):
        for horizon in (400, 40_000):
            campaign, rounds = played(policy, HOSTILE, [0.9, 0.5, 0.1], horizon=horizon)
            sentences += [render("headline", campaign), render("next_step", campaign)]
            sentences += [render("decision", one) for one in decisions_of(campaign, rounds)]
            sentences += [render("event", campaign, one) for one in trail()]
            for row in view_of(campaign, rounds).timeline.rows:
                ET.fromstring(row.picture)
    assert any("&lt;script&gt;" in sentence for sentence in sentences)
    for sentence in sentences:
        assert "<" not in ours.sub("", sentence)
    ET.fromstring(charts.answer_bar(0.5, '"><script>'))
