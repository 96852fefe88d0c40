"""The page Audit: each step takes the whole file and forgets it."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from pydantic import BaseModel, NonNegativeInt, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, Response

from affinity_bandits.app.audit_steps import AuditForm, Upload, conclude, look
from affinity_bandits.app.forms import declaration_fields, read_declaration, tell_mistakes
from affinity_bandits.app.rendering import render, show_page
from affinity_bandits.audit.columns import ROLES
from affinity_bandits.audit.read import DATE_EXAMPLES
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import InvalidInput

UNANSWERED = "?"
"""The value of a question that is still open; an empty one means that there is no column."""
router = APIRouter()


class Head(BaseModel):
    """The first line of a request, before the files.

    Attributes:
        said: the answers of the form.
        files: the field, the name and the size of each file, in their order.
    """

    said: dict[str, str]
    files: list[tuple[str, str, NonNegativeInt]]


@router.get("/audit")
async def show_audit(request: Request) -> Response:
    """Return the page."""
    return show_page(
        request,
        "audit.html",
        declaration=declaration_fields(request.query_params),
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
            formats=DATE_EXAMPLES,
            date_format=form.date_format,
            unanswered=UNANSWERED,
        )
    )


@router.post("/audit/conclusion")
async def show_conclusion(request: Request) -> Response:
    """Return the verdict, the pictures and the report of a file."""
    said, uploads = await _read_form(request)
    declaration, wrong = read_declaration(said, Declaration.check_audit)
    if declaration is None:
        return JSONResponse(tell_mistakes(wrong), 422)
    form = _understand(said, uploads)
    found = await run_in_threadpool(request.app.state.audits.run, conclude, form, declaration)
    return HTMLResponse(render("audit_conclusion.html", found=found, declared=declaration.sentence))


@router.get("/audit/check")
async def check_declaration(request: Request) -> Response:
    """Return the mistakes in the declaration so far, as JSON data."""
    said = {name: text.strip() for name, text in request.query_params.items()}
    return JSONResponse(tell_mistakes(read_declaration(said, Declaration.check_audit)[1]))


async def _read_form(request: Request) -> tuple[dict[str, str], dict[str, Upload]]:
    """Return the answers and the files of a request: a line of JSON, then the files.

    Starlette's parser of multipart forms would write large files to the disk.
    """
    line, _, rest = (await request.body()).partition(b"\n")
    try:
        head = Head.model_validate_json(line)
    except ValidationError:
        rule = "a line of JSON and the files, as the page sends it"
        raise InvalidInput("form", rule, line[:20]) from None
    uploads, begin = {}, 0
    for field, name, size in head.files:
        uploads[field] = Upload(name, rest[begin : begin + size])
        begin += size
    return {name: text.strip() for name, text in head.said.items()}, uploads


def _understand(said: Mapping[str, str], uploads: Mapping[str, Upload]) -> AuditForm:
    if "log" not in uploads:
        raise InvalidInput("file", "chosen: an .xlsx, .csv or .parquet file", None)
    return AuditForm(
        log=uploads["log"],
        people=uploads.get("people"),
        sheet=said.get("sheet", ""),
        columns={role: said[role] for role in ROLES if said.get(role, UNANSWERED) != UNANSWERED},
        scale=said.get("scale", ""),
        best=said.get("best", UNANSWERED).removeprefix(UNANSWERED),
        matters=said.get("matters", ""),
        date_format=said.get("date_format", ""),
        by_lot="by_lot" in said,
    )
