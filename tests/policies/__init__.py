"""Tests of single policies beyond what the generic suites cover."""
