"""Make every environment that a page or a test asks for, before it does.

    python -m tests.docs.prepare

CI does while it has a core to spare. It needs nothing but the standard library and pip.
"""

from __future__ import annotations

from tests.docs.pages import EVERY_PAGE, read_page
from tests.support.environments import OF_TESTS, environment


def main() -> None:
    """Make them; one that is left out is made by whoever asks for it."""
    for needs in (*(read_page(path).needs for path in EVERY_PAGE), *OF_TESTS):
        if needs is not None:
            environment(needs)


if __name__ == "__main__":
    main()
