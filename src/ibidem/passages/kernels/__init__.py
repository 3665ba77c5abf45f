"""Kernels of the passages stage."""
