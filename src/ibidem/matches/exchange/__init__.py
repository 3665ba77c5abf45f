"""Matches over many partitions: what is sent to whom."""
