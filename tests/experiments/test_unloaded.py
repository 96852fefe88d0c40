"""A bandit of stored results is read without the code of its bias and noise, and not run."""

from __future__ import annotations

import pytest

from affinity_bandits import AffinityBandit, Custom
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.experiments.unloaded import Unloaded, UnloadedNoise, bandit_of


def halved(share: float) -> float:
    return 0.5 * share


def test_models_that_are_there_are_what_they_were() -> None:
    bandit = AffinityBandit([0.4, 0.6], bias="power")
    assert bandit_of({"bandit": bandit.to_json()}) == bandit


def test_models_of_missing_code_keep_their_description_alone() -> None:
    saved = AffinityBandit([0.4, 0.6], bias=Custom(halved, 1.0, "mine")).to_json()
    saved["noise"] = {"name": "own-noise", "scale": 2.0}
    found = bandit_of({"bandit": saved})
    assert isinstance(found.bias, Unloaded)
    assert isinstance(found.noise, UnloadedNoise)
    assert (str(found.bias), str(found.noise)) == ("mine", "own-noise")
    assert found.bias.to_json() == saved["bias"]
    assert found.noise.to_json() == saved["noise"]
    assert found.true_means == AffinityBandit([0.4, 0.6]).true_means
    with pytest.raises(NotSupported, match="bias 'mine' is code of your own, which is not kept"):
        _ = found.bias.code
    with pytest.raises(NotSupported, match="noise 'own-noise' is code of your own"):
        found.noise.law_code("gated")
