"""Runs that outgrow their memory: the stages of `distributed`, on this machine, each stored in a work folder.

What they compute is what the pipeline computes in memory; a run that was killed goes on after its last finished stage.
"""

from __future__ import annotations
