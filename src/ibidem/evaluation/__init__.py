"""Evaluation: what was found, measured against ground truth."""

from ibidem.evaluation.confidence import Interval
from ibidem.evaluation.counts import CountEvaluation, CountGroup, CountScores
from ibidem.evaluation.measures import (
    Sentences,
    evaluate_clusters,
    evaluate_pairs,
    evaluate_sentence_pairs,
    evaluate_sentences,
    evaluate_verdicts,
)
from ibidem.evaluation.passage_scores import Evaluation, GroupScores, PassageScores, evaluate_passages, score_passages

__all__ = [
    "CountEvaluation",
    "CountGroup",
    "CountScores",
    "Evaluation",
    "GroupScores",
    "Interval",
    "PassageScores",
    "Sentences",
    "evaluate_clusters",
    "evaluate_pairs",
    "evaluate_passages",
    "evaluate_sentence_pairs",
    "evaluate_sentences",
    "evaluate_verdicts",
    "score_passages",
]
