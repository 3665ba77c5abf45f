"""qSign (Kim, Candan, Tatemura, WWW 2009): what bit signatures find and cost, predicted and measured; and an index that grows.

The paper's crawls of Google News and of blogs are not available; the collection here is newsgroups20: posts that quote one
another, cut and re-wrapped. Documents are taken in the order of their ids, so that threads stay together; those above 200
sentences (encoded files, mostly) are left out. 60 query documents are drawn from the first 30,000 sentences and removed from
the data sets, which are as large as the two of Google; the blogs, 5 million sentences, are in qsign_disk.py. The paper's
sentences have 9.4 words, so its stop words were removed: here words that occur in more than 20 % of the documents are dropped
(one snapshot counts for all data sets). Of the queries, sentences with fewer than 5 words left are dropped too: that brings
them to the paper's 10 words. Short ones are contained in many longer sentences, with a score of 1 but many differing bits.

Scores are those of the paper (`product`: the share of the query's words times the share of their weight), from .5 on; matches
and candidates are counted by sentence. Truth is `overlap`, which is exact, and confirmed by a full comparison
of every fifth query. Times are processor time on one thread, the best of three, without the preparation of queries; slow
methods are timed with every fifth query. Inverted lists (All-Pairs) and `overlap` are also timed with limits above .5, by which
they find as much as signatures do: so the paper compares. Streams and increments go through `ibidem.Index` with whole sentences
and default scores, and are timed once.

Figures 1 to 5 of the paper (links between news, a news site, an example of signatures, the flow, the pseudo-code) are
illustrations; the last three are tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require
from inputs import gathered
from newsgroups import POSTS, count_words, parse_options, read_posts
from qsign_paper import (
    PAPER,
    PAPER_COLLECTIONS,
    PAPER_MASKS,
    PAPER_MATCHES,
    PAPER_QUERIES,
)
from qsign_predictions import judge_predictions, show_predictions
from qsign_promises import show_bound, show_vocabulary, vocabulary_masks
from qsign_search import (
    LEAST_MATCHES,
    LEVELS,
    MASKS,
    POSTS_USED,
    RADII,
    DataSet,
    Outcome,
    Results,
    Truth,
    data_sets,
    deciding,
    key_of,
    level_name,
    measure,
)
from qsign_stream import show_increments, show_stream
from qsign_times import TIME_COLUMNS, by_radius, judge_gains, judge_times, plot_times, time_rows

MOST_SENTENCES_A_DOCUMENT = 200
MANY_WORDS = 2


def beside(ours: float, paper: float | None, form: str = ".3f") -> str:
    """Return a cell with the paper's figure in brackets, if there is one."""
    return f"{ours:{form}}" + ("" if paper is None else f" ({paper:{form}})")


def show_collections(study: Study, sets: Sequence[DataSet]) -> None:
    """Table 1: what replaces what."""
    chosen = {data.name: (data, data.data) for data in sets} | {"queries": (sets[0], sets[0].queries)}
    rows: list[tuple[Any, ...]] = []
    for name, (n_documents, n_sentences, n_words, ours) in PAPER_COLLECTIONS.items():
        cells: tuple[Any, ...] = ("", None, None, None)
        if ours:
            data, arrivals = chosen[ours]
            collection = arrivals.collection
            cells = (ours, collection.n_documents, len(collection.digest), data.words_a_sentence(arrivals))
        rows.append((*cells, name, n_documents, n_sentences, n_words))
    what = ("documents", "sentences", "words per sentence")
    columns = ("here", *what, "in the paper", *what)
    study.table("collections", "Data sets and queries (table 1)", columns, rows, "Words are counted once in a sentence.")
    told = "; ".join(f"{row[0]} for {row[4]}, {row[2]:,} sentences with {row[3]:.1f} words" for row in rows if row[0])
    words = f"Forum posts of similar size replace the crawls of Google: {told}. The blogs have a row below."
    study.verdict("qSign, table 1: news and blogs of Google", "not available", words, f"{POSTS_USED}.")


