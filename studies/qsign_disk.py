"""qSign on disk, at the size of the paper's blogs: 5.2 million sentences in an index, 950 queries, and a stream of a million.

The paper's crawl is not to be had, and no collection at hand is as large. Sentences are made of real ones, the posts of
newsgroups20 without the words that occur in more than 20 % of them, as in qsign.py: each is put together from thirds of three
posts' sentences, so that words are as common as in texts and few sentences are alike. One in ten is PLANTED instead: a
copy of a sentence of an earlier document with none to four of its words replaced. The queries are all such copies. How many
words are replaced is FITTED to the paper: the shares are those of the levels in its table 2. Recall is that of the planted
copies, so its mixture is the paper's; it does not say how people reuse text. Sizes and times are what is measured here.

Each width of signatures has its own index on disk, filled by `add`. Truth is `overlap`, which is exact: the paper's score
(`product`) from .5 on. All queries are one request; a scan is asked for one document of them only, 16 bits with the largest
radii for four. Queries have five words or more, as in qsign.py. The stream is watched from nothing: every document is queried,
answered and added. Increments add 100,000 sentences to what is there, or build and query everything again.
All times are processor time on one thread: the files stay in the page cache, and nothing waits for the disk.
Requests are the fastest of three if they take less than a second; streams and increments are timed once.

To try it in little time (it is no evidence then, and needs another folder):

    python studies/qsign_disk.py --data DIR --sentences 500000 --stream 100000 --out /tmp/trial
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from evidence import Study, require, study_options
from inputs import Record
from newsgroups import POSTS, read_posts
from numpy.typing import NDArray
from qsign_made import REPLACED_SHARES, SENTENCES_A_DOCUMENT, Queries, Sentences, first_documents, make_queries
from qsign_search import MAX_DOCUMENT_SHARE, RADII, Outcome, limits_of, way_name
from qsign_steps import Timed, timed
from qsign_stream import STREAM_COLUMNS, Way, bits_way, parts_of, power_of, stream_row, tenths, time_increment, time_stream
from qsign_times import TIME_COLUMNS, judge_gains, time_rows

import ibidem

N_SENTENCES, N_STREAM, N_INCREMENT = 5_226_708, 1_000_000, 100_000  # the paper's
N_QUERIES, QUERY_DOCUMENTS = 950, 38
MASKS: tuple[tuple[int, int | str], ...] = ((16, 1), (32, 2), (128, "auto"))
SCORED: dict[str, Any] = {"score": "product", "min_contained_words": 1, "max_places": 10**5}
LIMIT = 0.5
STREAMS = {
    "overlap": Way({}, 1, (0.8,)),
    "bits 32/2, d = 1": bits_way(32, 2, 1, 1, (0.5, 0.8)),
    "bits 32/2, d = 2": bits_way(32, 2, 2, 1),
    "bits 16/1, d = 1": bits_way(16, 1, 1, 1, (0.5,)),  # 0.8 takes as long as all the others
    "bits 16/1, d = 2": bits_way(16, 1, 2, 1)._replace(n_parts=2),  # all of it would take as long as everything else
}
SLOW = (16, 3)  # m, and d from which fewer queries are asked
N_SLOW_DOCUMENTS = 4
MADE = "Made of sentences of newsgroups20; one in ten, and all queries, are planted copies, with as many replaced words as "
MADE += "fits the levels of table 2"

Hit = tuple[str, int, str, int]


def found_by(index: ibidem.Index, records: Sequence[Record], **settings: Any) -> tuple[set[Hit], Timed]:
    """Return the hits as pairs of places, and the times of a request."""
    results: list[Any] = []

    def ask() -> None:
        results[:] = [index.query(list(records), passages=False, workers=1, **settings)]

    taken = timed(ask)
    return {(hit.a_id, hit.a_sentence, hit.b_id, hit.b_sentence) for hit in results[0]}, taken


def sources_found(queries: Queries, found: set[Hit], asked: set[str]) -> list[list[bool]]:
    """Return whether the source of each query was found, by the number of words that were replaced."""
    hits = {(query, number, source) for query, number, source, _ in found}
    of_queries: list[list[bool]] = [[] for _ in REPLACED_SHARES]
    for place, n_replaced in queries.replaced.items():
        if place[0] in asked:
            of_queries[n_replaced].append((*place, queries.source[place]) in hits)
    return of_queries


def measure(path: Path, queries: Queries, made: list[tuple[Any, ...]]) -> tuple[dict[str, Outcome], set[Hit]]:
    """Return what every way of searching found and took, and the true matches; add to `made` what indexes took."""
    truth: set[Hit] = set()
    outcomes: dict[str, Outcome] = {}
    for n_bits, per_word in MASKS:
        with (
            tempfile.TemporaryDirectory() as folder,
            ibidem.Index(
                Path(folder) / "index", signature_bits=n_bits, bits_per_word=per_word, workers=1, hash_seed=0, texts=False
            ) as index,
        ):
            begin = time.process_time()
            index.add(str(path))
            taken = time.process_time() - begin
            about = index.info()
            l_used = about["bits"]["bits_per_word"]
            mask = f"{n_bits}/{l_used}{' (auto)' if per_word == 'auto' else ''}"
            size = about["bytes"] / 1e6, about["bytes_per_sentence"]
            made.append((mask, about["sentences"], about["bits"]["vocabulary"], taken, *size))
            print(made[-1], flush=True)
            ways: dict[str, dict[str, Any]] = {}
            if not truth:
                truth = found_by(index, queries.records, search_engine="overlap", min_score=LIMIT, **SCORED)[0]
                ways = {"scan": {"search_engine": "scan", "min_score": LIMIT}}
                for engine in ("inverted", "overlap"):
                    ways |= {n: {"search_engine": engine, "min_score": limit} for n, limit in limits_of(engine).items()}
            bits = {"search_engine": "bits", "min_score": LIMIT}
            ways |= {way_name(n_bits, l_used, d): bits | {"radius": d} for d in RADII}
            for name, settings in ways.items():
                outcomes[name] = measure_way(name, index, queries, truth, settings)
                print(outcomes[name], flush=True)
    return outcomes, truth


def measure_way(name: str, index: ibidem.Index, queries: Queries, truth: set[Hit], settings: dict[str, Any]) -> Outcome:
    """Return what one way of searching found and took: recall of the planted copies; of all matches; by replaced words."""
    slow = [way_name(SLOW[0], 1, d) for d in RADII if d >= SLOW[1]]
    records = queries.records[: 1 if name == "scan" else N_SLOW_DOCUMENTS if name in slow else None]
    asked = {record["id"] for record in records}
    found, (seconds, selecting, comparing) = found_by(index, records, **settings, **SCORED)
    wanted = {hit for hit in truth if hit[0] in asked}
    assert found == wanted if name in ("scan", "inverted") else found <= wanted, name
    n_asked = len(records) * (N_QUERIES // QUERY_DOCUMENTS)
    by_words, true_by_words = (sources_found(queries, hits, asked) for hits in (found, wanted))
    recall = (len(found) / max(1, len(wanted)), *(sum(each) / max(1, len(each)) for each in by_words))
    n_found, n_true = (sum(map(sum, of_queries)) for of_queries in (by_words, true_by_words))
    outcome = Outcome(name, recall, n_found / max(1, n_true), seconds / n_asked)
    if name.startswith(("bits", "inverted")):
        return replace(outcome, selecting=selecting / n_asked, comparing=comparing / n_asked)
    return outcome


def show_searches(study: Study, path: Path, sentences: Sentences, n_sentences: int) -> None:
    """The index on disk: what it takes to fill and to ask, and what the ways find."""
    queries = make_queries(sentences, n_sentences // SENTENCES_A_DOCUMENT, N_QUERIES, QUERY_DOCUMENTS)
    made: list[tuple[Any, ...]] = []
    outcomes, truth = measure(path, queries, made)
    n_planted = sum(map(sum, sources_found(queries, truth, {record["id"] for record in queries.records})))
    judge_searches(study, queries, made, outcomes, len(truth), n_planted)


def judge_searches(
    study: Study,
    queries: Queries,
    made: Sequence[tuple[Any, ...]],
    outcomes: Mapping[str, Outcome],
    n_true: int,
    n_planted: int,
) -> None:
    """Show and judge what was measured with the index on disk."""
    columns = ("m/l", "sentences", "vocabulary", "seconds to add", "MB on disk", "bytes per sentence")
    note = "auto: l from the vocabulary, the least for which every word has a mask of its own."
    study.table("made", "Indexes on disk (Blog_100000 in table 1)", columns, made, note)
    words = f"{made[0][1]:,} made sentences and {N_QUERIES} queries of {queries.n_words:.1f} words replace the blogs "
    words += "(paper: 5,226,708 of 6.73 words, 950 of 6.55)."
    study.verdict("qSign, table 1: the blogs", "not available", words, f"{MADE}.")

    columns = ("search", "recall", "all matches", *(f"{k} replaced" for k in range(len(REPLACED_SHARES))))
    rows = [(name, one.overall, *one.recall) for name, one in outcomes.items() if name != "scan"]
    n_slow = N_SLOW_DOCUMENTS * N_QUERIES // QUERY_DOCUMENTS
    n_by_words = [list(queries.replaced.values()).count(k) for k in range(len(REPLACED_SHARES))]
    note = f"Recall: of the {n_planted} planted copies with a score from .5 on. All matches: of {n_true:,}, also those of "
    note += "sentences that happen to share a long piece. By the words that were replaced "
    note += f"({', '.join(map(str, n_by_words))} queries): the share whose source was found. {SLOW[0]} bits with d = {SLOW[1]} "
    note += f"and more: {n_slow} queries."
    study.table("recall", f"{N_QUERIES} query sentences in {made[0][1]:,} on disk: recall", columns, rows, note)
    title = f"Time per query sentence, {made[0][1]:,} sentences on disk (figures 8b, 9 d to f, 10)"
    study.table("times", title, TIME_COLUMNS, time_rows(outcomes))
    plot = alt.Chart(alt.Data(values=[
        {"search": name.split(",")[0], "order": k, "recall": one.overall, "µs": 1e6 * one.seconds}
        for k, (name, one) in enumerate(outcomes.items())
    ])).mark_line(point=True).encode(
        x=alt.X("recall:Q", scale=alt.Scale(zero=False)), order="order:Q", color=alt.Color("search:N", title=None),
        y=alt.Y("µs:Q", scale=alt.Scale(type="log"), title="µs a query sentence"),
    ).properties(width=340, height=240)  # fmt: skip
    study.plot("times", "Time per query sentence on disk against recall, times logarithmic (figures 8b and 10)", plot)

    data = (
        f"{MADE}. {n_planted} planted copies among {made[0][1]:,} sentences decide; {SLOW[0]} bits with d = {SLOW[1]} and more "
    )
    data += f"are asked for {n_slow} queries, the scan for {N_QUERIES // QUERY_DOCUMENTS}. Recall is of the planted copies, a "
    data += f"choice made after trials: among all {n_true:,} matches many are accidents of how sentences are made. Queries "
    data += "have five words or more, also chosen after trials."
    judge_gains(study, outcomes, "8b", "9 d to f", data)
    slowest = max((one for name, one in outcomes.items() if name != "scan"), key=lambda one: one.seconds)
    words = f"The slowest way ({slowest.name}) takes {1e3 * slowest.seconds:,.2f} ms a sentence (paper: less than a second, "
    words += "on a machine of 2008)."
    study.judge("qSign, figure 10: below a second among 100,000 documents", slowest.seconds < 1, words, data)


def show_stream(study: Study, records: list[Record], n_sentences: NDArray[np.int64]) -> None:
    """Figures 11 and 12 at the paper's size."""
    ends, passed = tenths(n_sentences)
    times: dict[str, NDArray[np.float64]] = {}
    steps: dict[str, Timed] = {}
    for name, way in STREAMS.items():
        times[name], steps[name] = time_stream(records, ends, way)
        print(name, times[name].tolist(), steps[name], flush=True)
    judge_stream(study, passed, times, steps)


