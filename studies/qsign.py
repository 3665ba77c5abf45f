"""qSign (Kim, Candan, Tatemura, WWW 2009): what bit signatures find and cost, predicted and measured; and an index that grows.

The paper's crawls of Google News and of blogs are not available; the collection here is newsgroups20: posts that quote one
another, cut and re-wrapped. Documents are taken in the order of their ids, so that threads stay together; those above 200
sentences (encoded files, mostly) are left out. 60 query documents are drawn from the first 30,000 sentences and removed from
the data sets, which are as large as the two of Google; the blogs, 5 million sentences, have no counterpart here. The paper's
sentences have 9.4 words, so its stop words were removed: here words that occur in more than 20 % of the documents are dropped
(one snapshot counts for all data sets). Of the queries, sentences with fewer than 5 words left are dropped too: that brings
them to the paper's 10 words. Short ones are contained in many longer sentences, with a score of 1 but many differing bits.

Scores are those of the paper (`product`: the share of the query's words times the share of their weight), from .5 on; matches
and candidates are counted by sentence. Truth is a full comparison. Times are the best of three on one thread, without the
preparation of queries; slow methods are timed with every fifth query. Streams and increments go through `ibidem.Index` with
whole sentences, default scores and one thread per core, and are timed once or twice.

Figures 1 to 5 of the paper (links between news, a news site, an example of signatures, the flow, the pseudo-code) are
illustrations and left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require
from inputs import gathered
from newsgroups import POSTS, count_words, parse_options, read_posts
from qsign_search import LEVELS, MASKS, RADII, DataSet, Outcome, Truth, data_sets, measure, way_name
from qsign_stream import show_increments, show_stream

from ibidem.index import bits

MOST_SENTENCES_A_DOCUMENT = 200
MANY_WORDS = 2
PAPER_MASKS = MASKS[:2]
PAPER_SCORES = LEVELS[1:4]  # in figure 7
PAPER_WORDS = 9.98  # in a query sentence
PAPER_QUERIES = 1020
# Table 1: documents, sentences, words per sentence; what replaces it here.
PAPER_COLLECTIONS = {
    "Google_1000": (1_000, 29_292, 9.45, "30 K"),
    "Google_10000": (10_000, 291_331, 9.24, "290 K"),
    "query Google": (30, PAPER_QUERIES, PAPER_WORDS, "queries"),
    "Blog_100000": (100_000, 5_226_708, 6.73, ""),
    "query Blog": (20, 950, 6.55, ""),
}
# Table 2: matches by level; recall by level and radius, over all, and candidates a query sentence.
PAPER_MATCHES = {"30 K": (1158, 534, 112, 86, 94), "290 K": (2286, 993, 281, 189, 164)}
PAPER = {
    ("30 K", 16): (
        (0.957, 0.988, 0.990, 0.999, 0.999, 1.0), (0.768, 0.841, 0.919, 0.996, 0.998, 1.0),
        (0.107, 0.366, 0.750, 0.920, 0.991, 1.0), (0.0, 0.091, 0.443, 0.693, 0.920, 0.989),
        (0.0, 0.096, 0.319, 0.545, 0.819, 0.936), (0.772, 0.832, 0.903, 0.960, 0.987, 0.997),
        (1.7, 5.0, 28.7, 134.7, 459.2, 1199.7),
    ),
    ("30 K", 32): (
        (0.950, 0.969, 0.988, 0.989, 0.992, 0.992), (0.678, 0.783, 0.846, 0.888, 0.905, 0.942),
        (0.063, 0.170, 0.411, 0.509, 0.732, 0.875), (0.0, 0.023, 0.058, 0.170, 0.372, 0.500),
        (0.0, 0.021, 0.032, 0.117, 0.255, 0.383), (0.740, 0.788, 0.831, 0.854, 0.892, 0.922),
        (1.4, 1.5, 1.6, 1.7, 2.1, 3.7),
    ),
    ("290 K", 16): (
        (0.955, 0.982, 0.987, 0.999, 0.999, 1.0), (0.783, 0.878, 0.949, 0.996, 0.998, 1.0),
        (0.139, 0.523, 0.758, 0.940, 0.996, 1.0), (0.0, 0.143, 0.423, 0.640, 0.894, 0.905),
        (0.0, 0.122, 0.348, 0.512, 0.811, 0.835), (0.767, 0.846, 0.907, 0.957, 0.986, 0.989),
        (5.1, 37.9, 267.8, 1277.6, 4398.2, 11531.5),
    ),
    ("290 K", 32): (
        (0.922, 0.948, 0.982, 0.986, 0.990, 0.992), (0.681, 0.807, 0.872, 0.913, 0.940, 0.965),
        (0.057, 0.281, 0.484, 0.616, 0.762, 0.883), (0.0, 0.011, 0.037, 0.196, 0.344, 0.466),
        (0.0, 0.018, 0.024, 0.128, 0.220, 0.390), (0.716, 0.780, 0.833, 0.867, 0.897, 0.926),
        (2.7, 2.9, 3.2, 3.9, 7.2, 21.9),
    ),
}  # fmt: skip
READINGS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "linear": lambda score, n: (score * n, (1 - score) * n),
    "product": lambda score, n: (math.sqrt(score) * n, 2 * (1 - math.sqrt(score)) * n),
}

Results = dict[str, tuple[Truth, dict[str, Outcome]]]


def by_radius(outcomes: dict[str, Outcome], mask: tuple[int, int]) -> list[Outcome]:
    """Return the outcomes of one width of signatures, by radius."""
    return [outcomes[way_name(*mask, d)] for d in RADII]


def of_paper(outcomes: dict[str, Outcome]) -> list[Outcome]:
    """Return the outcomes with the paper's signatures."""
    return [outcome for mask in PAPER_MASKS for outcome in by_radius(outcomes, mask)]


