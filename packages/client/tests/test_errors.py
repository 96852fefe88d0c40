"""What the service refuses is an exception that says why."""

from __future__ import annotations

from uuid import uuid4

import pytest

from affinity_bandits_client import (
    Client,
    Lease,
    RequestRefused,
)
from affinity_bandits_client.errors import InvalidInput
from tests.support.clients import (
    NOBODY,
    Service,
    new_campaign,
)
from tests.support.declared import DECLARED


def test_what_the_service_refuses_says_why(service: Service) -> None:
    key = service.key()
    with Client(service.url, key) as client:
        campaign = new_campaign(client)
        lease = client.ask(campaign, key="mine")
        assert isinstance(lease, Lease)
        with pytest.raises(RequestRefused, match="idempotency key came before") as caught:
            client.ask(campaign, 2, key="mine")
        assert (caught.value.status, caught.value.code) == (409, "key_reused")
        assert caught.value.idempotency_key == "mine"
        with pytest.raises(
            RequestRefused, match="must be from 0 to 1, the campaign's range, got 2"
        ):
            client.tell(lease, [2.0])
        with pytest.raises(RequestRefused, match="there is no campaign"):
            client.ask(uuid4())
        with pytest.raises(RequestRefused, match="policy"):
            client.create_campaign(
                "c", ["a", "b"], policy="ucb1", horizon=9, declaration=DECLARED.to_json()
            )
        with pytest.raises(InvalidInput, match=r"^arms must have at least 2 items, got \('a',\)$"):
            client.create_campaign("c", ["a"], "uniform", horizon=9)
        with pytest.raises(InvalidInput, match=r"^name must have at least 1 character, got ''$"):
            client.create_campaign("", ["a", "b"], "uniform", horizon=9)
    with (
        Client(service.url, service.key("read")) as reader,
        pytest.raises(RequestRefused, match="requires an API key with the scope 'ask'"),
    ):
        reader.ask(campaign)
    with (
        Client(service.url, NOBODY) as nobody,
        pytest.raises(RequestRefused, match="check the API key") as unknown,
    ):
        nobody.campaign(campaign)
    assert unknown.value.status == 401