def judge_stream(
    study: Study, passed: Sequence[int], times: Mapping[str, NDArray[np.float64]], steps: Mapping[str, Timed]
) -> None:
    """Show and judge what every tenth of the stream took."""
    rows = [stream_row(name, taken, passed, steps[name]) for name, taken in times.items()]
    totals = {name: np.cumsum(taken) for name, taken in times.items()}
    points = [
        {"search": name, "sentences": n, "seconds": float(t)}
        for name, total in totals.items()
        for n, t in zip(passed, total, strict=False)
    ]
    title = f"A stream of {passed[-1]:,} sentences: seconds for each tenth, queried and added (figures 11 and 12)"
    study.table("stream", title, STREAM_COLUMNS, rows, "Selecting and comparing: seconds in all of the two steps of searches.")
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x="sentences:Q", y="seconds:Q", color=alt.Color("search:N", title=None),
    ).properties(width=340, height=220)  # fmt: skip
    study.plot("stream", "Seconds by sentences that have passed (figure 11)", chart)

    data = f"{MADE}. {passed[-1]:,} sentences pass, once for each setting."
    powers = {name: power_of(passed, total) for name, total in totals.items()}
    mine = {name: power for name, power in powers.items() if name.startswith("bits")}
    told = ", ".join(f"{power:.2f} ({name})" for name, power in powers.items())
    n_first = STREAMS["bits 16/1, d = 2"].n_parts
    last = {name: float(total[n_first - 1]) for name, total in totals.items()}
    wider = all(last[f"bits 32/2, d = {d}"] < last[f"bits 16/1, d = {d}"] for d in (1, 2))
    farther = all(last[f"bits {mask}, d = 2"] > last[f"bits {mask}, d = 1"] for mask in ("32/2", "16/1"))
    words = f"Time grows with these powers of the stream: {told} (paper: 2). Over the first {n_first} tenths, 32 bits are "
    words += f"{'' if wider else 'not always '}faster than 16 at equal radius; d = 2 is "
    words += f"{'' if farther else 'not always '}slower than d = 1."
    quadratic = all(power >= 1.7 for power in mine.values())
    study.judge("qSign, figure 11: time is quadratic in the stream", [quadratic, wider, farther], words, data)

    shares = {name: of.selecting / (of.selecting + of.comparing) for name, of in steps.items() if name.startswith("bits")}
    told = ", ".join(f"{share:.0%} ({name})" for name, share in shares.items())
    others = ", ".join(f"{1 - (of.selecting + of.comparing) / of.seconds:.0%} ({n})" for n, of in steps.items() if n in shares)
    words = f"In the stream, selecting takes of the time of both steps: {told}. In the paper comparing takes most with 16 "
    words += f"bits, selecting with 32. Everything else (reading, splitting, adding) takes of the whole: {others}."
    as_printed = [all(share < 0.5 for name, share in shares.items() if "16/1" in name)]
    as_printed.append(all(share > 0.5 for name, share in shares.items() if "32/2" in name))
    study.judge("qSign, figure 12: 16 bits spend time comparing, 32 bits selecting", as_printed, words, data)