def level_name(i: int) -> str:
    """Return the range of scores of a level."""
    return f"{'[' if i + 1 == len(LEVELS) else '('}{LEVELS[i]:.1f}, {LEVELS[i] + 0.1:.1f}]"


def key_of(data: DataSet) -> str:
    """Return the name of a data set without blanks."""
    return data.name.replace(" ", "")


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
    words = f"Forum posts of similar size replace the crawls of Google: {told}. The blogs have no counterpart here."
    study.verdict("qSign, table 1: data sets", "not available", words)


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
    """Table 2 and figure 6."""
    pairs = [
        (outcome.recall[i], PAPER[name, mask[0]][i][d])
        for name, (_, outcomes) in results.items()
        for mask in PAPER_MASKS
        for d, outcome in enumerate(by_radius(outcomes, mask))
        for i in range(len(LEVELS))
    ]
    ours, paper = np.array(pairs).T
    apart, alike = float(np.abs(ours - paper).mean()), float(np.corrcoef(ours, paper)[0, 1])
    verdict = "reproduced" if apart <= 0.05 else "in shape" if alike >= 0.8 else "contradicted"
    words = f"The {len(pairs)} recalls are {apart:.3f} away from the paper's on average ({(ours - paper).mean():+.3f} with "
    words += f"their sign), and correlate with them by {alike:.2f}."
    for name, (_, outcomes) in results.items():
        spans = [by_radius(outcomes, mask) for mask in PAPER_MASKS]
        told = " and ".join(f"{span[0].overall:.3f} to {span[-1].overall:.3f}" for span in spans)
        theirs = " and ".join(f"{PAPER[name, m][5][0]:.3f} to {PAPER[name, m][5][-1]:.3f}" for m, _ in PAPER_MASKS)
        words += f" {name}, all matches, d = 0 to 5: {told} with 16 and 32 bits (paper: {theirs})."
    study.verdict("qSign, table 2: recall by level and radius", verdict, words)

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
    for name, (_, outcomes) in results.items():
        narrow, wide = (by_radius(outcomes, mask) for mask in PAPER_MASKS)
        recalls, precisions = ([getattr(o, what) for o in narrow] for what in ("overall", "precision"))
        within = [o for o in wide if recalls[0] <= o.overall <= recalls[-1]]
        better += sum((o.precision or 0) > np.interp(o.overall, recalls, precisions) for o in within)
        n_compared += len(within)
        words += f"{name}, d = 3: precision {wide[3].precision:.3f} with 32 bits, {narrow[3].precision:.5f} with 16. "
    words += f"At equal recall 32 bits are more precise in {better} of {n_compared} cases."
    study.judge("qSign, figure 6: 32 bits are more precise than 16", better == n_compared, words)


def predict(mask: tuple[int, int], reading: str, score: float, n_words: float, radius: int) -> float:
    """Return the recall at a score by P_max; words need not be whole ones."""
    n_common, n_changed = READINGS[reading](score, n_words)
    return bits.within_probability(*mask, n_common, n_changed, radius)  # type: ignore[arg-type]


def count_between(mask: tuple[int, int], recall: Sequence[Sequence[float]], n_words: float, reading: str) -> int:
    """Return for how many of the paper's scores and radii the prediction lies between the recall of both levels beside it."""
    n_between = 0
    for score in PAPER_SCORES:
        i = LEVELS.index(score)
        for d in RADII[1:]:
            n_between += recall[i + 1][d] <= predict(mask, reading, score, n_words, d) <= recall[i][d]
    return n_between


