"""Cleaned copies of input files: the same formats and fields, without what was decided to go."""

from ibidem.cleaning.decisions import DROPPED, Decision, Decisions
from ibidem.cleaning.names import output_paths
from ibidem.cleaning.rewriting import check_cuts_possible, rewrite
from ibidem.cleaning.stdin import spool_stdin

__all__ = ["DROPPED", "Decision", "Decisions", "check_cuts_possible", "output_paths", "rewrite", "spool_stdin"]
