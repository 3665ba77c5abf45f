"""How good an answer is: what was found, measured against what is true."""

from ibidem.evaluation.passages import Evaluation, GroupScores, Interval, PassageScores, evaluate_passages, score_passages

__all__ = ["Evaluation", "GroupScores", "Interval", "PassageScores", "evaluate_passages", "score_passages"]
