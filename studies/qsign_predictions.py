"""Figure 7 of the paper on qSign: recall as P_max predicts it, and as it is. Used by qsign.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from evidence import Study
from qsign_paper import PAPER, PAPER_MASKS, PAPER_SCORES, PAPER_WORDS, READINGS
from qsign_search import LEAST_MATCHES, LEVELS, MASKS, POSTS_USED, RADII, DataSet, Outcome, Truth, key_of, level_name
from qsign_times import by_radius

from ibidem.index import bits


class Check(NamedTuple):
    """How predictions fared in a data set."""

    between: dict[str, int]  # by reading, how many lie between the levels beside them
    n: int
    of_paper: dict[str, int]  # the same with the paper's own figures
    n_of_paper: int
    errors: list[float]  # of the predictions from each match's words, in levels with enough matches
    levels: str


def predict(mask: tuple[int, int], reading: str, score: float, n_words: float, radius: int) -> float:
    """Return the recall at a score by P_max; words need not be whole ones."""
    n_common, n_changed = READINGS[reading](score, n_words)
    return bits.within_probability(*mask, n_common, n_changed, radius)  # type: ignore[arg-type]


def deciding_scores(enough: Sequence[bool]) -> list[float]:
    """Return the paper's scores with enough matches in the levels below and above."""
    return [score for score in PAPER_SCORES if enough[LEVELS.index(score)] and enough[LEVELS.index(score) + 1]]


def count_between(
    mask: tuple[int, int], recall: Sequence[Sequence[float]], n_words: float, reading: str, scores: Sequence[float]
) -> int:
    """Return for how many of these scores and radii the prediction lies between the recall of both levels beside it."""
    n_between = 0
    for score in scores:
        i = LEVELS.index(score)
        for d in RADII[1:]:
            n_between += recall[i + 1][d] <= predict(mask, reading, score, n_words, d) <= recall[i][d]
    return n_between


def show_predictions(study: Study, data: DataSet, truth: Truth, outcomes: Mapping[str, Outcome]) -> Check:
    """Show predictions by score, and from the words of each match."""
    n_words = data.words_a_sentence(data.queries)
    _show_by_score(study, data, outcomes, n_words)
    enough = (truth.by_level >= LEAST_MATCHES).tolist()
    errors = _show_by_match(study, data, truth, outcomes, enough)
    scores = deciding_scores(enough)
    between, of_paper = dict.fromkeys(READINGS, 0), dict.fromkeys(READINGS, 0)
    for reading in READINGS:
        for mask in PAPER_MASKS:
            recall = [[o.recall[i] for o in by_radius(outcomes, mask)] for i in range(len(LEVELS))]
            between[reading] += count_between(mask, recall, n_words, reading, scores)
            of_paper[reading] += count_between(mask, PAPER[data.name, mask[0]][:5], PAPER_WORDS, reading, PAPER_SCORES)
    n_a_score = len(PAPER_MASKS) * len(RADII[1:])
    levels = ", ".join(f"{truth.by_level[i]:,.0f} in {level_name(i)}" for i in range(1, len(LEVELS)))
    return Check(between, n_a_score * len(scores), of_paper, n_a_score * len(PAPER_SCORES), errors, levels)


def _show_by_score(study: Study, data: DataSet, outcomes: Mapping[str, Outcome], n_words: float) -> None:
    rows: list[tuple[Any, ...]] = []
    points: list[dict[str, Any]] = []
    for mask in MASKS:
        mine = by_radius(outcomes, mask)
        for i, score in enumerate(LEVELS):
            name = f"observed {level_name(i)}"
            observed = [mine[d].recall[i] for d in RADII[1:]]
            points += [
                {"bits": mask[0], "d": d, "recall": recall, "what": name, "kind": "observed"}
                for d, recall in zip(RADII[1:], observed, strict=True)
            ]
            if i + 1 == len(LEVELS):
                continue
            cells = []
            for d in RADII[1:]:
                below, above = mine[d].recall[i + 1], mine[d].recall[i]
                predicted = [predict(mask, reading, score, n_words, d) for reading in READINGS]
                cells.append(f"{' / '.join(f'{p:.2f}' for p in predicted)} ({below:.2f} to {above:.2f})")
                what = f"predicted {score:.1f}"
                points.append({"bits": mask[0], "d": d, "recall": predicted[0], "what": what, "kind": "predicted"})
            rows.append((f"{mask[0]} / {mask[1]}", score, *cells))
    note = f"N = {n_words:.1f} words in a query. First, by a linear score: n = θN words stay, (1 - θ)N change; second, by the "
    note += "product: √θ·N stay, 2(1 - √θ)N change. In brackets the recall of the levels below and above that score."
    key = key_of(data)
    title = f"Recall predicted by P_max, {data.name} sentences (figure 7)"
    study.table(f"predicted-{key}", title, ("m / l", "score", *(f"d = {d}" for d in RADII[1:])), rows, note)
    shown_names = [level_name(i) for i in range(1, len(LEVELS))]
    chosen = [p for p in points if p["bits"] != 64 and p["what"].split(" ", 1)[1] in (*shown_names, *map(str, PAPER_SCORES))]
    chart = alt.Chart(alt.Data(values=chosen)).mark_line().encode(
        x=alt.X("d:O", title="radius in bits"), y="recall:Q", color=alt.Color("what:N", title=None),
        strokeDash=alt.StrokeDash("kind:N", title=None, sort=["predicted", "observed"]), column=alt.Column("bits:N"),
    ).properties(width=240, height=220)  # fmt: skip
    study.plot(f"predicted-{key}", f"Predicted and observed recall by radius, {data.name} sentences (figure 7)", chart)


