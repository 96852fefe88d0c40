"""Health checks of a campaign, as pure functions of counts: no database and nothing of HTTP.

`missing`, `ends`, `standstill`, `raters` and `committee` have one check each and return what they
found in numbers; `words` turns that into findings. `evidence` is what the tests have in common.
docs/health.md has their levels, their power and the proofs.
"""
