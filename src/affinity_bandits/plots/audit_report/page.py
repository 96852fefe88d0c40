"""The report of an audit: one HTML page with its pictures, readable offline."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

from affinity_bandits._version import __version__
from affinity_bandits.audit.conclude import Audit
from affinity_bandits.audit.read import Reading
from affinity_bandits.audit.result import to_json
from affinity_bandits.audit.sentences import (
    LIMITS,
    METHOD,
    QUESTION,
    format_mean,
    has_interval,
    tell,
)
from affinity_bandits.base.declaration import EXAMPLES, Declaration
from affinity_bandits.base.displays import html_table
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.looks import read_style
from affinity_bandits.planning.from_audit import answers_of_audit
from affinity_bandits.plots.style import svg_element

FINDINGS = files("affinity_bandits.plots.audit_report").joinpath("findings.css")
"""The rules of what `render_findings` returns."""
FLAGS = re.compile(r" \([^()]*--[^()]*\)")
"""The part of a sentence that is about the command line."""
APP = "http://127.0.0.1:8400"
"""Where `affinity app` answers."""
PLAN = "plan a comparison"
"""The words of a next step that lead to a plan."""
OPENS = (
    'The link "plan a comparison" opens the application with these groups, this scale and this '
    "favor filled in. Start it first on your machine: affinity app --port 8400."
)


def write_report(
    audit: Audit,
    path: str | Path,
    *,
    reading: Reading | None = None,
    declaration: Declaration | None = None,
) -> None:
    """Write the report.

    Args:
        audit: the result.
        path: of the .html file.
        reading: the log as it was read, for the notes at the end.
        declaration: of the groups, the person responsible and the purpose, if made.
    """
    Path(path).write_text(render_page(audit, reading, declaration), encoding="utf-8")


def render_page(
    audit: Audit, reading: Reading | None = None, declaration: Declaration | None = None
) -> str:
    """Return the report as HTML."""
    story = tell(audit)
    source = "" if reading is None else f", from {reading.source}"
    plan = None if reading is None else ask_plan(audit, reading, declaration)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Audit: {escape(story.heading)}</title>",
        f"<style>{read_style(FINDINGS)}</style></head>",
        '<body><main class="report findings">',
        f"<h1>{escape(QUESTION)}</h1>",
        f'<p class="quiet">{escape(story.extent + source)}.</p>',
        *([f'<p class="quiet">{escape(declaration.sentence)}</p>'] if declaration else []),
        render_verdict(audit),
        render_findings(audit, reading, plan and f"{APP}/plan?{plan}"),
        '<p class="quiet">Before you act on it, read "Responsible use" in the documentation. '
        f"affinity-bandits {escape(__version__)}</p>",
        "</main></body></html>",
    ]
    return "\n".join(parts)


def render_verdict(audit: Audit) -> str:
    """Return the answer, what it rests on and what to know before relying on it, as HTML."""
    story = tell(audit)
    parts = [
        f'<div class="verdict"><strong>{escape(story.heading)}</strong>',
        *(f"<p>{escape(one)}</p>" for one in (story.sentence, *story.reasons)),
        "</div>",
        *(f'<p class="warning">{escape(one)}</p>' for one in story.warnings),
    ]
    return "\n".join(parts)


def ask_plan(audit: Audit, reading: Reading, declaration: Declaration | None) -> str | None:
    """Return the query of the page Plan with the answers that an audit gives.

    None if its groups may not be compared, or plans do not allow for what it found.
    """
    told = to_json(audit, reading.log, source=reading.source, declaration=declaration)
    try:
        answers = answers_of_audit(json.loads(told))
    except InvalidInput:
        return None
    said = {"groups": ", ".join(answers["groups"]), "audited": ",".join(answers)}
    declared = {}
    if declaration is not None:
        declared = {name: getattr(declaration, name) for name in EXAMPLES} | {"protected": "no"}
    return urlencode(answers | said | declared)


def render_findings(audit: Audit, reading: Reading | None, plan: str | None = None) -> str:
    """Return what the verdict comes from, and what follows from it, as HTML.

    Args:
        audit: what was found.
        reading: what was read, for the notes at the end.
        plan: the address of the page Plan with what was found, for the step that advises one.
    """
    story = tell(audit)
    steps = _section("What to do next", [FLAGS.sub("", one) for one in story.steps])
    if plan is not None and any(PLAN in one for one in steps):
        link = f'<a href="{escape(plan)}">{PLAN}</a>'
        steps = [one.replace(PLAN, link, 1) for one in steps]
        if plan.startswith(APP):
            steps.append(f'<p class="quiet">{escape(OPENS)}</p>')
    parts = [
        *_pictures(audit),
        *_section("What would explain it away", story.explanations),
        *_section("What this file could have shown", story.power),
        *steps,
        f"<h2>Method</h2><p>{escape(METHOD)}</p><p>{escape(LIMITS)}</p>",
        *_section("How the file was read", _notes(reading, story.direction)),
    ]
    return "\n".join(parts)


def _pictures(audit: Audit) -> list[str]:
    from affinity_bandits.plots.audit import draw_favor, draw_means

    parts = []
    if audit.favor is not None and has_interval(audit, audit.favor):
        better = "more judges give" if audit.scale[0] < audit.scale[1] else "better judges score"
        title = f"How much {better} their own group"
        parts += [f"<h2>{title}</h2>", svg_element(draw_favor(audit), title)]
    title = "Mean scores from own and other judges"
    judged = any(group.own[0] or group.other[0] for group in audit.groups)
    if not judged:
        title = "Mean scores by group"
    parts += [f"<h2>{title}</h2>", svg_element(draw_means(audit), title)]
    head = ["group", "seen", *(["own judges", "other judges"] if judged else ["mean score"])]
    rows = []
    for group in audit.groups:
        means = (group.own, group.other) if judged else ((group.scores, group.mean),)
        found = (format_mean(audit, part) for part in means)
        rows.append([group.name, f"{group.candidates:,}", *found])
    if any(group.hired is not None for group in audit.groups):
        head.append("chosen")
        for row, group in zip(rows, audit.groups, strict=True):
            row.append(f"{group.hired:,}")
    parts.append(
        '<p class="quiet">Candidates seen, and means in points with the number of scores. Means '
        "also reflect how strict the judges are; the verdict does not.</p>"
    )
    return [*parts, html_table("", head, rows)]


def _notes(reading: Reading | None, direction: str) -> list[str]:
    if reading is None:
        return [direction]
    used = ", ".join(f"{role.replace('_', ' ')} = {name}" for role, name in reading.columns.items())
    return [
        f"Columns: {used}.",
        direction,
        *(f"{note[0].upper()}{note[1:]}." for note in reading.notes),
    ]


def _section(title: str, sentences: Sequence[str]) -> list[str]:
    items = "".join(f"<li>{escape(one)}</li>" for one in sentences)
    return [f"<h2>{escape(title)}</h2><ul>{items}</ul>"] if sentences else []
