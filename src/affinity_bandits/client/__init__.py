"""The client of the live decision service; it needs httpx and nothing of the server."""

from affinity_bandits.client.asynchronous import AsyncClient
from affinity_bandits.client.failures import NoAnswer, RequestRefused, ServiceError
from affinity_bandits.client.messages import (
    Arm,
    Attention,
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    OpenRound,
    Slot,
    Told,
    ToldLine,
    Total,
    Wait,
)
from affinity_bandits.client.running import run
from affinity_bandits.client.sync import Client

__all__ = [
    "Arm",
    "AsyncClient",
    "Attention",
    "Campaign",
    "Client",
    "ClosedRound",
    "Event",
    "Finished",
    "Lease",
    "NoAnswer",
    "OpenRound",
    "RequestRefused",
    "ServiceError",
    "Slot",
    "Told",
    "ToldLine",
    "Total",
    "Wait",
    "run",
]
