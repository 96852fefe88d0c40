"""The client of the live decision service.

Importing a message or an error loads no HTTP client: the service imports messages, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from affinity_bandits_client._version import __version__ as __version__
from affinity_bandits_client.errors import (
    AffinityError,
    InvalidInput,
    NoReply,
    NotSupported,
    RequestRefused,
    ServiceError,
    StreamFull,
)
from affinity_bandits_client.messages import (
    Arm,
    Attention,
    Block,
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
    RaterBlocks,
    Slot,
    Told,
    ToldLine,
    Total,
    Wait,
)

if TYPE_CHECKING:  # the names of _MODULE_OF for type checkers
    from affinity_bandits_client.client import AsyncClient, Client, run_campaign
    from affinity_bandits_client.stream import (
        AsyncDecisionStream,
        DecisionStream,
        LocalDecision,
        NoDecision,
        StreamStats,
    )

__all__ = [
    "AffinityError",
    "Arm",
    "AsyncClient",
    "AsyncDecisionStream",
    "Attention",
    "Block",
    "Campaign",
    "Client",
    "ClosedRound",
    "DecisionStream",
    "Event",
    "Finding",
    "Finished",
    "Health",
    "InvalidInput",
    "Judges",
    "Lease",
    "LocalDecision",
    "NamedJudges",
    "NoDecision",
    "NoReply",
    "NotSupported",
    "OpenRound",
    "Plan",
    "Rater",
    "RaterBlocks",
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

_MODULE_OF = {
    **dict.fromkeys(("AsyncClient", "Client", "run_campaign"), "client"),
    **dict.fromkeys(
        ("AsyncDecisionStream", "DecisionStream", "LocalDecision", "NoDecision", "StreamStats"),
        "stream",
    ),
}


def __getattr__(name: str) -> object:
    """Import a name that needs an HTTP client on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found  # later uses do not come here
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
