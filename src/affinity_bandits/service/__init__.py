"""The live decision service: many servers ask it which group comes next.

`core` needs PostgreSQL and nothing of HTTP; `http` and `ui` are its face. The service knows
policies and nothing else of the package: it has no true mean to see.
"""

from affinity_bandits import extras

extras.need("service")
