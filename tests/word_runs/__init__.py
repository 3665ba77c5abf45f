"""Tests of runs of words."""
