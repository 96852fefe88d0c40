"""The live decision service: which group comes next, asked from many servers at once.

`campaigns` is the core, which needs PostgreSQL and nothing of HTTP; `http` is its face. The room
knows policies and nothing else of the package: it has no true mean to see.
"""

from affinity_bandits import extras

extras.need("service")
