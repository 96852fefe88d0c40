"""Health checks of a campaign as pure functions of counts (proofs: docs/health-checks.md)."""
