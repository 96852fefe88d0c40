"""Kernels: how they are written, bound and compiled."""
