"""One page with everything: pictures, claims, evidence. It needs no network and no other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from affinity_bandits._version import __version__
from affinity_bandits.paper.item import Claim
from affinity_bandits.paper.labels import places
from affinity_bandits.paper.runner import Outcome

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 3rem; }
img { width: 100%; max-width: 46rem; display: block; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
td, th { text-align: left; vertical-align: top; padding: .35rem .6rem;
         border-bottom: 1px solid #ddd; }
.holds { color: #006a4e; font-weight: 600; } .fails { color: #b3261e; font-weight: 600; }
.quiet { color: #555; font-size: .92rem; } code { font-size: .88em; overflow-wrap: anywhere; }
"""


class Cover(NamedTuple):
    """What a report says of itself.

    Attributes:
        title: of the page.
        heading: its first line.
        labels: whether labels are the paper's, so that the page ends with where each one lives.
    """

    title: str
    heading: str
    labels: bool


PAPER = Cover(
    "The paper, checked",
    "On Mitigating Affinity Bias through Bandits with Evolving Biased Feedback, "
    "reproduced and checked",
    labels=True,
)


def write_report(outcomes: Sequence[Outcome], path: Path, cover: Cover = PAPER) -> None:
    """Write the page."""
    path.write_text(report(outcomes, cover), encoding="utf-8")


def report(outcomes: Sequence[Outcome], cover: Cover = PAPER) -> str:
    """Return the page as HTML."""
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    failed = [claim for claim in claims if not claim.as_known]
    known = [claim for claim in claims if claim.as_known and claim.erratum]
    verdict = f"{sum(claim.holds for claim in claims)} of {len(claims)} claims hold."
    if known:
        verdict += f" Known slips of the paper, see the errata: {len(known)}."
    if failed:
        verdict += f" Verdicts that are not what was known: {len(failed)}."
    scale = outcomes[0].scale if outcomes else ""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(cover.title)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(cover.heading)}</h1>",
            f'<p class="{"fails" if failed else "holds"}">{verdict}</p>',
            f'<p class="quiet">affinity-bandits {escape(__version__)}, scale {escape(scale)}.</p>',
            _contents(outcomes),
            *(_section(outcome, cover) for outcome in outcomes),
            _labels() if cover.labels else "",
            "</body></html>",
        ]
    )


def _contents(outcomes: Sequence[Outcome]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{outcome.item.identity}">{outcome.item.identity}</a></td>'
        f"<td>{escape(outcome.item.title)}</td><td>{_summary(outcome)}</td></tr>"
        for outcome in outcomes
    )
    return f"<table>{rows}</table>"


def _section(outcome: Outcome, cover: Cover) -> str:
    item = outcome.item
    picture = base64.b64encode((outcome.folder / "figure.png").read_bytes()).decode()
    labels = ", ".join(
        f'<a href="#{escape(label)}"><code>{escape(label)}</code></a>'
        if cover.labels
        else f"<code>{escape(label)}</code>"
        for label in item.labels
    )
    rows = "".join(_row(claim) for claim in outcome.claims)
    return (
        f'<h2 id="{item.identity}">{item.identity}: {escape(item.title)}</h2>'
        f'<p class="quiet">{labels}</p>'
        f'<img alt="{escape(item.title)}" src="data:image/png;base64,{picture}">'
        f"<table><tr><th>claim</th><th>test</th><th>evidence</th><th></th></tr>{rows}</table>"
        f'<p class="quiet">{escape(item.notes)}</p>'
    )


def _row(claim: Claim) -> str:
    return (
        f"<tr><td>{escape(claim.sentence)}</td><td>{escape(claim.test)}</td>"
        f"<td>{escape(claim.evidence)}</td><td>{_verdict(claim)}</td></tr>"
    )


def _verdict(claim: Claim) -> str:
    word = "holds" if claim.holds else "fails"
    known = f" (errata: {escape(claim.erratum)})" if claim.erratum else ""
    return f'<span class="{"holds" if claim.as_known else "fails"}">{word}</span>{known}'


def _summary(outcome: Outcome) -> str:
    holding = sum(claim.holds for claim in outcome.claims)
    colour = "holds" if outcome.as_known else "fails"
    return f'<span class="{colour}">{holding} of {len(outcome.claims)} hold</span>'


def _labels() -> str:
    rows = "".join(
        f'<tr id="{escape(label)}"><td><code>{escape(label)}</code></td><td>'
        + "<br>".join(f"<code>{escape(place.name)}</code> {escape(place.line)}" for place in named)
        + "</td></tr>"
        for label, named in places().items()
    )
    return f'<h2>Where each label of the paper lives</h2><table class="quiet">{rows}</table>'
