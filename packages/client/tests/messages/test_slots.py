"""Messages about slots: who cannot be a rater, and what is no total."""

from __future__ import annotations

import re
from typing import Any

import pytest

from affinity_bandits_client import Client, Rater, Total
from affinity_bandits_client.errors import InvalidInput
from tests.support.clients import NOBODY, a_lease


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        (["r1", "r2"], "raters must be a Rater, or one for each of the 2 answers"),
        ([Rater("r1")], "raters must be a Rater, or one for each of the 2 answers"),
        ({0: Rater("r1")}, "raters must be a Rater, or one for each of the 2 answers"),
        (Rater("anna@example.org"), "rater must be a pseudonym .* and no e-mail address"),
    ],
)
def test_who_cannot_be_a_rater_is_not_sent(raters: Any, said: str) -> None:
    with Client("http://h", NOBODY) as client, pytest.raises(InvalidInput, match=said):
        client.tell(a_lease(2), [0.0, 1.0], raters=raters)


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({}, "scores must be given"),
        ({"count": 1, "scores": [{"score": 1, "count": 1}]}, "count must be left out"),
        ({"scores": [{"score": 1, "count": 0}]}, "count must be greater than or equal to 1, got 0"),
        ({"scores": []}, "scores must have at least 1 item, got"),
    ],
)
def test_a_total_has_scores_with_counts(members: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(rule)):
        Total.checked(arm="a", **members)
