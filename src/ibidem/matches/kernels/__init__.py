"""Kernels of the matches stage."""
