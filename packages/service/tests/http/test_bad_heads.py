"""The service over HTTP: what stands before a body and should not stand there."""

from __future__ import annotations

import pytest

from tests.support.web_site import Site, refused


@pytest.mark.site(quiet=True)
async def test_of_two_authorization_headers_none_counts(at: Site) -> None:
    good = f"Bearer {await at.key()}".encode()
    async with at.client() as bare:
        for two in ((good, good), (good, b"Bearer x"), (b"Bearer x", good), (b"", good)):
            headers = [(b"authorization", one) for one in two]
            answer = await bare.get("/v1/campaigns", headers=headers)
            assert "one header Authorization" in refused(answer, 401, "no_key")
        for one in (good.replace(b"Bearer", b"bEARER"), good.replace(b" ", b"   ")):
            answer = await bare.get("/v1/campaigns", headers=[(b"authorization", one)])
            assert answer.status_code == 200
        long = [(b"authorization", good + b"0" * 30_000)]
        refused(await bare.get("/v1/campaigns", headers=long), 401, "no_key")
