"""Kernels of the sentences stage."""
