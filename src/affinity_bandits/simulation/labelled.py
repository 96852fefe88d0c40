"""Results with labels: as a pandas DataFrame and as an xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from affinity_bandits.kernels import FloatArray
from affinity_bandits.simulation.result_data import ResultData

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def as_frame(result: ResultData) -> pd.DataFrame:
    """Return one line for each policy, replicate and checkpoint; see `Result.to_pandas`."""
    import pandas as pd

    policies, replicates, times, arms = result.pulls.shape
    columns: dict[str, npt.NDArray[np.generic]] = {
        "policy": np.repeat(np.array(result.labels, dtype=object), replicates * times),
        "replicate": np.tile(np.repeat(result.replicates, times), policies),
        **_seeds(result, policies, times),
        "time": np.tile(result.checkpoints, policies * replicates),
        "regret": result.regret.ravel(),
    }
    for arm in range(arms):
        columns[f"pulls_{arm}"] = result.pulls[..., arm].ravel()
    columns["wrong_arm"] = np.repeat(result.wrong_arm.ravel(), times)
    columns["undecided"] = np.repeat(_undecided(result).ravel(), times)
    return pd.DataFrame(columns)


def as_dataset(result: ResultData) -> xr.Dataset:
    """Return everything with labelled axes; see `Result.to_xarray`."""
    import xarray as xr

    return xr.Dataset(
        {
            "pulls": (("policy", "replicate", "time", "arm"), result.pulls),
            "candidate": (("policy", "replicate", "arm"), result.candidates.astype(bool)),
            "regret": (("policy", "replicate", "time"), result.regret),
            "wrong_arm": (("policy", "replicate"), result.wrong_arm),
            "undecided": (("policy", "replicate"), _undecided(result)),
        },
        coords={
            "policy": list(result.labels),
            "replicate": result.replicates,
            **({"seed": ("replicate", _as_words(result))} if result.parts else {}),
            "time": result.checkpoints,
            "arm": np.arange(result.bandit.arms),
            "engine": ("policy", [run.engine for run in result.runs]),
            "eliminates": ("policy", result.eliminates),
            "true_mean": ("arm", list(result.bandit.true_means)),
        },
        attrs={
            "seed": ", ".join(map(str, result.seeds)),
            "horizon": result.horizon,
            "version": result.version,
        },
    )


def _seeds(result: ResultData, policies: int, times: int) -> dict[str, npt.NDArray[np.generic]]:
    """Return the column of seeds, where there are several."""
    if not result.parts:
        return {}
    return {"seed": np.tile(np.repeat(np.array(_as_words(result), dtype=object), times), policies)}


def _as_words(result: ResultData) -> list[str]:
    return [str(seed) for seed in result.seed_of_each]  # up to 2**128: words, as in attributes


def _undecided(result: ResultData) -> FloatArray:
    """Return 1 or 0, and nan for a policy that never decides, so that a mean is a rate or nan."""
    return np.where(result.eliminates[:, None], result.undecided, np.nan)
