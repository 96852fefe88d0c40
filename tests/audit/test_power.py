"""The power of a log is predicted from who judged whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from affinity_bandits.audit.differences import find_differences
from affinity_bandits.audit.evidence import (
    RATIO,
    THRESHOLD,
    log_evidence,
)
from affinity_bandits.audit.power import compute_power
from tests.audit.logs import draw


@pytest.mark.slow
def test_the_power_is_predicted_from_who_judged_whom() -> None:
    """60 logs against 100 draws: 4 standard errors are 4 sqrt(1/4 (1/60 + 1/100)) = 0.33."""
    favor = 0.4
    logs = [draw(seed=seed, day=1, favor=favor) for seed in range(60)]
    found = [find_differences(log) for log in logs]
    shown = np.mean([log_evidence(one, ratio=RATIO) >= THRESHOLD for one in found])
    chances = compute_power(found[0], 1.0 / 20.0, (favor / 20.0, 0.4))
    assert 0.2 < chances[0] < 0.9
    assert chances[0] == pytest.approx(shown, abs=0.33)
    assert chances[1] == 1.0
    other = replace(found[0][0], x=found[0][0].z, z=found[0][0].x)
    assert compute_power([other], 0.05, (favor / 20.0,)) == chances[:1]  # no score is used
    assert compute_power([], 0.05, (0.1,)) == (0.0,)
