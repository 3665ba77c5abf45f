"""Kernels of the index."""
