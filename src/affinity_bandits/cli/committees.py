"""Initial committees as people write them: "referrals 30, agencies 10..15"."""

from __future__ import annotations

import re
from itertools import product

from affinity_bandits.errors import InvalidInput

RULE = (
    "a name and a number for each group, such as 'referrals 30, agencies 10', or a range where it"
    " is not known exactly, 'agencies 10..15'"
)
ITEM = re.compile(
    r"(?P<name>.+?)\s*[\s:=]\s*(?P<low>\d[\d_]*)(?:\s*(?:\.\.+|-|to)\s*(?P<high>\d[\d_]*))?"
)
MOST_RANGES = 4
LARGEST = 10**12


def committees(parameter: str, text: str) -> list[dict[str, int]]:
    """Return the initial committees that a text allows for: one, or those at the ends of ranges.

    With ranges the committee in the middle of all comes first, then every combination of their
    ends. What holds for all of these need not hold for every one between.

    >>> committees("committee", "referrals 30, open call: 10..12")[1:]
    [{'referrals': 30, 'open call': 10}, {'referrals': 30, 'open call': 12}]
    """
    ends: dict[str, tuple[int, int]] = {}
    for item in re.split(r"[,;\n]", text):
        found = ITEM.fullmatch(item.strip())
        if found is None:
            raise InvalidInput(parameter, RULE, item.strip() or text)
        name = found["name"].strip().strip("'\"")
        low = int(found["low"].replace("_", ""))
        high = low if found["high"] is None else int(found["high"].replace("_", ""))
        if name in ends:
            raise InvalidInput(parameter, "a number for each group once", name)
        if high < low or high > LARGEST:
            rule = f"ranges from the smaller to the larger number, at most {LARGEST:,}"
            raise InvalidInput(parameter, rule, item.strip())
        ends[name] = (low, high)
    if len(ends) < 2:
        raise InvalidInput(parameter, f"at least two groups: {RULE}", text)
    open_ones = [name for name, (low, high) in ends.items() if low < high]
    if not open_ones:
        return [{name: low for name, (low, _) in ends.items()}]
    if len(open_ones) > MOST_RANGES:
        raise InvalidInput(parameter, f"at most {MOST_RANGES} ranges", text)
    middle = {name: (low + high) // 2 for name, (low, high) in ends.items()}
    corners = [
        middle | dict(zip(open_ones, chosen, strict=True))
        for chosen in product(*(ends[name] for name in open_ones))
    ]
    return [middle, *corners]
