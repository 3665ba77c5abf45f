"""Columns: collections, shingles and the tables sent between partitions."""
