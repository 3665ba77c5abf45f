"""Runs larger than memory: stages on this machine, each stored in a work folder."""
