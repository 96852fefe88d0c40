"""What `affinity-bandits` depends on: the core of the same version, with its extras."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class OfTheCore(MetadataHookInterface):
    """Takes version, extras and README from the checkout around this directory.

    It is not called where a wheel is made from an sdist, which has all of that in its PKG-INFO.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what pyproject.toml calls dynamic."""
        checkout = Path(self.root).parents[1]
        with (checkout / "pyproject.toml").open("rb") as file:
            core = tomllib.load(file)["project"]
        names = runpy.run_path(str(checkout / "src" / "affinity_bandits" / "_version.py"))
        version = names["__version__"]

        def of_core(extra: str) -> list[str]:
            return [f"{core['name']}[{extra}]=={version}"]

        metadata["dependencies"] = of_core("simulation")
        metadata["optional-dependencies"] = {
            extra: of_core(extra) for extra in core["optional-dependencies"]
        }
        readme = (checkout / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
