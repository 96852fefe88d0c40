"""The bandit as a Gymnasium environment, single and vectorised, on the streams of `simulate`.

Importing this module registers `affinity_bandits/AffinityBandit-v0`.
"""

from affinity_bandits import extras

extras.need("gym", *extras.NEEDED["simulation"], "gymnasium")

import gymnasium

from affinity_bandits.gym.env import AffinityEnv
from affinity_bandits.gym.vector import AffinityVectorEnv

__all__ = ["ID", "AffinityEnv", "AffinityVectorEnv"]

ID = "affinity_bandits/AffinityBandit-v0"
"""What `gymnasium.make` and `gymnasium.make_vec` call it."""

if ID not in gymnasium.registry:
    gymnasium.register(
        id=ID,
        entry_point="affinity_bandits.gym:AffinityEnv",
        vector_entry_point="affinity_bandits.gym:AffinityVectorEnv",
    )
