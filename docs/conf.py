"""Sphinx configuration."""

import os
import subprocess
import sys
from pathlib import Path

from docutils import nodes

from affinity_bandits import __version__, planning
from affinity_bandits.base.looks import DARK, ICON, LIGHT
from affinity_bandits.plots import plan as pictures_of_plans

sys.path.insert(0, str(Path(__file__).parent))  # for mathml.py and commands.py
from commands import append_help

project = "affinity-bandits"
author = "The affinity-bandits developers"
copyright = "2026, the affinity-bandits developers"
release = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_templates"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["formulas.css", "site.css"]
html_js_files = ["scrolling.js"]
templates_path = ["_templates"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_favicon = html_logo = str(ICON)
html_theme_options = {
    "top_of_page_buttons": [],  # a page's source says less than the page
    # The tokens of all surfaces; site.css says what the theme takes from them.
    "light_css_variables": LIGHT,
    "dark_css_variables": DARK,
}
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True  # commands without what they print
copybutton_line_continuation_character = "\\"
copybutton_exclude = ".linenos, .gp, .go"
html_show_sourcelink = False
smartquotes = False  # -- stands for the beginning of an option
html_title = f"affinity-bandits {__version__}"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
# Notebooks are kept without outputs. They are executed here, and again only if their code changes;
# the plain check renders them as they are.
nb_execution_mode = os.environ.get("NOTEBOOKS", "cache")
nb_execution_timeout = 600  # seconds for a cell, on a machine that is busy elsewhere
nb_execution_raise_on_error = True
napoleon_use_ivar = True  # fields of named tuples are documented by themselves, too
autodoc_typehints = "description"
pictures_of_plans.Plan = (
    planning.Plan
)  # imported there for type checkers only; the client has one, too
autodoc_member_order = "bysource"
# Docstrings put code in single back quotes.
default_role = "literal"


def setup(app):
    """Mend docstrings and notebooks, fill the pages of commands, and add the page of the loop."""
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("source-read", append_help)
    app.connect("doctree-read", drop_empty_outputs)
    app.connect("build-finished", write_loop)


def escape_bars(app, what, name, thing, options, lines):
    """Let docstrings write the size of a set as |A| without it being taken for markup."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def drop_empty_outputs(app, doctree):
    """Remove what a line of progress leaves behind in a notebook."""
    for block in list(doctree.findall(nodes.literal_block)):
        if "output" in block["classes"] and not block.astext().strip():
            block.parent.remove(block)


def write_loop(app, error):
    """Write the page of the loop, which the first page shows."""
    if error is None and app.builder.format == "html":
        affinity = Path(sys.executable).with_name("affinity")
        page = Path(app.outdir, "_static", "loop.html")
        subprocess.run([affinity, "show", "--out", page], capture_output=True, check=True)
