"""Groups that look like protected attributes, which audits are not for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from affinity_bandits.errors import InvalidInput

WORDS = """
sex gender male female man men woman women nonbinary transgender race racial ethnic ethnicity black
white asian hispanic latino latina origin nationality citizenship foreigner immigrant migrant
religion religious christian muslim jewish hindu buddhist atheist disability disabled pregnant
pregnancy marital married age young old older younger orientation gay lesbian bisexual heterosexual
caste
"""
PATTERN = re.compile(rf"(?<![a-z])(?:{'|'.join(WORDS.split())})(?![a-z])")
RULE = (
    "sources, skill sets or the like, not protected attributes or proxies for them "
    "(docs/responsible-use.md); if it is not what it looks like, say --responsible-use"
)


def refuse_protected(parameter: str, names: Iterable[str]) -> None:
    """Raise if a group, or the column of groups, is named like a protected attribute.

    >>> refuse_protected("group", ["referrals", "white papers"])
    Traceback (most recent call last):
    ...
    affinity_bandits.errors.InvalidInput: group must be sources, skill sets or the like, not \
protected attributes or proxies for them (docs/responsible-use.md); if it is not what it looks \
like, say --responsible-use, got 'white papers'
    """
    for name in names:
        if PATTERN.search(name.lower().replace("_", " ")):
            raise InvalidInput(parameter, RULE, name)
