"""Kernels of the clusters stage."""
