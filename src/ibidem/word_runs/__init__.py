"""Runs of words: what is the same word for word in two places, independent of sentences."""
