"""What the core refuses, by its row in the table of problems."""

from __future__ import annotations

from typing import Any

import pytest

from affinity_bandits_service.problems import ProblemType, ServiceProblem


def refusal(kind: ProblemType, match: str | None = None) -> Any:
    """Expect a problem of this kind to be raised."""
    return pytest.raises(ServiceProblem, match=match, check=lambda one: one.code == kind.code)


def code_of(found: object) -> str | None:
    """The code of a problem; None if it is none."""
    return found.code if isinstance(found, ServiceProblem) else None
