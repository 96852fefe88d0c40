"""Tests of the live decision service; they need a PostgreSQL that AFFINITY_DSN names."""
