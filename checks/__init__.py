"""Check the packages besides their tests: benchmarks, soak tests, pictures, scripts."""
