"""The live decision service: servers ask it which group comes next.

`core` uses PostgreSQL and is independent of HTTP; `http` and `ui` are on top of it.
"""

from affinity_bandits.base import errors

errors.need(
    "service",
    *(
        "affinity_bandits_client",
        "asyncpg",
        "fastapi",
        "httptools",
        "jinja2",
        "orjson",
        "prometheus_client",
        "pydantic",
    ),
    *("uvicorn", "uvloop"),
)
