"""`affinity serve` where the service is installed and broken."""

from __future__ import annotations

import sys
from unittest import mock

import pytest
import typer

from affinity_bandits.cli.serve import add_serve


def test_a_broken_service_is_not_taken_for_a_missing_one() -> None:
    broken = mock.patch.dict(sys.modules, {"affinity_bandits_service.cli": None})
    with broken, pytest.raises(ModuleNotFoundError, match=r"affinity_bandits_service\.cli"):
        add_serve(typer.Typer())
