"""Formulas are translated as TeX reads them, also where docutils reads otherwise."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest
from docutils.utils.math import MathError

from tests.support.environments import ROOT

spec = importlib.util.spec_from_file_location("mathml", ROOT / "docs" / "mathml.py")
assert spec is not None
assert spec.loader is not None
mathml = importlib.util.module_from_spec(spec)
sys.modules["mathml"] = mathml
spec.loader.exec_module(mathml)

HALF = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
THIN = '<mspace width="0.167em" />'
AS_TEX_READS = {
    r"\frac12": HALF,
    r"\tfrac12 (": f"{HALF}<mo>(</mo>",
    r"\frac{1}23": f"{HALF}<mn>3</mn>",
    r"2^10": "<msup><mn>2</mn><mn>1</mn></msup><mn>0</mn>",
    r"2^{10}": "<msup><mn>2</mn><mn>10</mn></msup>",
    r"x_12": "<msub><mi>x</mi><mn>1</mn></msub><mn>2</mn>",
    r"\hat x_i": '<msub><mover accent="true"><mi>x</mi><mo>\u02c6</mo></mover><mi>i</mi></msub>',
    r"\hat x": '<mover accent="true"><mi>x</mi><mo>\u02c6</mo></mover>',
    r"c \log t": f"<mi>c</mi>{THIN}<mi>log</mi>{THIN}<mi>t</mi>",
    r"(\log(t": "<mo>(</mo><mi>log</mi><mo>(</mo><mi>t</mi>",
    r"0, \dots": "<mn>0</mn><mo>,</mo><mi>\u2026</mi>",
}


@pytest.mark.parametrize("formula", AS_TEX_READS)
def test_a_formula_is_read_as_tex_reads_it(formula: str) -> None:
    found = mathml.mathml(formula)
    found = re.sub(r' (stretchy|displaystyle|scriptlevel)="\w+"', "", found)
    assert re.sub(r"</?math[^>]*>", "", found) == AS_TEX_READS[formula]


def test_what_cannot_be_translated_is_an_error() -> None:
    with pytest.raises(MathError, match="bogus"):
        mathml.mathml(r"\bogus x")
