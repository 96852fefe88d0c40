"""The page See."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from affinity_bandits.app.rendering import show_page

router = APIRouter()


def warm_up() -> None:
    """Load the compiled loops."""


@router.get("/see")
async def show_see(request: Request) -> Response:
    """Return the page."""
    return show_page(request, "see.html")
