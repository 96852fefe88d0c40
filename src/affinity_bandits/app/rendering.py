"""Pages and fragments of pages from templates."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from affinity_bandits._version import __version__
from affinity_bandits.base.declaration import ASKS
from affinity_bandits.base.errors import CallerError, InvalidInput, shown
from affinity_bandits.base.looks import read_style
from affinity_bandits.base.words import counted
from affinity_bandits.plots.audit_report.page import FINDINGS
from affinity_bandits.plots.loop.pages import COURSE_STYLE

STATIC = files("affinity_bandits.app").joinpath("static")
STYLE = read_style(FINDINGS, COURSE_STYLE, STATIC.joinpath("style.css"))
_templates = Environment(
    loader=PackageLoader("affinity_bandits.app"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals |= {"version": __version__, "counted": counted}


def render(template: str, **values: Any) -> str:
    """Return the text of a template with these values."""
    return _templates.get_template(template).render(values)


def show_page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, whose template extends base.html."""
    place = request.url.path.strip("/")
    return HTMLResponse(render(template, place=place, **values), status)


def show_problem(request: Request, status: int, title: str, words: str) -> HTMLResponse:
    """Return a message: a page if the browser opens one, else a fragment for the open page."""
    whole = request.headers.get("sec-fetch-dest", "document") == "document"
    template = "problem_page.html" if whole else "problem.html"
    return show_page(request, template, status=status, title=title, words=words)


def show_mistake(request: Request, error: CallerError) -> HTMLResponse:
    """Return a mistake of the user, as `show_problem` does."""
    if not isinstance(error, InvalidInput):
        return show_problem(request, 422, "This cannot be done", f"{error}.")
    name = error.parameter
    title = f"Please check: {ASKS.get(name, name.replace('_', ' '))}"
    given = "Nothing was given." if error.value is None else f"Given: {shown(error.value)}."
    return show_problem(request, 422, title, f"It must be {error.rule}. {given}")
