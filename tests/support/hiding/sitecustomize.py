"""Hide the packages that HIDDEN_PACKAGES names; Python imports this module at its start."""

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
