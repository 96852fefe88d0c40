"""Explain why compiling a policy, a bias or a noise failed, and in which line of the user's code.

numba's report of a failed compilation has a hundred lines, most of them about the loop that calls
the kernel. A mistake that plain Python shows too is reported as Python does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from affinity_bandits.base.errors import AffinityError, NotSupported, shown
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.policies.kernel_rules import Place, check_kernels

PLACE = re.compile(r'(?:File "| at )([^"\n]+?\.py)(?:", line | \()(\d+)')
FRAME = re.compile(r"^(Failed in |- Resolution failure|$)")
"""Lines of numba's report before the one that says what is wrong."""
ALLOCATES = ("NRT required", "Only accept returning of array")
"""What numba says of code that needs memory of its own, which compiled loops do not have."""
NO_MATCH = re.compile(r"No implementation of function .*? found for signature:\s*>>> (.+)")
DRAW = re.compile(r"NumPyRandomGeneratorType_(\w+)\(")
OBJECT = re.compile(r"Untyped global name '(\w+)':\s*Cannot determine Numba type of (.+)")
LONGEST_REASON = 240
HORIZON = 1000


@contextmanager
def compile_errors(policy: StepPolicy | RoundPolicy, bandit: Any) -> Iterator[None]:
    """Raise `NotSupported` for errors of numba's compiler, with numba's error as its context."""
    try:
        yield
    except (AffinityError, MemoryError):
        raise
    except IndexError as error:
        raise index_error(policy) from error
    except Exception as error:
        raise NotSupported(
            f"policy {shown(str(policy))} with bias {shown(str(bandit.bias))} and noise "
            f"{shown(str(bandit.noise))} cannot be compiled:\n"
            f"{_broken_rule(policy, bandit.arms) or _reason(error)}\n"
            f"Kernels may use arithmetic, math, the arrays of their arguments and plain functions "
            f"of their module, and make no arrays of their own.\n"
            f"engine='python' runs a policy as it is. The compiler's report is in __context__ of "
            f"this error; affinity --debug prints it."
        ) from None


def index_error(policy: StepPolicy | RoundPolicy) -> NotSupported:
    """Return the error of a policy whose compiled code was stopped at an index."""
    return NotSupported(
        f"policy {shown(str(policy))} reads or writes outside of an array; engine='python' of "
        f"simulate names the line"
    )


def _broken_rule(policy: StepPolicy | RoundPolicy, arms: int) -> str:
    """Return the rule of kernels that a policy breaks in plain Python, or ""."""
    try:
        check_kernels(policy, arms, HORIZON)
    except AssertionError as error:
        return str(error)
    return ""


def _reason(error: Exception) -> str:
    """Return numba's reason, below the first line of the user's code that it names."""
    report = str(error)
    named = [Place(os.path.abspath(file), int(line)) for file, line in PLACE.findall(report)]
    place = next((one for one in named if one.is_users), None)
    lines = [line.strip() for line in report.splitlines()]
    reason = next((line for line in lines if not FRAME.match(line)), type(error).__name__)
    unknown, is_object = NO_MATCH.search(report), OBJECT.search(report)
    draw = DRAW.match(unknown[1]) if unknown is not None else None
    if draw is not None:
        reason = f"rng.{draw[1]} cannot be compiled with these arguments; rng.random() can."
    elif unknown is not None and "(array(" in unknown[1]:
        reason = "This function or method of an array is not supported here; write a loop."
    elif any(words in report for words in ALLOCATES):
        reason = "This line makes an array, a list, a dict or a string."
    elif is_object is not None:
        reason = f"{is_object[1]} is a Python object ({is_object[2]}); the state must hold data."
    elif unknown is not None:
        reason = f"The compiler does not have this operation: {unknown[1]}"
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON - 3]}..."
    return reason if place is None else f"{place}\n{reason}"
