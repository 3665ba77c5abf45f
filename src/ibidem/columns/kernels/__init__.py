"""Kernels over columns."""
