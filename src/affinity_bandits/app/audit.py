"""The page Audit."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from affinity_bandits.app.rendering import show_page

router = APIRouter()


@router.get("/audit")
async def show_audit(request: Request) -> Response:
    """Return the page."""
    return show_page(request, "audit.html")
