"""The story that plans are told in users' words, as it is meant."""

from __future__ import annotations

from dataclasses import replace

from bench.story import story

MEANT = replace(
    story(joining=0.1),
    pace=2000 / (365.25 / 7.0),
    names=["referrals", "agencies", "open call"],
)
