"""The page Plan."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from affinity_bandits.app.rendering import show_page

router = APIRouter()


class Plans:
    """Plans that are made."""

    def __init__(self, most: int) -> None:
        self.most = most


@router.get("/plan")
async def show_plan(request: Request) -> Response:
    """Return the page."""
    return show_page(request, "plan.html")
