"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network.

The translation is docutils' own, so it needs nothing that Sphinx does not; where it differs from
TeX, it is mended here. A formula that it cannot translate is a warning, and `sphinx -W` makes that
an error.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

ONE_DIGIT = (
    (r"(\\[dt]?frac)\s*(\d)\s*(\d)", r"\1{\2}{\3}"),
    (r"(\\[dt]?frac\s*\{[^{}]*\})\s*(\d)(?=\d)", r"\1{\2}"),
    (r"(\^|_|\\sqrt)\s*(\d)(?=\d)", r"\1{\2}"),
)
"""To TeX an argument without braces is one digit, to docutils the whole number."""
ACCENTS = "\u02c6^~\u02dc\u00af\u203e\u02d9\u20d7\u2192"
APPLY = "\u2061"
THIN = "0.167em"

logger = logging.getLogger(__name__)


def setup(app: Any) -> dict[str, bool]:
    """Make this the renderer that `html_math_renderer = "mathml"` asks for."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    writer.body.append(translated(node, as_block=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    writer.body.append(f'<div class="math">{translated(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def translated(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula as MathML."""
    try:
        return mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula: %s", error, location=node)
        return ""


def mathml(formula: str, *, as_block: bool = False) -> str:
    """Return a formula as MathML, as TeX would read it."""
    formula = re.sub(r"\\dots\b", r"\\ldots", formula)
    for pattern, instead in ONE_DIGIT:
        formula = re.sub(pattern, instead, formula)
    text = str(tex2mathml(formula, as_block=as_block)).replace("&ApplyFunction;", APPLY)
    root = fromstring(re.sub(r">\s+<", "><", text.replace(' xmlns="', ' data-xmlns="')))
    root.attrib.pop("data-xmlns", None)
    for element in list(root.iter()):
        _mend_accent(element)
        _mend_function(element)
    return tostring(root, encoding="unicode")


def _mend_accent(element: Element) -> None:
    """Put the index of a letter with an accent beside it: docutils sets it below."""
    if element.tag not in ("mover", "munderover") or (element[-1].text or "") not in ACCENTS:
        return
    if element.tag == "munderover":
        letter, index, accent = element
        element.tag, element[:] = "msub", []
        SubElement(element, "mover", accent="true").extend([letter, accent])
        element.append(index)
    else:
        element.set("accent", "true")


def _mend_function(row: Element) -> None:
    """Set log, exp and the like apart from what stands beside them, as TeX does."""
    if row.tag not in ("math", "mrow", "msqrt"):
        return
    parts = [part for part in row if part.text != APPLY]
    if not parts:
        return
    row[:] = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        row.append(part)
        near = after is not None and "mo" not in (part.tag, after.tag)
        if near and (_is_function(part) or _is_function(after)):
            row.append(Element("mspace", width=THIN))


def _is_function(part: Element | None) -> bool:
    if part is None:
        return False
    name = part[0] if part.tag in ("msub", "msup") else part
    return name.tag == "mi" and len(name.text or "") > 1
