"""Hide the packages of HIDDEN_PACKAGES and the functions of HIDDEN_NAMES from a process's start."""

import importlib
import os
import sys
from importlib.machinery import PathFinder

HIDDEN = set(os.environ["HIDDEN_PACKAGES"].split())


class Hiding(PathFinder):
    """Finds every module except the hidden ones."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """Return None for a hidden package, as if it were not installed."""
        return None if fullname in HIDDEN else super().find_spec(fullname, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
for name in os.environ.get("HIDDEN_NAMES", "").split():
    module, _, function = name.rpartition(".")
    delattr(importlib.import_module(module), function)
