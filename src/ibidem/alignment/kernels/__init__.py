"""Kernels of the alignment stage."""
