"""Alignment over many partitions: what is sent where."""
