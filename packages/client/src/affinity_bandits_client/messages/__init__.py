"""The messages between the service and its clients, and their limits.

`base` has the limits and the checks of a caller's values. Each module lists its messages in
`__all__`.
"""

from affinity_bandits_client.messages.admin import *
from affinity_bandits_client.messages.base import *
from affinity_bandits_client.messages.campaigns import *
from affinity_bandits_client.messages.slots import *
