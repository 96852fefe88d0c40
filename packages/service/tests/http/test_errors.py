"""Errors as replies: only what a request caused is told to whoever sent it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from affinity_bandits.base.errors import (
    AffinityError,
    InvalidInput,
    MissingExtra,
    NotSupported,
    StateMismatch,
    UnknownName,
)
from affinity_bandits_client import messages
from affinity_bandits_service.http.errors import as_problem


def test_only_what_the_request_caused_is_told_to_whoever_sent_it() -> None:
    mine = [InvalidInput("count", "larger", 0), UnknownName("policy", "x", ["y"]), NotSupported("")]
    assert {as_problem(error).status for error in mine} == {422}
    ours = [StateMismatch("a"), AffinityError("b"), MissingExtra("c", "d"), RuntimeError("e")]
    with pytest.raises(ValidationError) as impossible:
        messages.Told.model_validate({"counted": "x", "late": 0, "duplicate": 0})
    ours.append(impossible.value)
    assert {as_problem(error).status for error in ours} == {500}
