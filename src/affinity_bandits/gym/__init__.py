"""The bandit as a Gymnasium environment on the streams of `simulate`.

Importing this module registers `affinity_bandits/AffinityBandit-v0`.
"""

from affinity_bandits.base import errors

errors.need("gym", "gymnasium")

import gymnasium

from affinity_bandits.gym.env import AffinityEnv

__all__ = ["ID", "AffinityEnv"]

ID = "affinity_bandits/AffinityBandit-v0"
"""What `gymnasium.make` calls it."""

if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point="affinity_bandits.gym:AffinityEnv")
