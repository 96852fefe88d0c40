"""The regret of the handicap on instances that were drawn: `python -m bench.regret_drawn --json`.

As `bench.regret`, on sixty instances that no setting was chosen on (`suite.drawn_instances`), with
the eliminations alone.
"""

from __future__ import annotations

import sys

from bench.lines import Lines, main
from bench.regret import Item, Line, figures, measure, policies, table
from bench.suite import drawn_instances

REPLICATES = 1_000
COMPARED = ("published", "handicap", "handicap_known", "former")


def work() -> list[Item]:
    """Return what is measured, instance by instance."""
    return [
        Item(instance, label, policies(instance)[label])
        for instance in drawn_instances()
        for label in COMPARED
    ]


if __name__ == "__main__":
    sys.exit(main(Lines(__doc__ or "", Line, work(), measure, figures, table, REPLICATES)))
