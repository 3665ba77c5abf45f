"""Runs that outgrow their memory: stages on this machine, each stored in a work folder."""
