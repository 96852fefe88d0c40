"""Study, plan, run and audit sequential choices whose feedback favors earlier choices.

The public names are those of `__init__.pyi`. Each loads its module on first use, so importing the
package loads nothing else.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
