"""Policies of other packages as policies of this one, run in plain Python (`InPython`).

Nothing of those packages is imported here: whoever hands one of their policies in has it.
"""

from affinity_bandits import extras

extras.need("simulation")

from affinity_bandits.adapters.mabwiser import from_mabwiser
from affinity_bandits.adapters.pymab import from_pymab
from affinity_bandits.adapters.river import from_river
from affinity_bandits.adapters.smpybandits import from_smpybandits

__all__ = ["from_mabwiser", "from_pymab", "from_river", "from_smpybandits"]
