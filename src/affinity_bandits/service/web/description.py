"""The OpenAPI description: what FastAPI finds by itself, and what the routes do on their own."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from affinity_bandits.service.idempotency import LONGEST_KEY
from affinity_bandits.service.web import problem_json
from affinity_bandits.service.web.answers import ProblemForm
from affinity_bandits.service.web.bodies import AskBody, CampaignBody, LineBody, TellBody
from affinity_bandits.service.web.scopes import BULK, OPEN, SCOPES

JSON = "application/json"
LINES = "application/x-ndjson"
BODIES = {
    ("POST", "/v1/campaigns"): (JSON, CampaignBody),
    ("POST", "/v1/campaigns/{campaign}/ask"): (JSON, AskBody),
    ("POST", "/v1/campaigns/{campaign}/tell"): (JSON, TellBody),
}
_PLACE = "#/components/schemas/"


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the description of an app."""
    data = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    models = (AskBody, CampaignBody, LineBody, TellBody, ProblemForm)
    _, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template=_PLACE + "{model}"
    )
    components = data["components"]
    components["schemas"] |= schemas["$defs"]
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for (method, template), scope in SCOPES.items():
        operation = data["paths"].get(template, {}).get(method.lower())
        if operation is not None:
            _complete(operation, method, template, scope)
    return data


def _complete(operation: dict[str, Any], method: str, template: str, scope: str) -> None:
    refusals: list[int] = [500]
    if scope != OPEN:
        operation["security"] = [{"key": []}]
        operation["description"] += f"\n\nTakes an API key with the scope `{scope}`."
        refusals += [401, 403, 413, 422, 429, 503]
    if "{campaign}" in template:
        refusals.append(404)
    if template == "/readyz":
        refusals.append(503)
    if method == "POST":
        refusals.append(409)
        operation.setdefault("parameters", []).append(_idempotency_key())
    for status in sorted(set(refusals)):
        operation["responses"][str(status)] = {
            "description": _TITLES[status],
            "content": {problem_json.MEDIA_TYPE: {"schema": {"$ref": _PLACE + "ProblemForm"}}},
        }
    if (method, template) in BODIES:
        media_type, model = BODIES[method, template]
        schema = {"$ref": _PLACE + model.__name__}
        operation["requestBody"] = {"required": True, "content": {media_type: {"schema": schema}}}
    if template == BULK:
        operation["requestBody"] = {
            "required": True,
            "description": "A line for each tell, of the form `LineBody`.",
            "content": {LINES: {"schema": {"type": "string"}}},
        }
        operation["responses"]["200"]["content"] = {LINES: {"schema": {"type": "string"}}}
    if template == "/metrics":
        operation["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}


_TITLES = {
    401: problem_json.NoKey.title,
    403: problem_json.NotAllowed.title,
    404: "No such campaign, or no such lease",
    409: "Idempotency key used before",
    413: problem_json.TooLarge.title,
    422: problem_json.Invalid.title,
    429: problem_json.TooMany.title,
    500: f"{problem_json.Unexpected.title}, or the campaign needs attention",
    503: "Try again",
}


def _idempotency_key() -> dict[str, Any]:
    return {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A repeat with the same key has the same effect and answer as the first.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_KEY,
            "pattern": "^[!-~]+$",
        },
    }