def show_predictions(study: Study, data: DataSet, truth: Truth, outcomes: dict[str, Outcome]) -> dict[str, list[int]]:
    """Figure 7, by P_max. Returns by reading how often the prediction lies between, here and with the paper's own figures."""
    n_words = data.words_a_sentence(data.queries)
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

    rows, wrong = [], []
    for mask in MASKS:
        predictions = [truth.predicted(*mask, d) for d in RADII]
        for i in range(len(LEVELS)):
            pairs = [(p[i], o.recall[i]) for p, o in zip(predictions, by_radius(outcomes, mask), strict=True)]
            rows.append((f"{mask[0]} / {mask[1]}", level_name(i), *(f"{p:.3f} / {o:.3f}" for p, o in pairs)))
            wrong += [abs(p - o) for p, o in pairs]
    note = f"Wrong by {np.mean(wrong):.3f} on average, by {max(wrong):.3f} at most."
    title = f"Recall predicted from the words in common and changed of each match / observed, {data.name} sentences"
    study.table(f"words-{key}", title, ("m / l", "score", *(f"d = {d}" for d in RADII)), rows, note)
    counts: dict[str, list[int]] = {}
    for reading in READINGS:
        counts[reading] = [0, 0]
        for mask in PAPER_MASKS:
            recall = [[o.recall[i] for o in by_radius(outcomes, mask)] for i in range(len(LEVELS))]
            counts[reading][0] += count_between(mask, recall, n_words, reading)
            counts[reading][1] += count_between(mask, PAPER[data.name, mask[0]][:5], PAPER_WORDS, reading)
    return counts


def judge_predictions(study: Study, between: dict[str, dict[str, list[int]]]) -> None:
    """Figure 7: does the prediction lie between?"""
    n = len(PAPER_MASKS) * len(PAPER_SCORES) * len(RADII[1:])
    best = max(counts[0] for counts in between["30 K"].values()) / n
    told = "; ".join(
        f"{name}: {' and '.join(str(counts[0]) for counts in readings.values())} of {n}, with the paper's own table 2 "
        f"{' and '.join(str(counts[1]) for counts in readings.values())}"
        for name, readings in between.items()
    )
    words = "Predictions between the recall of the two adjacent levels, by the linear and the product reading: "
    verdict = "reproduced" if best >= 0.9 else "in shape" if best > 0.5 else "contradicted"
    study.verdict("qSign, figure 7: predicted recall is between the observed values", verdict, f"{words}{told}.")


def show_times(study: Study, data: DataSet, outcomes: dict[str, Outcome]) -> None:
    """Figures 8 to 10: times, their two steps, and the gain over a full comparison."""
    rows = []
    for name in ["scan", "inverted", "overlap", *(way_name(*mask, d) for mask in MASKS for d in RADII)]:
        one = outcomes[name]
        steps = [] if one.selecting is None else [one.selecting, one.seconds - one.selecting]
        cells = [f"{1e6 * taken:,.1f}" for taken in (one.seconds, *steps)]
        rows.append((name, one.overall, *cells, *([""] * (3 - len(cells))), f"{outcomes['scan'].seconds / one.seconds:,.0f}"))
    columns = ("search", "recall", "µs per sentence", "selecting candidates", "comparing them", "times as fast as scan")
    title = f"Time per query sentence, {data.name} sentences (figures 8 to 10)"
    study.table(f"times-{key_of(data)}", title, columns, rows)


def plot_times(study: Study, results: Results) -> None:
    """Figures 8 to 10 and 12."""
    points = [
        {"data": name, "search": way.split(",")[0], "recall": one.overall, "µs": 1e6 * one.seconds, "radius": way[-1]}
        for name, (_, outcomes) in results.items()
        for way, one in outcomes.items()
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x=alt.X("recall:Q", scale=alt.Scale(zero=False)), order="radius:N", color=alt.Color("search:N", title=None),
        y=alt.Y("µs:Q", scale=alt.Scale(type="log"), title="µs a query sentence"),
        column=alt.Column("data:N", sort=list(results), title="sentences"),
    ).properties(width=260, height=220)  # fmt: skip
    study.plot("times", "Time per query sentence against recall, times logarithmic (figures 8 and 10)", chart)
    steps = [
        {"bits": f"{mask[0]} bits", "d": d, "step": step, "µs": 1e6 * taken}
        for mask in PAPER_MASKS
        for d, one in enumerate(by_radius(results["290 K"][1], mask))
        for step, taken in (("selecting", one.selecting or 0), ("comparing", one.seconds - (one.selecting or 0)))
    ]
    chart = alt.Chart(alt.Data(values=steps)).mark_bar().encode(
        x=alt.X("d:O", title="radius"), y=alt.Y("µs:Q", title="µs a query sentence"), color=alt.Color("step:N", title=None),
        column=alt.Column("bits:N", title=None),
    ).properties(width=180, height=180).resolve_scale(y="independent")  # fmt: skip
    study.plot("steps", "Selecting candidates and comparing them, 290 K sentences (figures 9 and 12)", chart)


