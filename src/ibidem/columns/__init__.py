"""Columns: collections, shingles and the tables that travel between partitions."""
