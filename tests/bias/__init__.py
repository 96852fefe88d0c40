"""Tests of single biases beyond what the generic suites cover."""