def _show_by_match(
    study: Study, data: DataSet, truth: Truth, outcomes: Mapping[str, Outcome], enough: Sequence[bool]
) -> list[float]:
    """Show what P_max predicts from the words of each match; return by how much it is wrong where that decides."""
    rows: list[tuple[Any, ...]] = []
    errors = []
    for mask in MASKS:
        predictions = [truth.predicted(*mask, d) for d in RADII]
        for i in range(len(LEVELS)):
            pairs = [(p[i], o.recall[i]) for p, o in zip(predictions, by_radius(outcomes, mask), strict=True)]
            cells = [f"{predicted:.3f} / {observed:.3f}" for predicted, observed in pairs]
            rows.append((f"{mask[0]} / {mask[1]}", level_name(i), int(truth.by_level[i]), *cells))
            if enough[i]:
                errors += [abs(predicted - observed) for predicted, observed in pairs]
    errors = errors or [0.0]
    wrong = f"wrong by {np.mean(errors):.3f} on average, by {max(errors):.3f} at most"
    note = f"Levels with {LEAST_MATCHES} matches or more: {wrong}."
    title = f"Recall predicted from the words in common and changed of each match / observed, {data.name} sentences (figure 7)"
    columns = ("m / l", "score", "matches", *(f"d = {d}" for d in RADII))
    study.table(f"words-{key_of(data)}", title, columns, rows, note)
    return errors


def judge_predictions(study: Study, checks: Mapping[str, Check]) -> None:
    """Figure 7: does the prediction lie between, and does it hold for each match?"""
    shares = [max(check.between.values()) / max(1, check.n) for check in checks.values()]
    told = "; ".join(
        f"{name}: {' and '.join(map(str, check.between.values()))} of {check.n}, with the paper's own table 2 "
        f"{' and '.join(map(str, check.of_paper.values()))} of {check.n_of_paper}"
        for name, check in checks.items()
    )
    words = (
        f"Predictions between the recall of the two adjacent levels, by the linear and the product reading: {told}. How many "
    )
    words += "words a score means is not printed, and matches of one score differ in their number of changed words."
    verdict = "in shape" if min(shares) >= 0.9 else "in part" if min(shares) > 0.5 else "contradicted"
    levels = "; ".join(f"{name}: {check.levels}" for name, check in checks.items())
    data = f"{POSTS_USED}. Matches: {levels}. Only scores between levels with {LEAST_MATCHES} or more count."
    study.verdict("qSign, figure 7: predicted recall is between the observed values", verdict, words, data)

    means = {name: float(np.mean(check.errors)) for name, check in checks.items()}
    cells = ", ".join(
        f"{means[name]:.3f} on average and {max(check.errors):.3f} at most in {name}" for name, check in checks.items()
    )
    words = f"With the words that each match has in common and changed, P_max is wrong by {cells}: if one knows how many "
    words += "words differ, the formula fits on average, though not at every level."
    verdict = "in shape" if max(means.values()) <= 0.05 else "in part" if max(means.values()) <= 0.1 else "contradicted"
    n_cases = " and ".join(str(len(check.errors)) for check in checks.values())
    data = f"{POSTS_USED}. {n_cases} recalls of levels with {LEAST_MATCHES} matches or more."
    study.verdict("qSign, figure 7: P_max, match by match", verdict, words, data)
