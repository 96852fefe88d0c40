"""The `affinity` command inside this process: what starting it again would only repeat."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from unittest import mock

import pytest

from affinity_bandits.cli import main
from tests.support.quiet import quiet


def inside(arguments: tuple[object, ...], variables: Mapping[str, str]) -> Done:
    """Run the command; what it lets through would be a traceback, and is raised."""
    words = ["affinity", *map(str, arguments)]
    output, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.dict(os.environ, variables),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    status = ended.value.code or 0
    assert isinstance(status, int)
    return quiet(Done(words, status, output.getvalue(), errors.getvalue()))


Done = subprocess.CompletedProcess[str]
