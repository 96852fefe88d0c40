"""Naive twins: slow, literal, independent copies of what the package compiles.

The tests play each twin beside the compiled implementation and compare them pull for pull. Every
twin is written from the paper and from the policies' own sources, never from ``src``: a mistake
can then hide only if it was made twice, independently.
"""
