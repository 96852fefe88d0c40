"""Disturb sweeps in every way we can think of, and check that nothing is lost or made up."""
