"""The explorable: a page on which a visitor is the committee and tries remedies.

The page runs by itself, without a network. Its random numbers, scores and policies are those of the
library, written again in JavaScript.
"""

from affinity_bandits.plots.explorable.page import (
    ExplorableWorld,
    explorable_page,
    explorable_policy,
)

__all__ = ["ExplorableWorld", "explorable_page", "explorable_policy"]
