"""The page Audit: each step takes the whole file and forgets it."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import HTMLResponse, Response

from affinity_bandits.app.audit_steps import AuditForm, Upload, conclude, look
from affinity_bandits.app.forms import declaration_fields, read_declaration
from affinity_bandits.app.rendering import render, show_page
from affinity_bandits.audit.columns import ROLES
from affinity_bandits.audit.read import DATE_FORMATS
from affinity_bandits.errors import InvalidInput

MOST_FIELDS = 40
UNANSWERED = "?"
"""The value of a question that is still open; an empty one means that there is no column."""
router = APIRouter()


@router.get("/audit")
async def show_audit(request: Request) -> Response:
    """Return the page."""
    return show_page(
        request,
        "audit.html",
        declaration=declaration_fields({}),
        largest=request.app.state.largest_body,
    )


@router.post("/audit/look")
async def show_look(request: Request) -> Response:
    """Return the first rows, the columns and the problems of a file."""
    said, uploads = await _read_form(request)
    form = _understand(said, uploads)
    found = await run_in_threadpool(request.app.state.audits.run, look, form)
    return HTMLResponse(
        render(
            "audit_look.html",
            look=found,
            roles=ROLES,
            formats=DATE_FORMATS,
            date_format=form.date_format,
            unanswered=UNANSWERED,
        )
    )


@router.post("/audit/conclusion")
async def show_conclusion(request: Request) -> Response:
    """Return the verdict, the pictures and the report of a file."""
    said, uploads = await _read_form(request)
    declaration = read_declaration(said)
    declaration.check_audit()
    form = _understand(said, uploads)
    found = await run_in_threadpool(request.app.state.audits.run, conclude, form, declaration)
    return HTMLResponse(render("audit_conclusion.html", found=found, declared=declaration.sentence))


async def _read_form(request: Request) -> tuple[dict[str, str], dict[str, Upload]]:
    """Return the answers and the files of a form, all in memory."""
    parser = MultiPartParser(request.headers, request.stream(), max_files=2, max_fields=MOST_FIELDS)
    parser.spool_max_size = request.app.state.largest_body  # never to a temporary file
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        rule = "a form with at most two files, as the page sends it"
        raise InvalidInput("form", rule, request.headers.get("content-type")) from None
    said: dict[str, str] = {}
    uploads: dict[str, Upload] = {}
    for name, given in form.items():
        if isinstance(given, str):
            said[name] = given.strip()
        elif given.filename:
            uploads[name] = Upload(given.filename, await given.read())
    await form.close()
    return said, uploads


def _understand(said: Mapping[str, str], uploads: Mapping[str, Upload]) -> AuditForm:
    if "log" not in uploads:
        raise InvalidInput("file", "chosen: an .xlsx, .csv or .parquet file", None)
    return AuditForm(
        log=uploads["log"],
        people=uploads.get("people"),
        sheet=said.get("sheet", ""),
        columns={role: said[role] for role in ROLES if said.get(role, UNANSWERED) != UNANSWERED},
        scale=said.get("scale", ""),
        date_format=said.get("date_format", ""),
        by_lot="by_lot" in said,
    )
