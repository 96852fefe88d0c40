"""Health checks of a campaign as pure functions of counts.

The proofs are in docs/development/health-checks.md.
"""
