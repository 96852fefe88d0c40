"""Tables of answers that a reader understands or refuses, as tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st

from affinity_bandits.base.errors import InvalidInput

Reader = Callable[[str], Any]
PIECES = st.sampled_from(
    [
        *("2", "10", "0.5", "1,000", "k", "%", "in", "a", "per", "week", "year", "until", "for"),
        *("2027-06-30", "1e999", "31", "2027", "/", "-", "..", "to", ",", "no idea", "all"),
    ]
)
TEXTS = st.text(max_size=40) | st.lists(PIECES, max_size=8).map(" ".join)
"""Anything, and what looks like an answer."""


def rows(table: list[tuple[Reader, dict[str, Any]]]) -> list[Any]:
    """Return a parameter of a test for each text of a table: the reader, the text, what is said."""
    return [
        pytest.param(function, text, said, id=f"{place}-{text}")
        for place, (function, texts) in enumerate(table)
        for text, said in texts.items()
    ]


def check_refused(read: Reader, text: str, says: str) -> None:
    """Check that a refusal names the text, and says its rule and an example on one line."""
    with pytest.raises(InvalidInput) as caught:
        read(text)
    assert caught.value.parameter == "answer"
    assert caught.value.value == text
    assert says in caught.value.rule
    assert len(str(caught.value).splitlines()) == 1


def check_any(read: Reader, text: str) -> None:
    """Check that a text is understood or refused, and nothing else happens."""
    with suppress(InvalidInput):
        read(text)
