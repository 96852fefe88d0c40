"""The application: every route has a scope, and a wrong method is answered with the right ones."""

from __future__ import annotations

from fastapi.routing import iter_route_contexts

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.http import create_app
from affinity_bandits_service.http.auth import ApiRoute
from tests.support.web_site import (
    Site,
    refused,
    scopes,
)


def test_every_route_of_the_app_has_a_scope() -> None:
    app = create_app("postgresql://127.0.0.1:1/none")
    for route in iter_route_contexts(app.routes):
        path = str(route.path)
        if path != "/openapi.json" and not path.startswith("/ui"):
            assert isinstance(route.original_route, ApiRoute), path
    for (_, path), scope in scopes().items():
        assert scope in SCOPES, path
    assert len(scopes()) == 17


async def test_a_wrong_method_says_which_are_right(at: Site) -> None:
    async with at.client() as client:
        answer = await client.delete("/v1/campaigns")
        refused(answer, 405, "wrong_method")
        assert set(answer.headers["allow"].split(", ")) == {"GET", "POST"}
