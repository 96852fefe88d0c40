"""The forms that files of scores have; a new one is a module here and its entry in `FORMS`."""

from affinity_bandits.audit.forms.exported import Exported
from affinity_bandits.audit.forms.form import Form
from affinity_bandits.audit.forms.long import Long
from affinity_bandits.audit.tables import Table

__all__ = ["FORMS", "Form", "to_long"]

FORMS: tuple[Form, ...] = (Exported(), Long())
"""In the order in which they are tried; the last fits every table."""


def to_long(table: Table) -> Table:
    """Return a table of any form with one row per score."""
    return next(form for form in FORMS if form.fits(table)).to_long(table)
