"""Migration steps from each schema to the next; a new database starts with the newest, in `sql`.

A step changes tables and what is in them. Functions are none of its business: after the last step
a database is given those of the newest schema.
"""

from affinity_bandits.service.store.migrations import (
    step_0002,
    step_0003,
    step_0004,
    step_0005,
    step_0006,
    step_0007,
    step_0008,
    step_0009,
)

FIRST = "0001"
STEPS = {
    "0002": step_0002.upgrade,
    "0003": step_0003.upgrade,
    "0004": step_0004.upgrade,
    "0005": step_0005.upgrade,
    "0006": step_0006.upgrade,
    "0007": step_0007.upgrade,
    "0008": step_0008.upgrade,
    "0009": step_0009.upgrade,
}
"""By the revision that a step leads to, in their order."""
