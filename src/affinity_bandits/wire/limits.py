"""The limits of messages; most of them follow from the type of a database column."""

from __future__ import annotations

import re

SCOPES = ("ask", "tell", "read", "admin", "keys")
"""What an API key may do: lease slots, answer them, look, make or stop campaigns, manage keys."""
KEY_ID = "^[0-9a-f]{16}$"
API_KEY = re.compile(r"ab_([0-9a-f]{16})_([0-9a-f]{64})")
"""An API key: its id and its secret."""
MOST_TELLERS = 100
"""API keys that a campaign names."""
SLOWEST_RATE, FASTEST_RATE = 0.001, 1e6
"""Requests a second that an API key may be given."""
SMALLEST_LIMIT, LARGEST_LIMIT = 1024, 2**30
"""Bytes of the largest body that an API key may be given."""
MOST_KEYS = 1000
"""Keys in use that a tenant may have made over HTTP."""
LARGEST_BODY = 2**20
"""Bytes of a request's body, unless the API key says otherwise."""
BULK_TIMES = 64
"""So many times a key's largest body may be sent as lines."""
LONGEST_LINE = 2**20

IDEMPOTENCY_KEY = "Idempotency-Key"
"""The header that makes a request the same request when it is sent again."""
LONGEST_KEY = 200
ROOM_FOR_LINE = 20
"""Characters of an idempotency key that are kept free for the number of a line."""

MOST_ARMS = 1000
LARGEST_POLICY = 32_768
"""Characters of a campaign's policy as JSON: room for a schedule of a thousand rounds, which is as
many as are ever played. All of it is read at the end of each round."""
LONGEST_NAME = 200
MOST_JUDGES = 10**12
"""Of a group, of those who judge a round; and members of it in a committee."""
LONGEST_RATER = 64
"""Characters of a rater's pseudonym."""
LARGEST_HORIZON = 10**15
SHORTEST_LEASE, LONGEST_LEASE = 0.001, 30 * 86_400.0
"""Seconds."""
LARGEST_SCORE = 10**5
"""Largest score in size: the sum of a whole lease, in units, still fits eight bytes."""
UNITS_PER_ONE = 10**9
"""Scores are kept as whole numbers of 1e-9, so that sums are exact."""

LARGEST_LEASE = 10_000
"""Slots of a lease."""
MOST_ANSWERS = 10_000
"""Answers of a tell."""
LARGEST_NUMBER = 2**63 - 2
"""Largest slot or lease: the end of a range of slots still fits eight bytes."""
LARGEST_ROUND = 2**62
"""Slots of a round that never ends; the slot after the last must fit eight bytes too."""

MOST_ITEMS = 200
"""Items of a page."""
LONGEST_CURSOR = 100
