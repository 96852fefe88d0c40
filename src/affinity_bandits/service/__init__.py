"""The live decision service: which group comes next, asked from many servers at once.

`campaigns` is the core, which needs PostgreSQL and nothing of HTTP; `http` is its face. The room
knows policies and nothing else of the package: it has no true mean to see.
"""

from importlib.util import find_spec

from affinity_bandits.errors import MissingExtra

NEEDED = (
    "asyncpg",
    "fastapi",
    "httptools",
    "jinja2",
    "orjson",
    "prometheus_client",
    "pydantic",
    "uvicorn",
    "uvloop",
)
"""What the extra `service` installs: looked for here, where every use of this room begins."""

for _name in NEEDED:
    if find_spec(_name) is None:
        raise MissingExtra(_name, "service")