def judge_times(study: Study, results: Results) -> None:
    """Figures 8 to 10 and 12."""
    outcomes = results["290 K"][1]
    scan, inverted, overlap = (outcomes[name] for name in ("scan", "inverted", "overlap"))
    paper = of_paper(outcomes)

    def most_gain(least_recall: float) -> float:
        return max((scan.seconds / one.seconds for one in paper if one.overall >= least_recall), default=0.0)

    def told_recall(some: Sequence[Outcome]) -> str:
        return f"{len(some)}, with recall up to {max(one.overall for one in some):.3f}" if some else "none"

    gains = {"70 %": most_gain(0.7), "90 %": most_gain(0.9)}
    told = ", ".join(f"{gain:,.0f} times at {share}" if gain else f"no setting finds {share}" for share, gain in gains.items())
    words = f"Largest gain over the full scan ({1000 * scan.seconds:.1f} ms per sentence) by minimum recall: {told} (paper: "
    words += f"100 to 1,000 at 70 %, 10 to 100 at 90 %); {most_gain(0):,.0f} times at any. Figure 8b, the blogs, is missing."
    study.judge("qSign, figure 8: faster than a full scan", [gains["70 %"] >= 100, gains["90 %"] >= 10], words)

    faster = [one for one in paper if one.seconds < inverted.seconds]
    selecting = sum((one.selecting or 0) < (inverted.selecting or 0) for one in paper)
    beyond = [one for one in paper if one.seconds < overlap.seconds]
    words = (
        f"Inverted lists find all in {1e6 * inverted.seconds:,.1f} µs per sentence; of {len(paper)} settings qSign is faster "
    )
    words += f"in {told_recall(faster)}, and selects candidates faster in {selecting}. `overlap` finds all in "
    words += f"{1e6 * overlap.seconds:,.1f} µs; qSign is faster than that in {told_recall(beyond)}. (All in memory, and with "
    words += "full lists; the paper's are on disk, and cut short until their recall equals that of qSign.)"
    study.judge("qSign, figures 8 and 9: faster than inverted lists at every recall", len(faster) == len(paper), words)

    times = {name: [1e6 * one.seconds for one in by_radius(every, PAPER_MASKS[1])] for name, (_, every) in results.items()}
    told = "; ".join(f"{name}: {taken[0]:,.1f} to {taken[-1]:,.1f} µs" for name, taken in times.items())
    words = f"A query sentence with 32 bits, d = 0 to 5: {told} (paper: below a second among 100,000 documents, "
    words += "which are more than here, on a machine of 2008)."
    rises = all(taken[-1] > taken[0] and max(taken) < 1e6 for taken in times.values())
    study.judge("qSign, figure 10: below a second, more for more recall", rises, words)

    told, as_printed = "", []
    for mask in PAPER_MASKS:
        shares = [(one.selecting or 0) / one.seconds for one in by_radius(outcomes, mask)[1:3]]
        told += f"{mask[0]} bits: {' and '.join(f'{share:.0%}' for share in shares)} of the time; "
        as_printed.append(all(share > 0.5 for share in shares) if mask[0] == 32 else all(share < 0.5 for share in shares))
    words = f"Selecting candidates takes, with d = 1 and 2, {told}in the paper comparing takes most with 16 bits, selecting "
    words += "with 32. Measured in memory, on 290 K sentences that do not change; the paper's are on disk, in the stream."
    study.judge("qSign, figure 12: 16 bits spend time comparing, 32 bits selecting", as_printed, words)


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
    results: Results = {}
    between = {}
    for one in sets:
        truth, outcomes = results[one.name] = measure(one)
        show_recall(study, one, truth, outcomes)
        between[one.name] = show_predictions(study, one, truth, outcomes)
        show_times(study, one, outcomes)
    plot_times(study, results)
    judge_recall(study, results)
    judge_predictions(study, between)
    judge_times(study, results)
    show_stream(study, records, n_sentences)
    show_increments(study, records, n_sentences)
    study.write()


if __name__ == "__main__":
    main()
