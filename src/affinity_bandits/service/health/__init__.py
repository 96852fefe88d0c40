"""Health checks of a campaign as pure functions of counts; docs/health.md has levels and proofs."""