def show_recall(study: Study, data: DataSet, truth: Truth, outcomes: dict[str, Outcome]) -> None:
    """Table 2: recall by level and radius, and what is compared for it."""
    rows: list[tuple[Any, ...]] = []
    matches = PAPER_MATCHES[data.name]
    for mask in MASKS:
        mine, paper = by_radius(outcomes, mask), PAPER.get((data.name, mask[0]))
        name = f"{mask[0]} / {mask[1]}"
        for i in range(len(LEVELS)):
            cells = [beside(o.recall[i], paper and paper[i][d]) for d, o in enumerate(mine)]
            rows.append((name, level_name(i), beside(truth.by_level[i], matches[i], ",.0f"), *cells))
        cells = [beside(o.overall, paper and paper[5][d]) for d, o in enumerate(mine)]
        rows.append((name, "all", beside(truth.by_level.sum(), sum(matches), ",.0f"), *cells))
        cells = [beside(o.candidates or 0, paper and paper[6][d], ",.1f") for d, o in enumerate(mine)]
        rows.append((name, "candidates", "", *cells))
        n_found = [share * sum(matches) / PAPER_QUERIES for share in paper[5]] if paper else []
        cells = [beside(o.precision or 0, paper and min(1.0, n_found[d] / paper[6][d])) for d, o in enumerate(mine)]
        rows.append((name, "precision", "", *cells))
    longer = (truth.level == 0) & (truth.n_extra > MANY_WORDS)
    share = truth.places[longer].sum() / max(1, truth.by_level[0])
    note = "In brackets the paper's figures; its precision is computed from them. Candidates are counted per query sentence. "
    note += f"{share:.0%} of the matches in {level_name(0)} are sentences with more than {MANY_WORDS} other words."
    title = f"Recall by score and radius, {data.name} sentences (table 2)"
    study.table(f"recall-{key_of(data)}", title, ("m / l", "score", "matches", *(f"d = {d}" for d in RADII)), rows, note)


def judge_recall(study: Study, results: Results) -> None:
    """Table 2."""
    enough = {name: truth.by_level >= LEAST_MATCHES for name, (truth, _) in results.items()}
    pairs = [
        (outcome.recall[i], PAPER[name, mask[0]][i][d])
        for name, (_, outcomes) in results.items()
        for mask in PAPER_MASKS
        for d, outcome in enumerate(by_radius(outcomes, mask))
        for i in range(len(LEVELS))
        if enough[name][i]
    ]
    ours, paper = np.array(pairs).T
    apart, alike = float(np.abs(ours - paper).mean()), float(np.corrcoef(ours, paper)[0, 1])
    verdict = "reproduced" if apart <= 0.05 else "in shape" if alike >= 0.8 else "contradicted"
    words = (
        f"Of the levels with {LEAST_MATCHES} matches or more, the {len(pairs)} recalls are {apart:.3f} away from the paper's "
    )
    words += f"on average ({(ours - paper).mean():+.3f} with their sign), and correlate with them by {alike:.2f}."
    for name, (_, outcomes) in results.items():
        spans = [by_radius(outcomes, mask) for mask in PAPER_MASKS]
        told = " and ".join(f"{span[0].overall:.3f} to {span[-1].overall:.3f}" for span in spans)
        theirs = " and ".join(f"{PAPER[name, m][5][0]:.3f} to {PAPER[name, m][5][-1]:.3f}" for m, _ in PAPER_MASKS)
        words += f" {name}, all matches, d = 0 to 5: {told} with 16 and 32 bits (paper: {theirs})."
    n_left_out = sum(int((~of).sum()) for of in enough.values())
    data = f"{deciding(results)} Left out: {n_left_out} of {len(results) * len(LEVELS)} levels."
    study.verdict("qSign, table 2: recall by level and radius", verdict, words, data)

    shares = {name: truth.by_level[0] / truth.by_level.sum() for name, (truth, _) in results.items()}
    theirs = {name: PAPER_MATCHES[name][0] / sum(PAPER_MATCHES[name]) for name in shares}
    told = ", ".join(f"{share:.0%} in {name} (paper: {theirs[name]:.0%})" for name, share in shares.items())
    words = f"Matches above .9: {told}."
    of = "qSign, table 2: most matches are in the highest level"
    study.judge(of, min(shares.values()) > 0.5, words, deciding(results))

    fewer, stable, cells = [], [], []
    for name, (_, outcomes) in results.items():
        narrow, wide = ([one.candidates or 0.0 for one in by_radius(outcomes, mask)] for mask in PAPER_MASKS)
        fewer.append(all(a > b for a, b in zip(narrow, wide, strict=True)))
        stable.append(wide[-1] / wide[0] <= 10)
        theirs_of = [PAPER[name, m][6][-1] / PAPER[name, m][6][0] for m, _ in PAPER_MASKS]
        growth = f"{narrow[-1] / narrow[0]:,.0f} times with 16 bits and {wide[-1] / wide[0]:,.0f} with 32"
        cells.append(f"{name}: {growth} (paper: {theirs_of[0]:,.0f} and {theirs_of[1]:,.0f})")
    words = f"From d = 0 to 5 candidates grow, in {'; '.join(cells)}. 32 bits have fewer at every radius, but grow, too."
    of = "qSign, table 2: candidates explode with 16 bits and stay few with 32"
    study.judge(of, [all(fewer), all(stable)], words, deciding(results))


