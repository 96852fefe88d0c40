"""The report of an audit: one HTML page with its pictures, readable offline."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.audit.conclude import Audit
from affinity_bandits.audit.read import Reading
from affinity_bandits.audit.sentences import (
    LIMITS,
    METHOD,
    QUESTION,
    format_mean,
    has_interval,
    tell,
)
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.displays import html_table
from affinity_bandits.plots.style import svg_element

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.verdict { border-left: .4rem solid #0072b2; padding: .4rem 1rem; background: #f3f7fa; }
.verdict strong { font-size: 1.25rem; display: block; }
.warning { border-left: .4rem solid #d55e00; padding: .1rem 1rem; background: #fdf5ef; }
svg { width: 100%; max-width: 36rem; height: auto; display: block; margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; overflow-wrap: normal; }
td, th { text-align: left; vertical-align: top; padding: .3rem .5rem;
         border-bottom: 1px solid #ddd; }
@media (max-width: 30rem) { table { font-size: .8rem; } td, th { padding: .25rem; } }
ul { padding-left: 1.3rem; }
.quiet { color: #555; font-size: .92rem; }
"""
FLAGS = re.compile(r" \([^()]*--[^()]*\)")
"""The part of a sentence that is about the command line."""


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
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Audit: {escape(story.heading)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(QUESTION)}</h1>",
        f'<p class="quiet">{escape(story.extent + source)}.</p>',
        *([f'<p class="quiet">{escape(declaration.sentence)}</p>'] if declaration else []),
        render_findings(audit, reading, svg_element),
        '<p class="quiet">Before you act on it, read "Responsible use" in the documentation. '
        f"affinity-bandits {escape(__version__)}</p>",
        "</body></html>",
    ]
    return "\n".join(parts)


def render_findings(
    audit: Audit, reading: Reading | None, show_figure: Callable[[Any, str], str]
) -> str:
    """Return the verdict and all that belongs to it as a part of a page.

    Args:
        audit: what was found.
        reading: what was read, for the notes at the end.
        show_figure: returns a figure with its title as an element of the page.
    """
    story = tell(audit)
    parts = [
        f'<div class="verdict"><strong>{escape(story.heading)}</strong>',
        *(f"<p>{escape(one)}</p>" for one in (story.sentence, *story.reasons)),
        "</div>",
        *(f'<p class="warning">{escape(one)}</p>' for one in story.warnings),
        *_pictures(audit, show_figure),
        *_section("What would explain it away", story.explanations),
        *_section("What this file could have shown", story.power),
        *_section("What to do next", [FLAGS.sub("", one) for one in story.steps]),
        f"<h2>Method</h2><p>{escape(METHOD)}</p><p>{escape(LIMITS)}</p>",
        *_section("How the file was read", _notes(reading, story.direction)),
    ]
    return "\n".join(parts)


def _pictures(audit: Audit, show_figure: Callable[[Any, str], str]) -> list[str]:
    from affinity_bandits.plots.audit import draw_favor, draw_means

    parts = []
    if audit.favor is not None and has_interval(audit, audit.favor):
        better = "more judges give" if audit.scale[0] < audit.scale[1] else "better judges score"
        title = f"How much {better} their own group"
        parts += [f"<h2>{title}</h2>", show_figure(draw_favor(audit), title)]
    title = "Mean scores from own and other judges"
    judged = any(group.own[0] or group.other[0] for group in audit.groups)
    if not judged:
        title = "Mean scores by group"
    parts += [f"<h2>{title}</h2>", show_figure(draw_means(audit), title)]
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


def show_image(figure: Any, title: str) -> str:
    """Return a figure as an image, for pages that allow no style but their own."""
    content = b64encode(svg_element(figure, title).encode()).decode()
    return f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{content}">'
