"""Kernels of the resemblance stage."""
