"""The page Audit: a file in, a report out, nothing kept."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import HTMLResponse, Response

from affinity_bandits.app.audit_steps import AuditForm, Upload, conclude, look
from affinity_bandits.app.forms import declaration_fields, read_declaration
from affinity_bandits.app.rendering import render, show_page
from affinity_bandits.audit.columns import ROLES
from affinity_bandits.audit.read import DATE_FORMATS
from affinity_bandits.declaration import ASKS
from affinity_bandits.errors import InvalidInput

MOST_FIELDS = 40
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
    """Return what is in a file: its first rows, its columns and its problems."""
    form = await _read_form(request)
    found = await run_in_threadpool(request.app.state.audits.run, look, _understand(form))
    return HTMLResponse(
        render(
            "audit_look.html",
            look=found,
            roles=ROLES,
            formats=DATE_FORMATS,
            date_format=_text(form, "date_format"),
        )
    )


@router.post("/audit/conclusion")
async def show_conclusion(request: Request) -> Response:
    """Return the verdict, the pictures and the report of a file."""
    form = await _read_form(request)
    declaration = read_declaration({name: _text(form, name) for name in ASKS})
    declaration.check_audit()
    found = await run_in_threadpool(
        request.app.state.audits.run, conclude, _understand(form), declaration
    )
    return HTMLResponse(render("audit_conclusion.html", found=found, declared=declaration.sentence))


async def _read_form(request: Request) -> FormData:
    """Return a form with its files, all in memory."""
    parser = MultiPartParser(request.headers, request.stream(), max_files=2, max_fields=MOST_FIELDS)
    parser.spool_max_size = request.app.state.largest_body  # never to a temporary file
    try:
        return await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        rule = "a form with at most two files, as the page sends it"
        raise InvalidInput("form", rule, request.headers.get("content-type")) from None


def _understand(form: FormData) -> AuditForm:
    log = _file(form, "log")
    if log is None:
        raise InvalidInput("file", "chosen: an .xlsx, .csv or .parquet file", None)
    return AuditForm(
        log=log,
        people=_file(form, "people"),
        sheet=_text(form, "sheet"),
        columns={role: _text(form, role) for role in ROLES if role in form},
        scale=_text(form, "scale"),
        date_format=_text(form, "date_format"),
        by_lot="by_lot" in form,
    )


def _file(form: FormData, name: str) -> Upload | None:
    given = form.get(name)
    if not isinstance(given, UploadFile) or not given.filename:
        return None
    return Upload(given.filename, given.file.read())


def _text(form: FormData, name: str) -> str:
    given = form.get(name)
    return given.strip() if isinstance(given, str) else ""
