"""The client of the live decision service; it needs httpx, pydantic and nothing of the server."""

from affinity_bandits import errors

errors.need("client", "httpx", "pydantic")

from affinity_bandits.client.client import AsyncClient, Client, run_campaign
from affinity_bandits.client.exchange import NoReply, RequestRefused, ServiceError
from affinity_bandits.wire import (
    Arm,
    Attention,
    Campaign,
    ClosedRound,
    Event,
    Finding,
    Finished,
    Health,
    Judges,
    Lease,
    NamedJudges,
    OpenRound,
    Plan,
    Rater,
    Slot,
    Told,
    ToldLine,
    Total,
    Wait,
)

__all__ = [
    "Arm",
    "AsyncClient",
    "Attention",
    "Campaign",
    "Client",
    "ClosedRound",
    "Event",
    "Finding",
    "Finished",
    "Health",
    "Judges",
    "Lease",
    "NamedJudges",
    "NoReply",
    "OpenRound",
    "Plan",
    "Rater",
    "RequestRefused",
    "ServiceError",
    "Slot",
    "Told",
    "ToldLine",
    "Total",
    "Wait",
    "run_campaign",
]
