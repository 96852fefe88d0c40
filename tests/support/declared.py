"""A declaration for campaigns whose groups stand for nothing."""

from __future__ import annotations

from affinity_bandits.base.declaration import Declaration

DECLARED = Declaration("made-up groups", "the author of the test", "a test")
