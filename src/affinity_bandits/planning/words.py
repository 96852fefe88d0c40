"""Numbers and parts as people write them: "2,000", "2k", "20%", "one in ten", "a third".

Every function takes the name of what was asked for and a text, and returns a value or raises
`InvalidInput` with the rule and an example. What can be read in two ways is refused, not guessed.
"""

from __future__ import annotations

import math
import re

from affinity_bandits.errors import InvalidInput

UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMERALS = {word: value for value, word in enumerate(UNITS)} | {
    word: 10 * (place + 2) for place, word in enumerate(TENS)
}
SCALES = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "m": 10**6}
PARTS = {
    **{"half": 2, "halves": 2, "second": 2, "other": 2, "third": 3, "quarter": 4, "fourth": 4},
    **{"fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12},
    **{"fifteenth": 15, "twentieth": 20, "fiftieth": 50, "hundredth": 100, "thousandth": 1000},
}
"""How many of them make a whole; "every second one" and "every other one" are halves, too."""
EVERYONE = ("all", "everyone", "everybody", "all of them", "every one", "always")
NOBODY = ("none", "nobody", "no one", "never", "nothing", "no")
UNKNOWN = (
    *("do not know", "don't know", "dont know", "not known", "no idea", "no clue", "unknown"),
    *("not sure", "unsure", "?", "who knows", "n/a", "cannot say", "can't say", "hard to say"),
)
HEDGES = re.compile(
    r"^(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|some|maybe|perhaps|probably"
    r"|say|up to|at most|no more than|under|~|<=?|=)\s*(?=\S)"
)
SPEAKERS = re.compile(r"^(?:i|we)\s+(?:really\s+)?")
DIGITS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
PLAIN = re.compile(rf"[+-]?{DIGITS}")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([ ,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")
UNDERSCORES = re.compile(r"[+-]?\d+(?:_\d+)+")
DOTTED = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
LONGEST = 200
"""Characters of an answer: more is no number."""
COUNT_RULE = "a whole number such as 2000, 2,000, 2k or 'two thousand'"
NUMBER_RULE = "a number such as 3, 0.5 or 'ten'"
PART_RULE = "a part such as 10%, 0.1, '1 in 10', 'one in ten' or 'a tenth'"


def tidied(parameter: str, text: str, rule: str) -> str:
    """Return an answer in lower case, with plain spaces, dashes and quotes."""
    plain = " ".join(str(text).translate(_LOOKALIKES).split()).lower()
    plain = plain.strip("\"'").strip().rstrip("!").removesuffix(".").strip()
    if len(plain) > LONGEST or not plain:
        raise InvalidInput(parameter, rule, text)
    return plain


_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")  # dashes
    | dict.fromkeys("\u2018\u2019`\u00b4", "'")  # quotes
    | {"\u2026": "..", "\uff05": "%", "\u00a0": " ", "\u2009": " ", "\u202f": " "}
)


def is_unknown(text: str) -> bool:
    """Return whether an answer says that one does not know.

    >>> is_unknown("We don't know."), is_unknown("no idea"), is_unknown("20%")
    (True, True, False)
    """
    plain = " ".join(str(text).translate(_LOOKALIKES).lower().split()).rstrip(".!")
    return SPEAKERS.sub("", plain).removeprefix("have ") in UNKNOWN


def without_hedges(text: str) -> str:
    """Return a tidied text without the "about" or "up to" that it begins with."""
    while (found := HEDGES.match(text)) is not None:
        text = text[found.end() :]
    return text


def number(parameter: str, text: str, rule: str = NUMBER_RULE) -> float:
    """Return the number that a text spells.

    >>> number("spread", "1.5"), number("spread", "twenty-five"), number("spread", "2k")
    (1.5, 25.0, 2000.0)
    """
    value = read_number(without_hedges(tidied(parameter, text, rule)))
    if value is None:
        raise InvalidInput(parameter, _hint(text, rule), text)
    return value


def count(parameter: str, text: str, rule: str = COUNT_RULE) -> int:
    """Return the whole number that a text spells.

    >>> count("budget", "2,000"), count("budget", "2k"), count("budget", "1e6")
    (2000, 2000, 1000000)
    """
    plain = without_hedges(tidied(parameter, text, rule))
    value = None if DOTTED.fullmatch(plain) else read_number(plain)
    if value is None or not value.is_integer():
        raise InvalidInput(parameter, _hint(text, rule), text)
    return int(value)


def part(parameter: str, text: str, rule: str = PART_RULE) -> float:
    """Return the part of a whole, from 0 to 1, that a text spells.

    >>> part("joining", "1 in 10"), part("joining", "10%"), part("joining", "one in ten")
    (0.1, 0.1, 0.1)
    """
    plain = without_hedges(tidied(parameter, text, rule))
    value = read_part(plain)
    if value is None:
        bare = read_number(plain)
        if bare is not None and 0.0 <= bare <= 1.0:
            value = bare
        elif bare is not None and 1.0 < bare <= 100.0:
            rule += f" ({bare:g}% if that is meant)"
    if value is None or not 0.0 <= value <= 1.0:
        raise InvalidInput(parameter, _hint(text, rule), text)
    return value


def read_number(plain: str) -> float | None:
    """Return the number that a tidied text spells, None if it spells none."""
    if PLAIN.fullmatch(plain) or UNDERSCORES.fullmatch(plain):
        value = float(plain.replace("_", ""))
        return value if math.isfinite(value) else None
    if THOUSANDS.fullmatch(plain):
        return float(re.sub(r"[ ,'_]", "", plain))
    return _spelled(plain)


def _spelled(plain: str) -> float | None:
    """Return the value of "two thousand five hundred", "twenty-five", "1.5k" or "a dozen"."""
    if plain in ("dozen", "a dozen"):
        return 12.0
    words = re.sub(r"(?<=\d)(?=(?:k|m)$)", " ", plain.replace("-", " ")).split()
    if len(words) > 1 and words[0] in ("a", "an") and words[1] in SCALES:
        words[0] = "one"
    total, current, last = 0.0, None, ""
    for word in words:
        value = _digit_or_numeral(word)
        if word == "and" and last in SCALES:
            pass
        elif word == "hundred" and current is not None and current < 100.0:
            current *= 100.0
        elif word in SCALES and word != "hundred" and current is not None:
            total, current = total + current * SCALES[word], None
        elif value is None:
            return None
        elif current is None:
            current = value
        elif value < _room(current):
            current += value
        else:
            return None
        last = word
    value = total + (current or 0.0)
    return round(value, 9) if last not in ("", "and") and math.isfinite(value) else None


def _room(current: float) -> float:
    """Return below what a numeral may follow a number: "five" after "twenty", not after "ten"."""
    if current >= 100.0 and current % 100.0 == 0.0:
        return 100.0
    return 10.0 if current >= 20.0 and current % 10.0 == 0.0 else 0.0


def _digit_or_numeral(word: str) -> float | None:
    if word in NUMERALS:
        return float(NUMERALS[word])
    if PLAIN.fullmatch(word) or THOUSANDS.fullmatch(word):
        return float(word.replace(",", ""))
    return None


def read_part(plain: str) -> float | None:
    """Return the part that a tidied text spells with % or in words, None if it spells none."""
    if plain in EVERYONE:
        return 1.0
    if plain in NOBODY:
        return 0.0
    percent = re.fullmatch(r"(.+?) ?(?:%|percent|per cent|pct)", plain)
    if percent is not None:
        value = read_number(percent[1])
        return None if value is None else value / 100.0
    ratio = re.fullmatch(r"(.+?) ?(?:in every|in|out of|of|/) ?(?:every )?(.+)", plain)
    if ratio is not None:
        above, below = read_number(ratio[1]), read_number(ratio[2])
        if ratio[1] in ("a", "an"):
            above = 1.0
        if above is None or below is None or below <= 0.0:
            return None
        return above / below
    every = re.fullmatch(r"every (\w+?)(?: one)?", plain)
    if every is not None:
        return None if every[1] not in PARTS else 1.0 / PARTS[every[1]]
    fraction = re.fullmatch(r"(?:(\w+)[ -])?(\w+)", plain)
    if fraction is not None:
        singular = fraction[2] if fraction[2] in PARTS else fraction[2].removesuffix("s")
        above = 1.0 if fraction[1] in (None, "a", "an") else read_number(fraction[1])
        if singular in PARTS and above is not None and singular not in ("second", "other"):
            return above / PARTS[singular]
    return None


def _hint(text: str, rule: str) -> str:
    """Return the rule, with how to write what may have been meant."""
    plain = " ".join(str(text).split())
    if DOTTED.fullmatch(plain):
        return f"{rule} (no dots between thousands: {plain.replace('.', ',')})"
    if DECIMAL_COMMA.fullmatch(plain):
        return f"{rule} (with a point: {plain.replace(',', '.')})"
    return rule
