"""Build the preprint: statements, numbers and figures of the studies as one LaTeX document.

    .venv/bin/python -m research.preprint.build [--full] [--out research/preprint/_build]

The statements are those of docs/study/studies, of docs/study/head-start.md and of the definition
and proofs in docs/development, converted by docutils. Claims, planted worlds and figures come from
running the studies. pdflatex makes the PDF; without it, the script writes the LaTeX source and says
so.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from docutils.core import publish_parts
from myst_parser.parsers.docutils_ import Parser
from pyarrow import parquet

from affinity_bandits import Store, __version__
from affinity_bandits.experiments import ProcessExecutor
from affinity_bandits.paper import ItemOutcome, StoreCellRunner, run_item
from affinity_bandits.paper.item import LEVEL
from affinity_bandits.plots.style import save_figure
from research.studies import STUDIES

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PAGES = {
    "horizon": ("horizon",),
    "memory": ("memory", "memory-paths"),
    "contexts": ("contexts",),
    "contexts-proofs": (),
}
"""The pages of the studies, each with the studies whose results it shows."""
APPENDIX = (
    "study/head-start",
    "development/head-start-definition",
    "development/head-start-proofs",
)
"""The pages of the appendix."""
FENCED = re.compile(r"^```(?P<kind>[^\n]*)\n.*?^```\n", flags=re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"images/study-([\w-]+)\.png")
PAGE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)*[\w/-]+\.md(?:#[\w-]+)?\)")
COMMAND = re.compile(
    r"^`python -m research\.studies run .*?(?:\n\n|\Z)|^From the command line: [^\n]*\n",
    flags=re.MULTILINE | re.DOTALL,
)
HEADING_LABEL = re.compile(r"%\n\s*\\label\{[^}]*\}%\n")
WIDE_TABLE = re.compile(r"\\begin\{longtable\*\}\{(l+)\}(.*?)\\end\{longtable\*\}", re.DOTALL)
POWER = re.compile(r"(\w+\^(?:\((?:[^()]|\([^()]*\))*\)|\w+(?:\.\w+)?))")
FIRST_COLUMN = 0.28
"""The part of the page's width that the first column of a table has."""
SETTINGS = {
    "doctitle_xform": False,
    "use_latex_citations": True,  # this and the next: what docutils 1.0 will do
    "legacy_column_widths": False,
    "myst_enable_extensions": ["dollarmath"],
    "report_level": 4,  # the site's own build reports what is wrong with a page
    "table_style": ["booktabs"],
}
PASSES = 3
"""Runs of pdflatex: references, the table of contents and the widths of long tables settle."""


def statements(page: Path) -> str:
    """Return a page's Markdown without what belongs to the site: commands, code and links."""

    def figure(block: re.Match[str]) -> str:
        named = PICTURE.search(block[0]) if "image" in block["kind"] else None
        return f"FIGURE-{named[1]}.\n" if named else ""

    text = FENCED.sub(figure, page.read_text(encoding="utf-8"))
    text = re.sub(r"^This page needs: .*\n", "", text, flags=re.MULTILINE)
    text = PAGE_LINK.sub(r"\1", COMMAND.sub("", text))
    return text.replace("this page", "this section").replace("these pages", "this text")


def to_latex(markdown: str) -> Mapping[str, str]:
    """Return the parts of a LaTeX document: `body`, and the packages that it needs."""
    parts = publish_parts(markdown, parser=Parser(), writer="latex", settings_overrides=SETTINGS)
    body = HEADING_LABEL.sub("", parts["body"])  # headings of several pages are alike
    return {**parts, "body": WIDE_TABLE.sub(_narrow, body)}


def _narrow(table: re.Match[str]) -> str:
    """Return a table of a page with columns that break their lines."""
    others = len(table[1]) - 1
    widths = [FIRST_COLUMN] + [(0.86 - FIRST_COLUMN) / others] * others
    begin, end = f"\\begin{{longtable*}}{{{_columns(widths)}}}", "\\end{longtable*}"
    return f"{{\\footnotesize{begin}{table[2]}{end}}}"


def _columns(widths: Sequence[float]) -> str:
    return "".join(f">{{\\raggedright\\arraybackslash}}p{{{one:.3f}\\linewidth}}" for one in widths)


def escaped(text: str) -> str:
    """Return plain text for LaTeX, with simple powers such as n^0.767 as formulas."""
    return "".join(
        _power(piece) if place % 2 else _plain(piece)
        for place, piece in enumerate(POWER.split(text))
    )


def _power(text: str) -> str:
    base, exponent = text.split("^", 1)
    if exponent.startswith("("):
        exponent = exponent[1:-1]
    return f"${base}^{{{exponent}}}$"


def _plain(text: str) -> str:
    return "".join(
        f"\\{one}" if one in "&%$#_{}" else {"<": "$<$", ">": "$>$", "~": "\\~{}"}.get(one, one)
        for one in text
    )


