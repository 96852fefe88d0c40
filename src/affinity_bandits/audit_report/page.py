"""What an audit found, as one page with its pictures: it needs no network and no other file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.audit.conclusions import LIMITS, ROWS_TAKEN, bonus_words
from affinity_bandits.audit.result import Audit
from affinity_bandits.audit_report.sentences import (
    ASKED,
    HEADINGS,
    assumed_words,
    compared_words,
    odds_words,
    rows_words,
    seen_words,
    strength_words,
)
from affinity_bandits.displays import html_table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 46rem; margin: 2rem auto;
       padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.verdict { border-left: .4rem solid #0072b2; padding: .4rem 1rem; background: #f3f7fa; }
.verdict strong { font-size: 1.25rem; display: block; }
svg { width: 100%; height: auto; display: block; margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; overflow-wrap: normal; }
td, th { text-align: left; vertical-align: top; padding: .3rem .5rem;
         border-bottom: 1px solid #ddd; }
.quiet { color: #555; font-size: .92rem; }
"""


def write_page(audit: Audit, path: str | Path) -> None:
    """Write the page."""
    Path(path).write_text(page(audit), encoding="utf-8")


def page(audit: Audit) -> str:
    """Return the page as HTML."""
    heading = HEADINGS[audit.word]
    sentence = audit.sentence.removeprefix(f"{heading}: ")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Audit: {escape(heading)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(ASKED)}</h1>",
            f'<p class="quiet">{escape(rows_words(audit))}, from {escape(audit.source)}.</p>',
            f'<div class="verdict"><strong>{escape(heading)}</strong>'
            f"{escape(sentence[:1].upper() + sentence[1:])}"
            f"{_paragraphs(audit.because)}</div>",
            *_pictures(audit),
            _evidence(audit),
            "<h2>What would explain it away</h2>",
            _list(LIMITS),
            "<h2>What to write down from now on</h2>",
            _list(audit.record),
            '<p class="quiet">How many scores it takes until a bonus shows in 80 of 100 logs, in '
            "an example of two groups: panels of five, drawn at random and written down, with one "
            "to five stars and with yes and no; and stars where nobody knows who judged.</p>",
            html_table("", ("bonus", "panels, stars", "panels, yes/no", "no panels"), ROWS_TAKEN),
            *(["<h2>Notes on the file</h2>", _list(audit.notes)] if audit.notes else []),
            _checks(audit),
            f'<p class="quiet">affinity-bandits {escape(__version__)}. Groups are sources or skill '
            "sets, never protected attributes such as sex, origin or age. An audit says how scores "
            "go with shares; it says nothing about any person.</p>",
            "</body></html>",
        ]
    )


def _pictures(audit: Audit) -> list[str]:
    from affinity_bandits.plots.audit_comparison import draw_comparison
    from affinity_bandits.plots.audit_power import draw_power
    from affinity_bandits.plots.audit_scores import draw_scores
    from affinity_bandits.plots.audit_shares import draw_shares

    parts = [
        _picture("Who could judge, over time", draw_shares, audit),
        f'<p class="quiet">{escape(_moved(audit))}</p>',
        _picture("Scores by share", draw_scores, audit),
        '<p class="quiet">Each dot is the mean of scores that were given at about that share; '
        "larger dots are more scores. Dotted: as if shares did not matter. Orange: the bonus that "
        "fits best, and around it all that the log leaves possible.</p>",
        f"<p>{escape(strength_words(audit))}</p>",
    ]
    if any(one.plain is not None for one in audit.compared):
        parts += [
            _picture("What is left of the comparison", draw_comparison, audit),
            '<p class="quiet">True values are counted from the lowest score of the scale. Nothing '
            "wrong is said of any two groups in 19 of 20 logs.</p>",
            html_table(
                "",
                ("group", "over", "what can be said of their true values"),
                [(one.group, one.than, compared_words(one)) for one in audit.compared],
            ),
        ]
    if audit.power:
        parts += [
            _picture("What this log would have shown", draw_power, audit),
            html_table(
                "",
                ("if judges gave their own group", "to be seen in 80 of 100 logs it takes"),
                [(bonus_words(one.bonus), seen_words(one)) for one in audit.power],
            ),
        ]
    return parts


def _moved(audit: Audit) -> str:
    if audit.panels is not None:
        return "Whom panels came from. The more panels differ, the more a log can show."
    return "The more these shares moved while scores were given, the more a log can show."


def _evidence(audit: Audit) -> str:
    rows = [(one.words, odds_words(one.odds), assumed_words(one)) for one in audit.assumed]
    return (
        "<h2>The evidence, and what it assumes</h2>"
        '<p class="quiet">Odds against “scores do not depend on the share”: what somebody would '
        "have won for every 1 by betting, fairly, on every score before it came. 20 to 1 is "
        "enough: without a bias one gets there at most once in 20 times.</p>"
        + html_table("", ("assumption", "odds", ""), rows)
    )


def _checks(audit: Audit) -> str:
    """Return the placebo checks, in which nothing must be found."""
    if not audit.placebos:
        return ""
    rows = [(name, odds_words(odds)) for name, odds in audit.placebos]
    return (
        "<h2>Checks of the method on this log</h2>"
        '<p class="quiet">The same, with shares that should not matter. Odds of 20 to 1 or more '
        "would be a warning: something else than the own share moves scores.</p>"
        + html_table("", ("instead of a group's own share", "odds"), rows)
    )


def _picture(title: str, draw: Callable[[Audit], Any], audit: Audit) -> str:
    return f"<h2>{escape(title)}</h2>{svg_of(draw(audit), title)}"


def svg_of(figure: Any, title: str) -> str:
    """Return a figure as an element of a page."""
    import matplotlib as mpl

    from affinity_bandits.plots.style import SETTINGS

    out = io.StringIO()
    settings: Any = {**SETTINGS, "svg.fonttype": "path"}
    with mpl.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :].replace(
        "<svg", f'<svg role="img" aria-label="{escape(title)}"', 1
    )


def _paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{escape(one)}</p>" for one in sentences)


def _list(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(one)}</li>" for one in sentences) + "</ul>"
