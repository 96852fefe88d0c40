"""Put machine code into the wheel: AFFINITY_PACK names the folder of `affinity warm --pack`.

The wheel is then for one platform and one Python. Without the variable it is for all of them.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackHook(BuildHookInterface[Any]):
    """Adds the pack and the tags of this interpreter's platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what the wheel will hold."""
        made = os.environ.get("AFFINITY_PACK")
        if self.target_name != "wheel" or version == "editable" or not made:
            return
        (pack,) = Path(made).iterdir()
        build_data["force_include"][str(pack)] = f"affinity_bandits/machine_code/{pack.name}"
        build_data["pure_python"] = False
        build_data["tag"] = platform_tag()


def platform_tag() -> str:
    """Return the tag of a wheel for this Python and platform.

    The files of a pack need nothing of the system but the functions of its mathematical library, so
    the oldest Linux that pip knows by its C library will do.
    """
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{system.replace('linux_', 'manylinux_2_17_')}"
