"""The trail: recompute a campaign from its events and compare the result with the tables."""
