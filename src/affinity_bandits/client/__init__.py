"""The client of the live decision service; it needs only httpx and pydantic."""

from affinity_bandits.base import errors

errors.need("client", "httpx", "pydantic")

from affinity_bandits.client.client import AsyncClient, Client, run_campaign
from affinity_bandits.client.exchange import NoReply, RequestRefused, ServiceError
from affinity_bandits.client.journal import StreamFull
from affinity_bandits.client.stream import (
    AsyncDecisionStream,
    DecisionStream,
    LocalDecision,
    NoDecision,
    StreamStats,
)
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
    "AsyncDecisionStream",
    "Attention",
    "Campaign",
    "Client",
    "ClosedRound",
    "DecisionStream",
    "Event",
    "Finding",
    "Finished",
    "Health",
    "Judges",
    "Lease",
    "LocalDecision",
    "NamedJudges",
    "NoDecision",
    "NoReply",
    "OpenRound",
    "Plan",
    "Rater",
    "RequestRefused",
    "ServiceError",
    "Slot",
    "StreamFull",
    "StreamStats",
    "Told",
    "ToldLine",
    "Total",
    "Wait",
    "run_campaign",
]
