"""Tests of the client; those of tests/install run them where no server is installed."""
