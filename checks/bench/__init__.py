"""Benchmarks: each beside the bare engine it is compared with."""
