"""The live decision service: servers ask it which group comes next.

`core` uses PostgreSQL and is independent of HTTP; `http` and `ui` are on top of it.
"""

from affinity_bandits_service._version import __version__ as __version__