def judge_precision(study: Study, results: Results) -> None:
    """Figure 6."""
    points = [
        {"data": name, "bits": f"{mask[0]}", "radius": d, "recall": o.overall, "precision": o.precision}
        for name, (_, outcomes) in results.items()
        for mask in MASKS
        for d, o in enumerate(by_radius(outcomes, mask))
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=alt.X("recall:Q", scale=alt.Scale(zero=False)), y="precision:Q", color=alt.Color("bits:N", sort=["16", "32", "64"]),
        order="radius:Q", column=alt.Column("data:N", sort=list(results), title="sentences"),
    ).properties(width=260, height=200)  # fmt: skip
    study.plot("precision", "Precision of candidates against recall, by bits of the signature (figure 6)", chart)
    better, n_compared, words = 0, 0, ""
    gaps = []
    perfect = []
    for name, (_, outcomes) in results.items():
        narrow, wide = (by_radius(outcomes, mask) for mask in PAPER_MASKS)
        recalls, precisions = ([getattr(o, what) for o in narrow] for what in ("overall", "precision"))
        within = [o for o in wide if recalls[0] <= o.overall <= recalls[-1]]
        better += sum((o.precision or 0) > np.interp(o.overall, recalls, precisions) for o in within)
        n_compared += len(within)
        gaps.append((wide[3].precision or 0) / (narrow[3].precision or 1))
        perfect.append(float(np.interp(0.75, [o.overall for o in wide], [o.precision or 0.0 for o in wide])))
        words += f"{name}, d = 3: precision {wide[3].precision:.3f} with 32 bits, {narrow[3].precision:.5f} with 16. "
    words += (
        f"At equal recall 32 bits are more precise in {better} of {n_compared} cases; the gap grows from {gaps[0]:,.0f} to "
    )
    words += f"{gaps[1]:,.0f} times with the collection. At a recall of 75 % their precision is {perfect[0]:.2f} and "
    words += f"{perfect[1]:.2f} (paper: almost perfect)."
    parts = [better == n_compared, gaps[1] > gaps[0], min(perfect) >= 0.95]
    study.judge(
        "qSign, figure 6: 32 bits are more precise than 16, and almost perfect at 75 %", parts, words, deciding(results)
    )


def main() -> None:
    """Run the study."""
    options = parse_options(__doc__)
    data = require(options.data, POSTS)
    study = Study("qsign", "qSign: bit signatures, and an index that grows", (__doc__ or "").split("\n\n", 1)[1], options.out)
    records = read_posts(data / POSTS)
    records = records[: math.ceil(options.share * len(records))]
    whole = gathered(records)
    counts = count_words(whole)
    n_sentences = np.diff(whole.document_first)
    rows = np.flatnonzero(n_sentences <= MOST_SENTENCES_A_DOCUMENT)
    records, n_sentences = [records[row] for row in rows], n_sentences[rows]
    sets = list(data_sets(records, n_sentences, counts, options.share))
    show_collections(study, sets)
    vocabulary = sets[-1].data.n_words
    results: Results = {}
    checks = {}
    for one in sets:
        truth, outcomes = results[one.name] = measure(one, sorted({*MASKS, *vocabulary_masks(vocabulary)}))
        show_recall(study, one, truth, outcomes)
        checks[one.name] = show_predictions(study, one, truth, outcomes)
        title = f"Time per query sentence, {one.name} sentences (figures 8 to 10)"
        study.table(f"times-{key_of(one)}", title, TIME_COLUMNS, time_rows(outcomes))
    last, (truth, outcomes) = sets[-1], results[sets[-1].name]
    judge_recall(study, results)
    judge_precision(study, results)
    judge_predictions(study, checks)
    show_bound(study, last, truth)
    show_vocabulary(study, last, outcomes, vocabulary, deciding({last.name: (truth, outcomes)}))
    plot_times(study, results)
    judge_gains(study, outcomes, "8a", "9 a to c", deciding({last.name: (truth, outcomes)}))
    judge_times(study, results)
    show_stream(study, records, n_sentences)
    show_increments(study, records, n_sentences)
    study.write()


if __name__ == "__main__":
    main()