def show_increments(study: Study, records: list[Record], n_sentences: NDArray[np.int64], n_new: int) -> None:
    """Figure 13 at the paper's size."""
    measured: list[tuple[Any, ...]] = []
    share_new = n_new / n_sentences.sum()
    for name, way in STREAMS.items():
        for share in way.shares:
            old, new = parts_of(n_sentences, (share, min(1.0, share + share_new)))
            sizes = int(n_sentences[:old].sum()), int(n_sentences[old:new].sum())
            measured.append((name, *sizes, *time_increment(records, old, new, way)))
            print(measured[-1], flush=True)
    judge_increments(study, measured, n_new)


def judge_increments(study: Study, measured: Sequence[tuple[Any, ...]], n_new: int) -> None:
    """Show and judge what increments took: name, sentences there and new, seconds to add and to rebuild, duplicates."""
    gains: dict[str, list[float]] = {}
    rows: list[tuple[Any, ...]] = []
    for name, there, more, added, rebuilt, n_added, n_rebuilt in measured:
        gains.setdefault(name, []).append(rebuilt / added)
        rows.append((name, there, more, f"{added:.1f}", f"{rebuilt:.1f}", f"{rebuilt / added:.1f}", n_added, n_rebuilt))
    columns = ("search", "sentences before", "new", "seconds to add", "seconds to rebuild", "gain", "duplicates: new", "all")
    study.table("increments", "New sentences arrive: queried and added, or everything again (figure 13)", columns, rows)
    data = f"{MADE}. {n_new:,} sentences arrive after 500,000 to 800,000, once for each setting."
    mine = {name: of_way for name, of_way in gains.items() if name.startswith("bits")}
    told = "; ".join(f"{name}: {', '.join(f'{gain:.1f}' for gain in of_way)}" for name, of_way in mine.items())
    grows = mine["bits 32/2, d = 1"][-1] > mine["bits 32/2, d = 1"][0]
    words = (
        f"Gains with 5 and 8 tenths there, 16 bits with 5: {told} (paper: up to 7 with 32 bits, 5 with 16). With 32 bits the "
    )
    words += f"gain {'grows' if grows else 'does not grow'} with what is there; with 16 see the real posts."
    parts = [max(mine["bits 32/2, d = 1"]) >= 7, max(mine["bits 16/1, d = 1"]) >= 5, grows]
    study.judge("qSign, figure 13: 5 and 7 times as fast to add as to rebuild", parts, words, data)

    lists = gains["overlap"]
    words = f"`overlap` keeps lists of sentences by word, adds to them as documents arrive, and gains {lists[-1]:.1f} times "
    words += f"over rebuilding with 8 tenths there, signatures of 32 bits {gains['bits 32/2, d = 1'][-1]:.1f} times."
    of = "qSign, 1.1: inverted lists do not lend themselves to incremental use"
    study.judge(of, max(lists) < max(gains["bits 32/2, d = 1"]) / 2, words, data)


def main() -> None:
    """Run the study."""
    parser = study_options(__doc__)
    parser.add_argument("--sentences", type=int, default=N_SENTENCES, help="sentences of the index on disk")
    parser.add_argument("--stream", type=int, default=N_STREAM, help="sentences of the stream")
    options = parser.parse_args()
    folder = require(options.data, POSTS)
    study = Study("qsign_disk", "qSign on disk", __doc__ or "", options.out)
    sentences = Sentences(read_posts(folder / POSTS), MAX_DOCUMENT_SHARE)
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "made.jsonl"
        sentences.write(path, max(options.sentences, options.stream))
        show_searches(study, path, sentences, options.sentences)
        records = list(first_documents(path, options.stream))
    n_sentences = np.array([record["text"].count("\n\n") + 1 for record in records])
    show_stream(study, records, n_sentences)
    show_increments(study, records, n_sentences, round(N_INCREMENT * options.stream / N_STREAM))
    study.write()


if __name__ == "__main__":
    main()
