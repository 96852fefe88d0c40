"""The messages between the service and its clients, and their limits.

`base` has the limits and the checks of a caller's values. Each module lists its messages in
`__all__`.
"""

from affinity_bandits.base import errors

errors.need("client", "pydantic")

from affinity_bandits.wire.admin import *
from affinity_bandits.wire.base import *
from affinity_bandits.wire.campaigns import *
from affinity_bandits.wire.slots import *
