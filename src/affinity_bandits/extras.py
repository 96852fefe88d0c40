"""Check that what an extra installs is there, before a subpackage imports it.

The distribution `affinity-bandits-core` is all of the code and needs nothing by itself, so that a
server that only talks to the service installs what that takes and no more. A room says here what
it needs before it imports it: who lacks it reads what to install, and no traceback of imports.
"""

from __future__ import annotations

from importlib.util import find_spec

from affinity_bandits.errors import MissingExtra

NEEDED = {
    "client": ("httpx", "pydantic"),
    "service": (
        "asyncpg",
        "fastapi",
        "httptools",
        "jinja2",
        "numpy",
        "orjson",
        "prometheus_client",
        "pydantic",
        "typer",
        "uvicorn",
        "uvloop",
    ),
    "simulation": (
        "numba",
        "numpy",
        "platformdirs",
        "rich",
        "scipy",
        "tomli_w",
        "typer",
        "xarray",
    ),
}
"""The modules that each of the three large extras installs."""


def need(extra: str, *modules: str) -> None:
    """Raise unless the modules that an extra installs are there: those named, or all.

    Raises:
        MissingExtra: one of them is not there; says how to install it.
    """
    for name in modules or NEEDED[extra]:
        if find_spec(name) is None:
            raise MissingExtra(name, extra)
