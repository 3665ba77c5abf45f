"""Sentence fingerprints (Yoon, Jang, Kim, Park 2012) against document and sentence hashes, and against our default search.

Is a target document a duplicate, wholly or partly, of some source? Three tables of hashes, as in the paper, and the index.
Chowdhury02: one hash a document, of its words in a range of document shares, the range that is best here. Wang09: a hash a
sentence, of all its words in order. Fingerprints: a hash a sentence, of its words in any order, common ones aside. Then
`ibidem.Index` with the search engines fingerprint and overlap. A target is a duplicate from 3 known sentences on (of documents:
from 1); sentences that stand more than 300 times in the sources are not known. Words are counted in the sources.

The collection is newsgroups20. Sources are two thirds, drawn at random, of the posts in groups of conversation (alt, rec, soc,
talk). Not duplicated are posts in technical groups (comp, misc, sci) by other authors, without those that share lines with a
source by the collection's truth: within the same groups, signatures and threads under new names are everywhere, and no truth
knows them. There are two kinds of duplicates:
- Quotations, which are real: the other posts of the sources' groups that quote, by the collection's truth (equal lines), at
  least 200 characters of sources with the same subject; re-wrapped, cut, with remarks in between.
- Clippings, which are made: to posts that are not duplicated something is clipped from a source, its entire text, or 3 to 8
  sentences of it that are put into the post; unchanged, or revised as in the paper's fig. 2 (in every second sentence of a part
  and every fifth of an entire text, a common word is left out, or one is put in, or two words are swapped).

Precision is given for the paper's share of duplicates (924 of 19,076 targets), whatever it is here. Its sentences are of news
and blogs, with 11 to 14 words; posts have greetings, names and "Yes.". So it is also shown what happens if only longer ones
count, and the sweeps are over sentences of 4 words or more. Times are the best of three, a document a request, on one thread.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import re
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ibidem
from ibidem.collection import Collection
from ibidem.config import Config
from ibidem.index.queries import Arrivals
from ibidem.index.segment import SegmentSettings
from ibidem.index.vocabulary import WordCounts
from ibidem.parts import in_turn
from ibidem.signatures import SentenceTypes
from make_collection import read_lines
from qsign import count_words, gathered

COLLECTION = "newsgroups20"
LEAST_QUOTED = 200
MOST_PLACES = 300
MIN_HITS = 3
PREVALENCE = 924 / 19_076
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
HITS = range(1, 7)
RANGES = tuple((low, high) for low in (0.0, 0.0002, 0.001, 0.005) for high in (0.01, 0.05, 0.2, 1.0) if low < high)
N_REQUESTS = 300
N_CLIPPINGS = 4000
LEAST_WORDS = range(1, 9)
LEAST_IN_SWEEPS = 4
COMMON_WORDS = ("the", "to", "of", "a", "and", "in", "is", "that", "it", "for", "on", "this", "some", "with", "be", "are")
KINDS = ("entire", "entire, revised", "a part", "a part, revised")
PAPER = """  the paper's           size    entries   load ms  request ms  precision  recall     F1
    Chowdhury02        88 MB    381,202     2,421        1.38      .8735   .7262  .7931
    Wang09            903 MB  3,623,531    27,668         .82      .9976   .9080  .9507
    fingerprints      891 MB  3,564,761    24,540        1.39      .9948   .9311  .9618"""

Record = dict[str, str]
Keys = NDArray[np.uint64]


class Quality(NamedTuple):
    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        return f"P {self.precision:.4f}  R {self.recall:.4f}  F1 {self.f1:.4f}"


@dataclass(frozen=True)
class Targets:
    """Documents to be judged, whether each is a duplicate, and its kind where there are kinds."""

    name: str
    records: list[Record]
    collection: Collection
    duplicated: NDArray[np.bool_]
    kinds: NDArray[np.int64]

    def quality(self, found: NDArray[np.bool_]) -> Quality:
        """Return precision (for the paper's share of duplicates), recall and F1 of what was found."""
        recall = float(found[self.duplicated].mean())
        wrong = float(found[~self.duplicated].mean())
        right = PREVALENCE * recall
        precision = right / max(right + (1 - PREVALENCE) * wrong, 1e-12)
        return Quality(precision, recall, 2 * precision * recall / max(precision + recall, 1e-12))


@dataclass(frozen=True)
class HashTable:
    """The hashes that are known, rising, and how to find those of documents: hash and document of each."""

    name: str
    known: Keys
    hashes_of: Callable[[Collection], tuple[Keys, NDArray[np.int64]]]
    min_hits: int = MIN_HITS

    def n_hits(self, collection: Collection) -> NDArray[np.int64]:
        """Return the number of known hashes of every document."""
        hashes, document = self.hashes_of(collection)
        return np.bincount(document[self.is_known(hashes)], minlength=collection.n_documents)

    def n_long_hits(self, collection: Collection) -> NDArray[np.int64]:
        """Return the number of known sentences of every document that are long enough."""
        return count_known(collection, self.is_known(self.hashes_of(collection)[0]), LEAST_IN_SWEEPS)

    def is_known(self, hashes: Keys) -> NDArray[np.bool_]:
        at = np.minimum(np.searchsorted(self.known, hashes), len(self.known) - 1)
        return self.known[at] == hashes

    def found(self, collection: Collection) -> NDArray[np.bool_]:
        """Tell which documents are duplicates."""
        return self.n_hits(collection) >= self.min_hits


def count_known(collection: Collection, is_known: NDArray[np.bool_], least_words: int) -> NDArray[np.int64]:
    """Return by document the number of known sentences that have so many words."""
    counted = is_known & (collection.n_words >= least_words)
    return np.bincount(collection.document[counted], minlength=collection.n_documents)


HashesOf = Callable[[Collection], tuple[Keys, NDArray[np.int64]]]


def hash_table(name: str, hashes_of: HashesOf, sources: Collection, min_hits: int = MIN_HITS) -> HashTable:
    """Return the table of the sources' hashes, without those that stand too often and the 0 of sentences without words."""
    hashes, n_times = np.unique(hashes_of(sources)[0], return_counts=True)
    return HashTable(name, hashes[(n_times <= MOST_PLACES) & (hashes != 0)], hashes_of, min_hits)


def sentence_hashes(collection: Collection) -> tuple[Keys, NDArray[np.int64]]:
    """Wang09."""
    return collection.digest, collection.document.astype(np.int64)


def fingerprints(counts: WordCounts, share: float) -> HashesOf:
    """The paper's."""
    settings = SegmentSettings(64, 3, share, Fraction(1), exact=True)

    def hashes_of(collection: Collection) -> tuple[Keys, NDArray[np.int64]]:
        arrivals = Arrivals(collection)
        keys = arrivals.queries(counts, settings).fingerprints[arrivals.types.of_sentence]
        return keys, collection.document.astype(np.int64)

    return hashes_of


def document_hashes(counts: WordCounts, low: float, high: float) -> HashesOf:
    """Chowdhury02 (I-Match): the distinct words that stand in more than a share `low` of the documents and at most `high`."""
    n = max(1, counts.n_documents)

    def hashes_of(collection: Collection) -> tuple[Keys, NDArray[np.int64]]:
        every = np.arange(len(collection.digest))
        tokens = collection.type_tokens(SentenceTypes(every.astype(np.int32), every), in_turn)
        document = np.repeat(collection.document, np.diff(tokens.first)).astype(np.int64)
        share = counts.counts_of(tokens.tokens) / n
        kept = (share > low) & (share <= high)
        words, where = tokens.tokens[kept], document[kept]
        order = np.lexsort((words, where))
        words, where = words[order], where[order]
        new = np.ones(len(words), np.bool_)
        new[1:] = (words[1:] != words[:-1]) | (where[1:] != where[:-1])
        words, where = words[new], where[new]
        mixed = (words ^ words >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        first = np.flatnonzero(np.append(True, where[1:] != where[:-1])) if len(where) else np.empty(0, np.int64)
        sums = np.add.reduceat(mixed ^ mixed >> np.uint64(32), first) if len(first) else np.empty(0, np.uint64)
        return sums, where[first]

    return hashes_of


def read_collection(folder: Path) -> tuple[list[Record], list[dict[str, object]]]:
    """Return the documents and the quotations among them."""
    records = [json.loads(line) for line in read_lines(folder / "docs.jsonl.zst")]
    return records, [json.loads(line) for line in read_lines(folder / "truth_passages.jsonl.zst")]


def subject_of(record: Record) -> str:
    return re.sub(r"^(\s*(re|fwd?)\s*(\[\d+\])?\s*:\s*)+", "", record["subject"].lower()).strip()


def only_text(records: Sequence[Record]) -> list[Record]:
    return [{"id": record["id"], "text": record["text"]} for record in records]


def author_of(record: Record) -> str:
    found = re.search(r"^From:.*?([\w.+%-]+@[\w.-]+)", record["headers"], re.MULTILINE)
    return found[1].lower() if found else ""


def is_conversation(record: Record) -> bool:
    return record["label"].split(".")[0] in ("alt", "rec", "soc", "talk")


def quoting_targets(records: list[Record], quotations: list[dict[str, object]], is_source: dict[str, bool]) -> Targets:
    """Return the targets of which it is known whether they share text with sources."""
    subjects = {record["id"]: subject_of(record) for record in records}
    authors = {author_of(record) for record in records if is_source[record["id"]]}
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    unclear = set()
    for quotation in quotations:
        a, b = str(quotation["a_id"]), str(quotation["b_id"])
        for mine, other, side in ((a, b, "a"), (b, a, "b")):  # who quoted whom does not matter here
            if is_source[mine] or not is_source[other]:
                continue
            unclear.add(mine)
            if subjects[mine] == subjects[other]:
                spans[mine].append((int(str(quotation[f"{side}_start"])), int(str(quotation[f"{side}_end"]))))
    chosen, duplicated = [], []
    for record in records:
        covered: set[int] = set()
        for start, end in spans[record["id"]]:
            covered.update(range(start, end))
        quotes = len(covered) >= LEAST_QUOTED
        unrelated = not is_conversation(record) and author_of(record) not in authors and record["id"] not in unclear
        if quotes or unrelated:
            chosen.append(record)
            duplicated.append(quotes)
    return targets_of("quotations", only_text(chosen), np.array(duplicated), np.zeros(len(chosen), np.int64))


def targets_of(name: str, records: list[Record], duplicated: NDArray[np.bool_], kinds: NDArray[np.int64]) -> Targets:
    """Return targets without the few that have no text to speak of."""
    collection = gathered(records)
    present = set(collection.ids.to_pylist())
    rows = np.array([row for row, record in enumerate(records) if record["id"] in present])
    return Targets(name, [records[row] for row in rows], collection, duplicated[rows], kinds[rows])


def revise(sentence: str, draw: random.Random) -> str:
    """Leave out a common word, or put one in, or swap two words."""
    words = sentence.split()
    common = [i for i, word in enumerate(words) if word.lower() in COMMON_WORDS]
    way = draw.randrange(3)
    if way == 0 and common:
        del words[draw.choice(common)]
    elif way == 1:
        words.insert(draw.randrange(1, len(words)), draw.choice(COMMON_WORDS))
    else:
        i = draw.randrange(len(words) - 2)
        words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words)


def clipping_targets(hosts: list[Record], sources: Collection) -> Targets:
    """Return targets of which every second one has something clipped from a source."""
    draw = random.Random(2)
    first = sources.document_first
    long_enough = [d for d in range(sources.n_documents) if 8 <= first[d + 1] - first[d] <= 100]
    records, duplicated, kinds = [], [], []
    for number, host in enumerate(hosts):
        kind = number // 2 % len(KINDS)
        text = host["text"]
        if number % 2:
            source = draw.choice(long_enough)
            whole = sources.text(source)
            begin, end = int(first[source]), int(first[source + 1])
            if kind >= 2:
                n = draw.randrange(3, 9)
                begin = draw.randrange(begin, end - n + 1)
                end = begin + n
            sentences = [whole[sources.start_char[s] : sources.end_char[s]] for s in range(begin, end)]
            every = 5 if kind == 1 else 2 if kind == 3 else 0
            sentences = [
                revise(s, draw) if every and i % every == 0 and len(s.split()) > 3 else s for i, s in enumerate(sentences)
            ]
            clipped = whole if kind == 0 else "\n\n".join(sentences)
            text = clipped if kind < 2 else "\n\n".join([text, clipped])
        records.append({"id": host["id"], "text": text})
        duplicated.append(bool(number % 2))
        kinds.append(kind)
    return targets_of("clippings", records, np.array(duplicated), np.array(kinds))


def best_time(function: Callable[[], object]) -> float:
    """Return the best time of three."""
    best = math.inf
    for _ in range(3):
        gc.collect()
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best


@dataclass(frozen=True)
class Cost:
    n_bytes: int
    entries: int
    load: float
    request: float


def show_row(name: str, cost: Cost, targets: Targets, found: NDArray[np.bool_]) -> None:
    by_kind = ""
    if targets.kinds.any():
        rows = [targets.duplicated & (targets.kinds == kind) for kind in range(len(KINDS))]
        by_kind = "   " + " / ".join(f"{found[row].mean():.3f}" for row in rows)
    size = f"{cost.n_bytes / 1e6:6.1f} MB {cost.entries:9,} entries"
    times = f"{1000 * cost.load:7.2f} ms load {1000 * cost.request:6.2f} ms a request"
    print(f"    {name:26} {size} {times}   {targets.quality(found)}{by_kind}", flush=True)


def best_range(counts: WordCounts, sources: Collection, targets: Targets) -> tuple[float, float]:
    """Return the range of document shares with which Chowdhury02 has the best F1 on these very targets."""

    def f1(bounds: tuple[float, float]) -> float:
        return targets.quality(hash_table("", document_hashes(counts, *bounds), sources, 1).found(targets.collection)).f1

    return max(RANGES, key=f1)


def show_models(
    sources: Collection, counts: WordCounts, targets: Targets, index: ibidem.Index, share: float, work: Path
) -> dict[str, NDArray[np.bool_]]:
    """The paper's table 2. Returns by way of searching which sentences of the targets are known."""
    n_duplicated = int(targets.duplicated.sum())
    print(f"\n{targets.name}: {len(targets.records):,} targets, {n_duplicated:,} of them duplicated, ", end="")
    print(f"{len(targets.collection.digest) / len(targets.records):.1f} sentences a target; decision by {MIN_HITS} hits")
    if targets.kinds.any():
        print(f"    at the end of a line: recall by kind ({' / '.join(KINDS)})")
    low, high = best_range(counts, sources, targets)
    tables = [
        hash_table(f"Chowdhury02 {low:g} to {high:g}", document_hashes(counts, low, high), sources, 1),
        hash_table("Wang09", sentence_hashes, sources),
        hash_table(f"fingerprints {share:g}", fingerprints(counts, share), sources),
    ]
    asked = targets.records[:: max(1, len(targets.records) // N_REQUESTS)]
    for table in tables:
        path = work / "table.npy"
        np.save(path, table.known)
        load = best_time(lambda path=path: np.load(path))
        request = best_time(lambda table=table: [table.found(gathered([record])) for record in asked]) / len(asked)
        found = table.found(targets.collection)
        show_row(table.name, Cost(path.stat().st_size, len(table.known), load, request), targets, found)

    def reopen() -> None:
        with ibidem.Index(index.path, create=False) as again:
            len(again)

    size = sum(path.stat().st_size for path in index.path.rglob("*") if path.is_file())
    load = best_time(reopen)
    verdicts = {}
    known = {table.name: table.is_known(table.hashes_of(targets.collection)[0]) for table in tables[1:]}
    for engine in ("fingerprint", "overlap"):
        settings = {"search_engine": engine, "max_places": MOST_PLACES, "min_hits": MIN_HITS}
        request = best_time(lambda settings=settings: [index.check(record, **settings) for record in asked]) / len(asked)
        verdicts[engine] = np.array([verdict.duplicated for verdict in index.check(targets.records, **settings)])
        cost = Cost(size, len(tables[2].known) if engine == "fingerprint" else len(np.unique(sources.digest)), load, request)
        show_row(f"Index, {engine}", cost, targets, verdicts[engine])
    known["overlap"] = known_sentences(index, targets, {"search_engine": "overlap"})
    known["overlap, min_contained_words 8"] = known_sentences(index, targets, {"min_contained_words": 8})
    differ = np.count_nonzero(verdicts["fingerprint"] != tables[2].found(targets.collection))
    print(f"    the index and the bare table of fingerprints decide differently about {differ} targets")
    return known


def known_sentences(index: ibidem.Index, targets: Targets, settings: dict[str, Any]) -> NDArray[np.bool_]:
    """Tell which sentences of the targets are known to the index, in no more places than allowed."""
    known = np.zeros(len(targets.collection.digest), np.bool_)
    for begin in range(0, len(targets.records), 256):
        result = index.query(targets.records[begin : begin + 256], max_places=MOST_PLACES + 1, **settings)
        hits = result.hits
        document = hits.column("a_id").combine_chunks().indices.to_numpy().astype(np.int64) + begin
        sentence = targets.collection.document_first[document] + hits.column("a_sentence").to_numpy()
        other = hits.column("b_id").combine_chunks().indices.to_numpy().astype(np.int64)
        places = np.unique(sentence << 32 | other) >> 32
        which, n_places = np.unique(places, return_counts=True)
        known[which[n_places <= MOST_PLACES]] = True
    return known


def show_sweeps(sources: Collection, counts: WordCounts, targets: Targets) -> None:
    """The paper's figures 5 to 7."""
    print(f"  {targets.name}, sentences of {LEAST_IN_SWEEPS} words or more: by document share above which words are dropped")
    every = np.arange(len(sources.digest))
    tokens = sources.type_tokens(SentenceTypes(every.astype(np.int32), every), in_turn)
    n_sentences = len(sources.digest)
    best: tuple[float, float] = (-1.0, 0.0)
    for share in SHARES:
        table = hash_table("", fingerprints(counts, share), sources)
        left = np.count_nonzero(~np.isin(tokens.tokens, counts.common_hashes(share))) / n_sentences
        quality = targets.quality(table.n_long_hits(targets.collection) >= MIN_HITS)
        best = max(best, (quality.f1, share))
        print(f"    {share:5g}: {left:5.2f} words a sentence left, {len(table.known):8,} entries   {quality}", flush=True)
    share = best[1]
    print(f"  {targets.name}: by hits that make a duplicate; fingerprints without words above the best share, {share:g}")
    tables = (hash_table("Wang09", sentence_hashes, sources), hash_table("fingerprints", fingerprints(counts, share), sources))
    hits = {table.name: table.n_long_hits(targets.collection) for table in tables}
    for n in HITS:
        cells = [f"{name}  {targets.quality(n_hits >= n)}" for name, n_hits in hits.items()]
        print(f"    {n} hits:  " + "     ".join(cells), flush=True)
    inclusive, strict = (targets.quality(hits["fingerprints"] >= n) for n in (MIN_HITS, MIN_HITS + 1))
    print(f"    {MIN_HITS} as said in the text: {inclusive}; more than {MIN_HITS} as in the formula: {strict}")


def show_lengths(targets: Targets, known: dict[str, NDArray[np.bool_]]) -> None:
    """Short sentences stand in many documents by chance: what if only longer ones count?"""
    collection = targets.collection
    print(f"  {targets.name}: by words that a sentence needs to count, {MIN_HITS} hits")
    print("              " + "".join(name.ljust(37) for name in known).rstrip())
    for least in LEAST_WORDS:
        hits = [count_known(collection, is_known, least) for is_known in known.values()]
        cells = [str(targets.quality(n_hits >= MIN_HITS)) for n_hits in hits]
        print(f"    {least} words:  " + "     ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the collection newsgroups20")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    options = parser.parse_args()
    if options.data is None or not (Path(options.data) / COLLECTION / "truth_passages.jsonl.zst").exists():
        sys.exit("This benchmark needs the folder that holds newsgroups20: give it with --data DIR. Nothing was measured.")
    records, quotations = read_collection(Path(options.data) / COLLECTION)
    draw = random.Random(1)
    is_source = {record["id"]: is_conversation(record) and draw.random() < 2 / 3 for record in records}
    source_records = only_text([record for record in records if is_source[record["id"]]])
    sources = gathered(source_records)
    counts = count_words(sources)
    quoting = quoting_targets(records, quotations, is_source)
    unrelated = [record for record, duplicated in zip(quoting.records, quoting.duplicated, strict=True) if not duplicated]
    clippings = clipping_targets(draw.sample(unrelated, N_CLIPPINGS), sources)
    share = Config().signatures.max_document_share
    work = Path(options.work) / "fingerprints"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    print(f"{sources.n_documents:,} sources, {len(sources.digest):,} sentences with {sources.n_words.mean():.1f} words")
    print(PAPER)
    with ibidem.Index(work / "index", workers=1) as index:
        index.add(source_records)
        for targets in (quoting, clippings):
            known = show_models(sources, counts, targets, index, share, work)
            show_lengths(targets, known)
            show_sweeps(sources, counts, targets)


if __name__ == "__main__":
    main()
