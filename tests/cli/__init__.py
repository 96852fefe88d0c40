"""Tests of the `affinity` command, run as a user would run it."""