def claims_table(outcome: ItemOutcome) -> str:
    """Return the claims of a study with their evidence and verdicts."""
    rows = [
        (claim.sentence, claim.evidence, "holds" if claim.holds else "\\textbf{fails}")
        for claim in outcome.claims
    ]
    title = f"Claims and evidence: {outcome.item.identity}"
    return _table(title, ("claim", "evidence", ""), (0.52, 0.34, 0.07), rows)


def planted_table(outcome: ItemOutcome) -> str:
    """Return the worlds in which claims are false, with the claims that fail there."""
    rows = [
        (one.world if place == 0 else "", sentence, "fails")
        for one in outcome.planted
        for place, sentence in enumerate(one.failing)
    ]
    title = f"The same tests in worlds in which claims are false: {outcome.item.identity}"
    return _table(title, ("planted world", "claim", ""), (0.22, 0.64, 0.07), rows)


def _table(
    title: str,
    names: Sequence[str],
    widths: Sequence[float],
    rows: Sequence[tuple[str, str, str]],
) -> str:
    head = "\\toprule\n" + " & ".join(names) + " \\\\\n\\midrule"
    lines = [f"{escaped(one)} & {escaped(two)} & {three} \\\\" for one, two, three in rows]
    return "\n".join(
        [
            "{\\small\\setlength{\\tabcolsep}{4pt}",
            f"\\begin{{longtable}}{{@{{}}{_columns(widths)}@{{}}}}",
            f"\\multicolumn{{3}}{{@{{}}l}}{{\\textbf{{{escaped(title)}}}}} \\\\[0.4em]",
            f"{head}\n\\endfirsthead\n{head}\n\\endhead",
            "\\addlinespace\n".join(lines),
            "\\bottomrule",
            "\\end{longtable}}",
        ]
    )


def figure_of(outcome: ItemOutcome) -> str:
    """Return the figure of a study, with its settings as caption."""
    item = outcome.item
    return (
        "\\begin{figure}[!htb]\n\\centering\n"
        f"\\includegraphics[width=0.92\\linewidth]{{{item.identity}.pdf}}\n"
        f"\\caption{{\\small {escaped(item.title)}. {escaped(item.notes)}}}\n\\end{{figure}}"
    )


def section(page: str, outcomes: Sequence[ItemOutcome]) -> Mapping[str, str]:
    """Return a page of a study in LaTeX, with figures and tables of results."""
    parts = dict(to_latex(statements(DOCS / "study" / "studies" / f"{page}.md")))
    for outcome in outcomes:
        name = f"FIGURE-{outcome.item.identity}."
        assert name in parts["body"], f"{page}.md does not show the figure of {name}"
        parts["body"] = parts["body"].replace(name, figure_of(outcome))
    if not outcomes:
        return parts
    tables = [*map(claims_table, outcomes), *map(planted_table, outcomes)]
    parts["body"] += (
        "\\roomfortable\\subsection{Claims, and worlds in which they are false}\n"
        + "\n".join(tables)
    )
    return parts


def document(outcomes: Mapping[str, ItemOutcome], scale: str) -> str:
    """Return the LaTeX source."""
    sections = [section(page, [outcomes[one] for one in shown]) for page, shown in PAGES.items()]
    appendix = [to_latex(statements(DOCS / f"{page}.md")) for page in APPENDIX]
    every = [*sections, *appendix]
    filled = {
        "requirements": "\n".join(dict.fromkeys(part["requirements"] for part in every)),
        "fallbacks": "\n".join(dict.fromkeys(part["fallbacks"] for part in every)),
        "version": __version__,
        "level": f"{100 * LEVEL:g}\\%",
        "scale": scale,
        "sections": "\n\\newpage\n".join(part["body"] for part in sections),
        "appendix": "\n".join(part["body"] for part in appendix),
    }
    text = (HERE / "template.tex").read_text(encoding="utf-8")
    return re.sub(r"<(\w+)>", lambda name: filled[name[1]], text)


def build(out: Path, scale: str) -> Path:
    """Run the studies, write source and figures, and make the PDF if pdflatex is installed."""
    out.mkdir(parents=True, exist_ok=True)
    runner = StoreCellRunner(Store(out / "store"), ProcessExecutor())
    outcomes = {}
    for name, study in STUDIES.items().items():
        print(f"{name}, scale {scale}", flush=True)
        outcomes[name] = run_item(study, scale, runner, out / "studies")
        data = parquet.read_table(outcomes[name].folder / "data.parquet").to_pydict()
        save_figure(study.draw(data), out / f"{name}.pdf")
    source = out / "preprint.tex"
    source.write_text(document(outcomes, scale), encoding="utf-8")
    if shutil.which("pdflatex") is None:
        print(f"{source}; pdflatex is not installed, so there is no PDF")
        return source
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name]
    for _ in range(PASSES):
        done = subprocess.run(command, cwd=out, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"pdflatex failed:\n{done.stdout[-3000:]}")
    print(source.with_suffix(".pdf"))
    return source.with_suffix(".pdf")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="tight intervals, some minutes")
    parser.add_argument("--out", type=Path, default=HERE / "_build")
    given = parser.parse_args()
    build(given.out, "full" if given.full else "quick")
