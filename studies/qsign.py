"""qSign (Kim, Candan, Tatemura, WWW 2009): what bit signatures find and cost, predicted and measured; and an index that grows.

The collection is newsgroups20: posts that quote one another, cut and re-wrapped. Documents are taken in the order of their ids,
so that threads stay together; those above 200 sentences (encoded files, mostly) are left out. 60 query documents are drawn from
the first 30,000 sentences and are taken out of the data sets. The paper's sentences have 9.4 words, so its stop words are gone:
here words that stand in more than 20 % of the documents are dropped (one snapshot counts for all data sets). Of the queries,
sentences with fewer than 5 words left are dropped too: that brings them to the paper's 10 words. Short ones stand inside any
number of longer sentences, with a score of 1 and far away in bits; table A tells how many of those there still are.

Scores are those of the paper (`product`), from .5 on; matches and candidates are counted by sentence. Truth is a full
comparison. Times are the best of three on one thread, without making the queries; slow ways are timed with every fifth query.
The tables D and E go through `ibidem.Index` with whole sentences, default scores and a thread a core.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ibidem
from ibidem.collection import Collection, gather
from ibidem.config import Config
from ibidem.documents import read_batches
from ibidem.index import bits
from ibidem.index.columns import frozen
from ibidem.index.queries import Arrivals, QueryTypes
from ibidem.index.search import Matches, Request, search
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.vocabulary import WordCounts
from ibidem.parts import MapParts, in_turn
from ibidem.signatures import SentenceTypes
from ibidem.signatures.types import TypeTokens, number_hashes
from make_collection import read_lines

COLLECTION = "newsgroups20/docs.jsonl.zst"
LEVELS = (0.9, 0.8, 0.7, 0.6, 0.5)
MASKS = ((16, 1), (32, 2), (64, 3))
RADII = range(6)
MOST_SENTENCES_A_DOCUMENT = 200
LEAST_QUERY_WORDS = 5
MAX_DOCUMENT_SHARE = 0.2
N_QUERY_DOCUMENTS = 60
QUERY_SENTENCES = (25, 60)
EVERY, SLOW_SECONDS = 5, 0.2  # one query in so many is timed if these take longer
MANY_WORDS = 2
PAPER_WORDS = 9.98  # in a query sentence
SETTINGS = SegmentSettings(64, 3, 1.0, Fraction(1), exact=True)
NO_HASHES = frozen(np.empty(0, np.uint64))

# Table 2 of the paper: recall by level and radius, candidates a query sentence.
PAPER = {
    ("30 K", 16): (
        (0.957, 0.988, 0.990, 0.999, 0.999, 1.0), (0.768, 0.841, 0.919, 0.996, 0.998, 1.0),
        (0.107, 0.366, 0.750, 0.920, 0.991, 1.0), (0.0, 0.091, 0.443, 0.693, 0.920, 0.989),
        (0.0, 0.096, 0.319, 0.545, 0.819, 0.936), (1.7, 5.0, 28.7, 134.7, 459.2, 1199.7),
    ),
    ("30 K", 32): (
        (0.950, 0.969, 0.988, 0.989, 0.992, 0.992), (0.678, 0.783, 0.846, 0.888, 0.905, 0.942),
        (0.063, 0.170, 0.411, 0.509, 0.732, 0.875), (0.0, 0.023, 0.058, 0.170, 0.372, 0.500),
        (0.0, 0.021, 0.032, 0.117, 0.255, 0.383), (1.4, 1.5, 1.6, 1.7, 2.1, 3.7),
    ),
    ("290 K", 16): (
        (0.955, 0.982, 0.987, 0.999, 0.999, 1.0), (0.783, 0.878, 0.949, 0.996, 0.998, 1.0),
        (0.139, 0.523, 0.758, 0.940, 0.996, 1.0), (0.0, 0.143, 0.423, 0.640, 0.894, 0.905),
        (0.0, 0.122, 0.348, 0.512, 0.811, 0.835), (5.1, 37.9, 267.8, 1277.6, 4398.2, 11531.5),
    ),
    ("290 K", 32): (
        (0.922, 0.948, 0.982, 0.986, 0.990, 0.992), (0.681, 0.807, 0.872, 0.913, 0.940, 0.965),
        (0.057, 0.281, 0.484, 0.616, 0.762, 0.883), (0.0, 0.011, 0.037, 0.196, 0.344, 0.466),
        (0.0, 0.018, 0.024, 0.128, 0.220, 0.390), (2.7, 2.9, 3.2, 3.9, 7.2, 21.9),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Filtered(Collection):
    """A collection whose sentences go without some words, sorted here by hash."""

    dropped: NDArray[np.uint64]

    def type_tokens(self, types: SentenceTypes, map_parts: MapParts) -> TypeTokens:
        """Return the tokens of every type that are left."""
        tokens = super().type_tokens(types, map_parts)
        kept = ~np.isin(tokens.tokens, self.dropped)
        return TypeTokens(tokens.tokens[kept], np.concatenate([[0], np.cumsum(kept)])[tokens.first])


@dataclass(frozen=True)
class Study:
    """A data set and the queries: segments are made by the masks of words, all else is the same."""

    name: str
    data: Arrivals
    queries: Arrivals
    counts: WordCounts

    def segment(self, n_bits: int, bits_per_word: int) -> tuple[SegmentSettings, Segment, QueryTypes]:
        """Return the settings, the data as a segment, and the types of the queries."""
        settings = replace(SETTINGS, signature_bits=n_bits, bits_per_word=bits_per_word)
        segment = self.data.segment(np.arange(self.data.collection.n_documents), self.counts, settings)
        return settings, segment, self.queries.queries(self.counts, settings)

    @cached_property
    def query_places(self) -> NDArray[np.int64]:
        """Number of query sentences by type."""
        return np.bincount(self.queries.types.of_sentence)


@dataclass(frozen=True)
class Outcome:
    """What one way of searching found and took."""

    name: str
    recall: tuple[float, ...]
    overall: float
    candidates: float
    seconds: float


def read_records(path: Path) -> list[dict[str, str]]:
    """Return the documents in the order of their ids, newsgroup after newsgroup."""
    records = [json.loads(line) for line in read_lines(path)]
    records.sort(key=lambda record: (record["id"].split("/")[0], int(record["id"].split("/")[1])))
    return [{"id": record["id"], "text": record["text"]} for record in records]


def gathered(records: list[dict[str, str]]) -> Collection:
    """Return documents with their sentences."""
    config = Config()
    batches = read_batches(records, config.documents, lambda record: None)
    return gather(batches, iter(()), config.sentences, in_turn, lambda n_documents, n_sentences: None)


def count_words(collection: Collection) -> WordCounts:
    """Return in how many documents each word stands."""
    every = np.arange(len(collection.digest))
    tokens = collection.type_tokens(SentenceTypes(every.astype(np.int32), every), in_turn)
    words = number_hashes(tokens.tokens)
    document = np.repeat(collection.document, np.diff(tokens.first)).astype(np.int64)
    pairs = np.unique(document * len(words.hashes) + words.ids)
    return WordCounts.of(words.hashes, np.bincount(pairs % len(words.hashes)), collection.n_documents, 1)


def filtered(collection: Collection, dropped: NDArray[np.uint64], least_words: int = 1) -> Filtered:
    """Return a collection without these words, and without the sentences that are left with too few."""
    every = np.arange(len(collection.digest))
    columns = {field.name: getattr(collection, field.name) for field in fields(collection)}
    whole = Filtered(**columns, dropped=dropped)
    n_left = np.diff(whole.type_tokens(SentenceTypes(every.astype(np.int32), every), in_turn).first)
    rows = n_left >= least_words
    sentence_columns = ("document", "start_byte", "end_byte", "start_char", "end_char", "n_words", "digest")
    return replace(whole, **{name: columns[name][rows] for name in sentence_columns})


def studies(records: list[dict[str, str]], sizes: NDArray[np.int64], counts: WordCounts) -> Iterator[Study]:
    """Yield the two data sets with the same queries."""
    dropped = counts.common_hashes(MAX_DOCUMENT_SHARE)
    n_first = int(np.searchsorted(np.cumsum(sizes), 30_000))
    drawn = [row for row in range(n_first) if QUERY_SENTENCES[0] <= sizes[row] <= QUERY_SENTENCES[1]]
    chosen = set(random.Random(1).sample(drawn, N_QUERY_DOCUMENTS))
    queries = Arrivals(filtered(gathered([records[row] for row in sorted(chosen)]), dropped, LEAST_QUERY_WORDS))
    others = [record for row, record in enumerate(records) if row not in chosen]
    first = filtered(gathered(others), dropped).document_first
    for name, n_sentences in (("30 K", 30_000), ("290 K", 290_000)):
        n_documents = int(np.searchsorted(first, n_sentences))
        yield Study(name, Arrivals(filtered(gathered(others[:n_documents]), dropped)), queries, counts)


def some_queries(queries: QueryTypes, rows: NDArray[np.int64]) -> QueryTypes:
    """Return these queries only."""
    first = np.concatenate([[0], np.cumsum(queries.sizes[rows])])
    words = np.concatenate([queries.words[queries.first[row] : queries.first[row + 1]] for row in rows])
    by_query = {name: frozen(getattr(queries, name)[rows]) for name in ("digests", "totals", "signatures", "fingerprints")}
    return replace(queries, words=frozen(words), first=frozen(first), **by_query)


def seconds(function: Callable[[], object], n_times: int = 3) -> float:
    """Return the best time of several."""
    best = math.inf
    for _ in range(n_times):
        gc.collect()
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


def asked(engine: str, radius: int = 0) -> Request:
    return Request(engine, "product", Fraction(1, 2), radius, 0.0, 0, min_contained_words=1)


def pair_keys(matches: Matches) -> NDArray[np.int64]:
    return matches.query << 32 | matches.type


class Truth:
    """All matches by full comparison: their levels, and how many pairs of sentences each stands for."""

    def __init__(self, study: Study, segment: Segment, queries: QueryTypes, settings: SegmentSettings) -> None:
        matches = search(segment, queries, asked("scan"), settings, NO_HASHES).hits
        scores = matches.scores(queries, "product")
        self.pairs = pair_keys(matches)
        self.common = matches.common
        self.n_missing, self.n_extra = queries.sizes[matches.query] - matches.common, matches.size - matches.common
        self.level = (scores[:, None] <= LEVELS[:-1]).sum(axis=1)
        self.places = study.query_places[matches.query] * segment.place_counts(matches.type)
        self.by_level = np.bincount(self.level, self.places, len(LEVELS))

    def predicted(self, n_bits: int, bits_per_word: int, radius: int) -> tuple[float, ...]:
        """Return the recall by level that P_max predicts from the words of every match: in common, and changed."""
        kinds, which = np.unique(self.common << 32 | self.n_missing + self.n_extra, return_inverse=True)
        words = [(kind >> 32, kind & 0xFFFFFFFF) for kind in kinds.tolist()]
        chances = np.array([bits.within_probability(n_bits, bits_per_word, n, k, radius) for n, k in words])
        expected = np.bincount(self.level, self.places * chances[which], len(LEVELS))
        return tuple(expected / np.maximum(1, self.by_level))

    def recall(self, matches: Matches) -> tuple[tuple[float, ...], float]:
        """Return the share that was found, by level and over all; something found that is not true is an error."""
        if not np.isin(pair_keys(matches), self.pairs).all():
            sys.exit("A search found what the full comparison did not.")
        found = np.bincount(self.level, self.places * np.isin(self.pairs, pair_keys(matches)), len(LEVELS))
        return tuple(found / np.maximum(1, self.by_level)), float(found.sum() / self.by_level.sum())


def candidates_of(study: Study, segment: Segment, queries: QueryTypes, n_bits: int, radius: int) -> float:
    """Return how many sentences of the data a query sentence is compared with."""
    tables = bits.BitTables(segment.bit_rows, segment.bit_starts, n_bits)
    first, types = bits.search(tables, segment.signatures, queries.signatures, radius)
    places = np.concatenate([[0], np.cumsum(segment.place_counts(types.astype(np.int64)))])
    by_query = places[first[1:]] - places[first[:-1]]
    return float((by_query * study.query_places).sum() / study.query_places.sum())


def measure(study: Study) -> tuple[Truth, dict[str, Outcome]]:
    """Return the truth and what every way of searching found and took."""
    outcomes: dict[str, Outcome] = {}
    truth: Truth | None = None
    for n_bits, bits_per_word in reversed(MASKS):
        settings, segment, queries = study.segment(n_bits, bits_per_word)
        some = some_queries(queries, np.arange(0, len(queries), EVERY))
        truth = truth or Truth(study, segment, queries, settings)
        ways = [(f"bits {n_bits}/{bits_per_word}, d = {d}", asked("bits", d)) for d in RADII]
        if not outcomes:  # the exact ones use the signature of the default width, or none
            ways += [(name, asked(name)) for name in ("scan", "inverted", "overlap")]
        for name, request in ways:
            seen = candidates_of(study, segment, queries, n_bits, request.radius) if request.engine == "bits" else math.nan
            everything = search(segment, queries, request, settings, NO_HASHES).hits if request.engine != "scan" else None
            recall, overall = truth.recall(everything) if everything else ((1.0,) * len(LEVELS), 1.0)

            def taken(timed: QueryTypes, n_times: int, request: Request = request) -> float:
                return seconds(lambda: search(segment, timed, request, settings, NO_HASHES), n_times) / len(timed)  # noqa: B023

            is_slow = taken(some, 1) * len(some) > SLOW_SECONDS
            outcomes[name] = Outcome(name, recall, overall, seen, taken(some if is_slow else queries, 3))
    assert truth is not None
    return truth, outcomes


def show_recall(study: Study, truth: Truth, outcomes: dict[str, Outcome]) -> None:
    """Table A."""
    print(f"\nA. Recall by score and radius, {study.name} sentences; in brackets the paper's")
    for n_bits, bits_per_word in MASKS:
        mine = [outcomes[f"bits {n_bits}/{bits_per_word}, d = {d}"] for d in RADII]
        paper = PAPER.get((study.name, n_bits))
        print(f"  m = {n_bits}, l = {bits_per_word}        " + "".join(f"{f'd = {d}':>19}" for d in RADII))
        for i in range(len(LEVELS)):
            cells = [f"{o.recall[i]:.3f}" + (f" ({paper[i][d]:.3f})" if paper else "") for d, o in enumerate(mine)]
            print(f"  {level_name(i):10} {truth.by_level[i]:8,.0f} " + "".join(cell.rjust(19) for cell in cells))
        print(f"  all        {truth.by_level.sum():8,.0f} " + "".join(f"{o.overall:.3f}".rjust(19) for o in mine))
        cells = [f"{o.candidates:,.1f}" + (f" ({paper[5][d]:,.1f})" if paper else "") for d, o in enumerate(mine)]
        print("  candidates          " + "".join(cell.rjust(19) for cell in cells), flush=True)
    longer = (truth.level == 0) & (truth.n_extra > MANY_WORDS)
    share = truth.places[longer].sum() / max(1, truth.by_level[0])
    print(f"  {level_name(0)}: {share:.0%} are sentences with more than {MANY_WORDS} other words")


def level_name(i: int) -> str:
    return f"({LEVELS[i]:.1f}, {LEVELS[i] + 0.1:.1f}]" if i + 1 < len(LEVELS) else f"[{LEVELS[i]:.1f}, {LEVELS[i] + 0.1:.1f}]"


SLOWEST = "bits 16/1, d = 1"
WAYS: dict[str, dict[str, Any]] = {
    "overlap": {},
    "bits 32/2, d = 1": {"search_engine": "bits", "radius": 1, "signature_bits": 32, "bits_per_word": 2},
    SLOWEST: {"search_engine": "bits", "radius": 1, "signature_bits": 16, "bits_per_word": 1},
}
READINGS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "linear: n = θN words stay, k = (1 - θ)N change": lambda score, n: (score * n, (1 - score) * n),
    "product: n = √θ·N words stay, 2(1 - √θ)N change": lambda score, n: (math.sqrt(score) * n, 2 * (1 - math.sqrt(score)) * n),
}


def show_predictions(study: Study, truth: Truth, outcomes: dict[str, Outcome], n_words: float) -> None:
    """Table B: at a score that parts two levels, the prediction should lie between the recall of the two."""
    print(f"\nB. Recall predicted by P_max, {study.name} sentences")
    for n, name in enumerate(READINGS):
        print(f"  ({n + 1}) {name}")
    print(f"  Predicted (1) / (2) for N = {n_words:.1f}, in brackets the recall of the levels below and above that score")
    print(" " * 17 + "".join(f"d = {d}".rjust(28) for d in RADII[1:]))
    n_within, n_within_paper, n_all = [0] * len(READINGS), [0] * len(READINGS), 0
    for n_bits, bits_per_word in MASKS:
        for i in range(len(LEVELS) - 1):
            cells = []
            for d in RADII[1:]:
                recall = outcomes[f"bits {n_bits}/{bits_per_word}, d = {d}"].recall
                predicted = []
                for number, reading in enumerate(READINGS.values()):
                    predicted.append(bits.within_probability(n_bits, bits_per_word, *reading(LEVELS[i], n_words), d))
                    n_within[number] += recall[i + 1] <= predicted[-1] <= recall[i]
                    if i and (paper := PAPER.get((study.name, n_bits))):
                        theirs = bits.within_probability(n_bits, bits_per_word, *reading(LEVELS[i], PAPER_WORDS), d)
                        n_within_paper[number] += paper[i + 1][d] <= theirs <= paper[i][d]
                cells.append(f"{' / '.join(f'{p:.2f}' for p in predicted)} ({recall[i + 1]:.2f} to {recall[i]:.2f})")
            n_all += len(cells)
            print(f"  {n_bits}/{bits_per_word}, score {LEVELS[i]:.1f}  " + "".join(cell.rjust(28) for cell in cells))
    between = " and ".join(f"{n} of {n_all}" for n in n_within)
    theirs = " and ".join(f"{n} of 30" for n in n_within_paper)
    print(f"  between: {between}; with the paper's own figures, scores .6 to .8: {theirs}")
    print("  Predicted from the words in common and changed of each match / observed, d = 0 to 5")
    wrong: list[float] = []
    for n_bits, bits_per_word in MASKS:
        predictions = [truth.predicted(n_bits, bits_per_word, d) for d in RADII]
        for i in range(len(LEVELS)):
            observed = [outcomes[f"bits {n_bits}/{bits_per_word}, d = {d}"].recall[i] for d in RADII]
            cells = [f"{p[i]:.3f} / {o:.3f}" for p, o in zip(predictions, observed, strict=True)]
            print(f"  {n_bits}/{bits_per_word}, {level_name(i)}  " + "".join(cell.rjust(18) for cell in cells))
            wrong += [abs(p[i] - o) for p, o in zip(predictions, observed, strict=True)]
    print(f"  wrong by {np.mean(wrong):.3f} on average, by {max(wrong):.3f} at most", flush=True)


def show_times(study: Study, outcomes: dict[str, Outcome]) -> None:
    """Table C."""
    print(f"\nC. Time of a query sentence, {study.name} sentences, and gain over the full comparison")
    for name in ["scan", "inverted", "overlap", *(f"bits {m}/{n}, d = {d}" for m, n in MASKS for d in RADII)]:
        one = outcomes[name]
        gain = outcomes["scan"].seconds / one.seconds
        print(f"  {name:18} {1e6 * one.seconds:10,.1f} µs   gain {gain:9,.1f}   recall {one.overall:.3f}")
    for exact in ("overlap", "inverted"):
        faster = [o.overall for name, o in outcomes.items() if name.startswith("bits") and o.seconds < outcomes[exact].seconds]
        most = max(faster, default=0.0)
        print(f"  {exact} finds all; bits is faster in {len(faster)} of 18 settings, with recall up to {most:.3f}", flush=True)


def parts_of(sizes: NDArray[np.int64], shares: Sequence[float]) -> list[int]:
    """Return the documents after which these shares of all sentences have passed."""
    done = np.cumsum(sizes)
    return [int(np.searchsorted(done, share * done[-1])) for share in shares]


def show_increments(records: list[dict[str, str]], sizes: NDArray[np.int64], work: Path) -> None:
    """Table D."""
    print("\nD. A tenth of the collection arrives: queried and added, against all built and queried anew (paper: gain 5 to 7)")
    for name in ("overlap", "bits 32/2, d = 1"):
        for share in (0.5, 0.6, 0.7, 0.8) if name == "overlap" else (0.5, 0.8):
            old, new = parts_of(sizes, (share, share + 0.1))
            added = anew = math.inf
            for _ in range(3):
                with fresh_index(work, WAYS[name]) as index:
                    index.add(records[:old])
                    begin = time.perf_counter()
                    n_added = sum(arrival.verdict.duplicated for arrival in index.watch(records[old:new]))
                    added = min(added, time.perf_counter() - begin)
                begin = time.perf_counter()
                with fresh_index(work, WAYS[name]) as index:
                    index.add(records[:new])
                    n_anew = sum(verdict.duplicated for verdict in index.check(records[:new]))
                anew = min(anew, time.perf_counter() - begin)
            size = f"{sizes[:old].sum():9,} + {sizes[old:new].sum():7,} sentences"
            times = f"{added:6.2f} s against {anew:6.2f} s, gain {anew / added:4.1f}"
            print(f"  {name:18} {size}: {times}   ({n_added:,} of the new and {n_anew:,} of all duplicated)", flush=True)


def show_stream(records: list[dict[str, str]], sizes: NDArray[np.int64], work: Path) -> None:
    """Table E."""
    ends = parts_of(sizes, [tenth / 10 for tenth in range(11)])
    print(f"\nE. A stream of {sizes.sum():,} sentences: seconds for each tenth of it, queried and added (`Index.watch`)")
    for name, settings in WAYS.items():
        best = np.full(10, math.inf)
        for _ in range(1 if name == SLOWEST else 3):
            with fresh_index(work, settings) as index:
                for tenth in range(10):
                    begin = time.perf_counter()
                    for _arrival in index.watch(records[ends[tenth] : ends[tenth + 1]]):
                        pass
                    best[tenth] = min(best[tenth], time.perf_counter() - begin)
        total = np.cumsum(best)
        power = np.polyfit(np.log(np.arange(2, 11)), np.log(total[1:]), 1)[0]
        cells = " ".join(f"{t:6.2f}" for t in best)
        print(f"  {name:18} {cells}   total {total[-1]:6.1f} s, grows with the power {power:.2f} (the paper: 2)", flush=True)


def fresh_index(work: Path, settings: dict[str, Any]) -> ibidem.Index:
    """Return an empty index."""
    shutil.rmtree(work / "qsign", ignore_errors=True)
    return ibidem.Index(work / "qsign", **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collection newsgroups20")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--tables", default="ABCDE", help="which of the tables to make")
    options = parser.parse_args()
    if options.data is None or not (Path(options.data) / COLLECTION).exists():
        sys.exit("This benchmark needs the folder that holds newsgroups20: give it with --data DIR. Nothing was measured.")
    records = read_records(Path(options.data) / COLLECTION)
    whole = gathered(records)
    present = set(whole.ids.to_pylist())
    records = [record for record in records if record["id"] in present]
    sizes = np.diff(whole.document_first)
    rows = np.flatnonzero(sizes <= MOST_SENTENCES_A_DOCUMENT)
    records, sizes = [records[row] for row in rows], sizes[rows]
    if set(options.tables) & set("ABC"):
        for study in studies(records, sizes, count_words(whole)):
            of_sentence = study.queries.types.of_sentence
            n_words = float(study.queries.queries(study.counts, SETTINGS).sizes[of_sentence].mean())
            data = study.data.collection
            size = f"{data.n_documents:,} documents, {len(data.digest):,} sentences, {len(study.data.types):,} different"
            print(f"\n{study.name}: {size}; {len(of_sentence):,} query sentences with {n_words:.1f} words", flush=True)
            truth, outcomes = measure(study)
            show_recall(study, truth, outcomes)
            show_predictions(study, truth, outcomes, n_words)
            show_times(study, outcomes)
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    if "D" in options.tables:
        show_increments(records, sizes, work)
    if "E" in options.tables:
        (end,) = parts_of(sizes, (200_000 / sizes.sum(),))
        show_stream(records[:end], sizes[:end], work)


if __name__ == "__main__":
    main()
