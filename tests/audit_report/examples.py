"""An audit with everything that a report can show, put together by hand."""

from __future__ import annotations

import math

from affinity_bandits.audit.conclusions import conclusion
from affinity_bandits.audit.result import (
    Assumed,
    Audit,
    Compared,
    GroupLine,
    OneGroupDrift,
    Seen,
)

NAMES = ("referrals", 'agencies <b>"x"</b>', "the open call of spring and of autumn")
NOTHING = Assumed("nothing", "if nothing drifts", 3.2e8, True)
STEADY = Assumed("steady", "if all drift alike and at a steady rate", 44.0, True)
ALIKE = Assumed("alike", "whatever drifts for all alike", 0.7, False)
SEEN = (
    Seen(0.1, 0.02, (0.0, 0.1), math.inf),
    Seen(0.5, 0.4, (0.3, 0.55), 3.1),
    Seen(1.0, 0.85, (0.7, 0.93), 1.0),
    Seen(math.inf, 1.0, (0.93, 1.0), 1.0),
)
DRIFTS = (OneGroupDrift(NAMES[0], 0.12, None), OneGroupDrift(NAMES[2], None, 0.4))


def example(panels: str | None = None) -> Audit:
    """Return an audit of three groups in which something is shown."""
    found = conclusion([NOTHING, STEADY, ALIKE], 100.0, SEEN, DRIFTS, panels)
    return Audit(
        source="decisions.csv",
        rows=1900,
        scale="1..5",
        lowest=1.0,
        highest=5.0,
        groups=tuple(
            GroupLine(name, 10, 600, 600 + place, 3.0, ((0.2, 2.5, 40), (0.3, 3.0, 300)))
            for place, name in enumerate(NAMES)
        ),
        panels=panels,
        word=found.word,
        sentence=found.sentence,
        because=found.because,
        record=found.record,
        assumed=(NOTHING, STEADY, ALIKE),
        indicated=100.0,
        bonus=(0.4, math.inf),
        likely_bonus=0.9,
        exponent=(0.3, 1.4),
        likely_exponent=0.8,
        power=SEEN,
        compared=(
            Compared(NAMES[0], NAMES[1], 1.41, (0.8, 1.2), None),
            Compared(NAMES[0], NAMES[2], 1.55, None, None),
            Compared(NAMES[1], NAMES[2], 1.1, (0.9, 1.4), 1.02),
        ),
        explained=DRIFTS,
        placebos=(("groups exchanged", 0.2),),
        spread=0.9,
        joining=0.5,
        shares=tuple((row, (0.6, 0.3, 0.1)) for row in range(0, 1901, 100)),
        notes=("group 'x' is in the initial committee and in no row",),
    )
