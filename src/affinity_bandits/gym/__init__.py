"""The bandit as a Gymnasium environment, single and vectorized, on the streams of `simulate`.

Importing this module registers `affinity_bandits/AffinityBandit-v0`.
"""

from affinity_bandits import errors

errors.need("gym", "gymnasium")

import gymnasium

from affinity_bandits.gym.env import AffinityEnv, AffinityVectorEnv

__all__ = ["ID", "AffinityEnv", "AffinityVectorEnv"]

ID = "affinity_bandits/AffinityBandit-v0"
"""What `gymnasium.make` and `gymnasium.make_vec` call it."""

if ID not in gymnasium.registry:
    gymnasium.register(
        id=ID,
        entry_point="affinity_bandits.gym:AffinityEnv",
        vector_entry_point="affinity_bandits.gym:AffinityVectorEnv",
    )
