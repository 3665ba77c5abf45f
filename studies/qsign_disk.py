"""qSign on disk, at the size of the paper's blogs: 5.2 million sentences in an index, 950 queries, and a stream of a million.

The paper's crawl is not to be had, and no collection at hand is as large. Sentences are made of real ones, the posts of
newsgroups20 without the words that stand in more than 20 % of them, as in qsign.py: each is put together from thirds of three
posts' sentences, so that words are as common as in texts and hardly two sentences are alike. One in ten is PLANTED instead: a
copy of a sentence of an earlier document with none to four of its words replaced. The queries are all such copies. So recall by
the number of replaced words is exact, but says nothing of how people reuse text; sizes and times are what is measured here.

Each way has its own index on disk, filled by `add`. Truth is `overlap`, which is exact: the paper's score (`product`) from .5
on. Queries are asked in one request on one thread, and the best of three is taken; a scan is asked for every 20th query only.
The stream is watched from nothing: every document is queried, answered and added. Increments add 100,000 sentences to what is
there, or build and query everything anew.

In full, as it is by default, it takes about half an hour on two cores and 3 GB of disk space:

    python studies/qsign_disk.py --data DIR

To try it in little time (it is no evidence then, and needs another folder):

    python studies/qsign_disk.py --data DIR --sentences 500000 --stream 100000 --out /tmp/trial
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from evidence import Study, require, study_options
from inputs import Record
from newsgroups import POSTS, read_posts
from qsign_stream import N_PARTS, Way, bits_way, parts_of, time_increment, time_stream

import ibidem

N_SENTENCES, N_STREAM, N_INCREMENT = 5_226_708, 1_000_000, 100_000  # the paper's
N_QUERIES, QUERY_DOCUMENTS = 950, 20
SENTENCES_A_DOCUMENT = 52
MAX_DOCUMENT_SHARE = 0.2
FEWEST_WORDS, MOST_WORDS = 3, 30
PLANTED_SHARE = 0.1
MOST_REPLACED = 4
RADII = range(4)
MASKS: tuple[tuple[int, int | str], ...] = ((16, 1), (32, 2), (64, "auto"), (128, "auto"))
EVERY_SCANNED = 20
ASKED: dict[str, Any] = {"score": "product", "min_score": 0.5, "min_contained_words": 1, "max_places": 10**5}
STREAMS = {
    "overlap": Way({}, 1),
    "bits 32/2, d = 1": bits_way(32, 2, 1, 1),
    "bits 32/2, d = 2": bits_way(32, 2, 2, 1),
    "bits 16/1, d = 1": bits_way(16, 1, 1, 1),
}
INCREMENTS = {"bits 32/2, d = 1": (0.5, 0.8), "bits 16/1, d = 1": (0.5, 0.8)}


class Sentences:
    """Sentences without end, each by the number of its document and its own: always the same for the same numbers."""

    def __init__(self, posts: Sequence[Record]) -> None:
        words = [[re.findall(r"[a-z]{2,}", line.lower()) for line in re.split(r"[.!?]\s|\n\s*\n", p["text"])] for p in posts]
        counts = Counter(word for post in words for word in {word for sentence in post for word in sentence})
        common = {word for word, count in counts.items() if count > MAX_DOCUMENT_SHARE * len(posts)}
        left = ([word for word in sentence if word not in common] for post in words for sentence in post)
        self.pool = [sentence for sentence in left if FEWEST_WORDS <= len(sentence) <= MOST_WORDS]

    def original(self, document: int, number: int) -> list[str]:
        """Return a sentence that is no copy."""
        chance = random.Random(document << 8 | number)
        words: list[str] = []
        for third in range(3):
            piece = self.pool[chance.randrange(len(self.pool))]
            words += piece[third * len(piece) // 3 : (third + 1) * len(piece) // 3]
        return words

    def copy(self, before: int, chance: random.Random) -> tuple[list[str], int, tuple[int, int]]:
        """Return a copy of a sentence before a document, how many of its words are replaced, and where it is from."""
        source = chance.randrange(before), chance.randrange(SENTENCES_A_DOCUMENT)
        words = self.original(*source)
        places = chance.sample(range(len(words)), min(chance.randrange(MOST_REPLACED + 1), len(words)))
        for place in places:
            words[place] = chance.choice(self.pool[chance.randrange(len(self.pool))])
        return words, len(places), source

    def document(self, number: int) -> Record:
        """Return a document: each sentence is a paragraph, so that it is cut as it was put together."""
        sentences = []
        for k in range(SENTENCES_A_DOCUMENT):
            chance = random.Random(number << 8 | k | 1 << 60)
            is_copy = number > 0 and chance.random() < PLANTED_SHARE
            sentences.append(self.copy(number, chance)[0] if is_copy else self.original(number, k))
        return {"id": f"d{number}", "text": "\n\n".join(" ".join(words) + "." for words in sentences if words)}

    def documents(self, n_sentences: int) -> Iterator[Record]:
        """Yield documents with so many sentences together."""
        return (self.document(number) for number in range(n_sentences // SENTENCES_A_DOCUMENT))


class Queries(NamedTuple):
    """Documents that are asked about, and for each of their sentences the words that were replaced, and its source."""

    records: list[Record]
    replaced: dict[tuple[str, int], int]
    source: dict[tuple[str, int], str]


def make_queries(sentences: Sentences, n_documents: int) -> Queries:
    """Return queries: copies of sentences that are there. Where the source is a copy itself, there is no match to be found."""
    chance = random.Random(7)
    queries = Queries([], {}, {})
    for document in range(QUERY_DOCUMENTS):
        name, lines = f"q{document}", []
        while len(lines) < N_QUERIES // QUERY_DOCUMENTS:
            words, n_replaced, (source, number) = sentences.copy(n_documents, chance)
            kept = random.Random(source << 8 | number | 1 << 60)
            if len(words) < FEWEST_WORDS or (source > 0 and kept.random() < PLANTED_SHARE):
                continue
            queries.replaced[name, len(lines)], queries.source[name, len(lines)] = n_replaced, f"d{source}"
            lines.append(" ".join(words) + ".")
        queries.records.append({"id": name, "text": "\n\n".join(lines)})
    return queries


def found_by(index: ibidem.Index, records: Sequence[Record], **settings: Any) -> tuple[set[tuple[Any, ...]], float]:
    """Return the hits as pairs of places, and the seconds of the best of three requests."""
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        result = index.query(list(records), passages=False, workers=1, **ASKED, **settings)
        best = min(best, time.perf_counter() - begin)
    return {(hit.a_id, hit.a_sentence, hit.b_id, hit.b_sentence) for hit in result}, best


def show_searches(study: Study, sentences: Sentences, n_sentences: int) -> None:
    """The index on disk: what it takes to fill and to ask, and what the ways find."""
    n_documents = n_sentences // SENTENCES_A_DOCUMENT
    queries = make_queries(sentences, n_documents)
    made: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    truth: set[tuple[Any, ...]] = set()
    seconds: dict[str, float] = {}
    recalls: dict[str, float] = {}
    for n_bits, per_word in reversed(MASKS):
        with (
            tempfile.TemporaryDirectory() as folder,
            ibidem.Index(Path(folder) / "index", signature_bits=n_bits, bits_per_word=per_word) as index,
        ):
            begin = time.perf_counter()
            index.add(sentences.documents(n_sentences))
            taken = time.perf_counter() - begin
            about = index.info()
            mask = f"{n_bits}/{about['bits']['bits_per_word']}"
            auto = " (auto)" if per_word == "auto" else ""
            vocabulary = about["bits"]["vocabulary"]
            made.append((mask + auto, about["sentences"], vocabulary, taken, about["bytes"] / 1e6, about["bytes_per_sentence"]))
            ways: dict[str, dict[str, Any]] = {}
            if not truth:
                ways = {name: {"search_engine": name} for name in ("overlap", "inverted", "scan")}
            ways |= {f"bits {mask}, d = {d}": {"search_engine": "bits", "radius": d} for d in RADII}
            for name, settings in ways.items():
                asked = queries.records[::EVERY_SCANNED] if name == "scan" else queries.records
                n_asked = len(asked) * (N_QUERIES // QUERY_DOCUMENTS)
                found, taken = found_by(index, asked, **settings)
                truth = truth or found
                seconds[name] = taken / n_asked
                if name == "scan":
                    names = {record["id"] for record in asked}
                    assert found == {hit for hit in truth if hit[0] in names}
                    continue
                recalls[name] = len(found & truth) / max(1, len(truth))
                by_words = [
                    np.mean([any(h[:2] == place and h[2] == queries.source[place] for h in found) for place in places])
                    if (places := [place for place, n in queries.replaced.items() if n == k])
                    else None
                    for k in range(MOST_REPLACED + 1)
                ]
                rows.append((name, recalls[name], *by_words, f"{1e6 * seconds[name]:,.1f}", ""))
    rows = [(*row[:-1], f"{seconds['scan'] / seconds[row[0]]:,.0f}") for row in rows]
    columns = ("m/l", "sentences", "vocabulary", "seconds to add", "MB on disk", "bytes a sentence")
    study.table("made", "Indexes on disk (Blog_100000 in table 1)", columns, reversed(made), "auto: l from the vocabulary.")
    columns = (
        "search",
        "recall",
        *(f"{k} replaced" for k in range(MOST_REPLACED + 1)),
        "µs a sentence",
        "times as fast as scan",
    )
    note = f"{len(truth):,} matches of {N_QUERIES} query sentences with a score from .5 on, most of them planted. By the words "
    note += "that were replaced: the share of queries whose source was found. A scan takes "
    note += f"{1e3 * seconds['scan']:,.1f} ms a sentence."
    study.table("searches", f"950 query sentences in {made[0][1]:,} on disk (figures 6, 8 and 10)", columns, rows, note)
    high = [name for name in recalls if name.startswith("bits") and recalls[name] >= 0.9]
    low = [name for name in recalls if name.startswith("bits") and 0.5 <= recalls[name] <= 0.7]
    gains = [[seconds["scan"] / seconds[name] for name in names] for names in (high, low)]
    told = [f"{min(gain):,.0f} to {max(gain):,.0f} times" if gain else "no way with that recall" for gain in gains]
    slowest = max(taken for name, taken in seconds.items() if name != "scan")
    words = f"Gain over a scan at a recall of .9 or more: {told[0]} (paper: 10 to 100); at .5 to .7: {told[1]} (paper: 100 to "
    words += f"1,000). The slowest way takes {1e3 * slowest:,.2f} ms a sentence (paper: less than a second). overlap, which "
    words += f"finds everything, is {seconds['scan'] / seconds['overlap']:,.0f} times as fast as a scan."
    parts = [bool(gains[0]) and max(gains[0]) >= 10, bool(gains[1]) and max(gains[1]) >= 100, slowest < 1]
    study.judge("qSign, figure 8 on disk: gains at the size of the blogs", parts, words)


def show_stream(study: Study, records: list[Record], n_sentences: np.ndarray) -> None:
    """Figure 11 at the paper's size."""
    ends = parts_of(n_sentences, [part / N_PARTS for part in range(N_PARTS + 1)])
    ends[-1] = len(records)
    passed = [int(n_sentences[:end].sum()) for end in ends[1:]]
    rows: list[tuple[Any, ...]] = []
    points: list[dict[str, Any]] = []
    powers: dict[str, float] = {}
    for name, way in STREAMS.items():
        taken = time_stream(records, ends, way)
        total = np.cumsum(taken)
        powers[name] = float(np.polyfit(np.log(passed[1:]), np.log(total[1:]), 1)[0])
        rows.append((name, *(f"{seconds:.1f}" for seconds in taken), f"{total[-1]:,.1f}", f"{powers[name]:.2f}"))
        points += [{"search": name, "sentences": n, "seconds": float(t)} for n, t in zip(passed, total, strict=True)]
    columns = ("search", *(f"{10 * part} %" for part in range(1, N_PARTS + 1)), "in all", "grows with the power")
    title = f"A stream of {passed[-1]:,} sentences: seconds for each tenth, queried and added (figure 11)"
    study.table("stream", title, columns, rows)
    chart = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(
        x="sentences:Q", y="seconds:Q", color=alt.Color("search:N", title=None),
    ).properties(width=340, height=220)  # fmt: skip
    study.plot("stream", "Seconds by sentences that have passed (figure 11)", chart)
    told = ", ".join(f"{power:.2f} ({name})" for name, power in powers.items())
    words = f"Over {passed[-1]:,} sentences, time grows with these powers of the stream: {told} (paper: 2)."
    mine = [power for name, power in powers.items() if name.startswith("bits")]
    study.judge("qSign, figure 11 on disk: time is quadratic in the stream", [power >= 1.7 for power in mine], words)


def show_increments(study: Study, records: list[Record], n_sentences: np.ndarray, n_new: int) -> None:
    """Figure 13 at the paper's size, 16 bits too."""
    rows: list[tuple[Any, ...]] = []
    gains: dict[str, list[float]] = {}
    share_new = n_new / n_sentences.sum()
    for name, shares in INCREMENTS.items():
        for share in shares:
            old, new = parts_of(n_sentences, (share, min(1.0, share + share_new)))
            added, anew, n_added, n_anew = time_increment(records, old, new, STREAMS[name])
            gains.setdefault(name, []).append(anew / added)
            there, more = int(n_sentences[:old].sum()), int(n_sentences[old:new].sum())
            rows.append((name, there, more, f"{added:.1f}", f"{anew:.1f}", f"{anew / added:.1f}", n_added, n_anew))
    columns = ("search", "sentences there", "new", "seconds to add", "seconds anew", "gain", "duplicates: new", "all")
    study.table("increments", "New sentences arrive: queried and added, or everything anew (figure 13)", columns, rows)
    told = "; ".join(f"{name}: {' and '.join(f'{gain:.1f}' for gain in of_way)}" for name, of_way in gains.items())
    words = f"Gains with half and four fifths there: {told} (paper: up to 7 with 32 bits, 5 with 16)."
    parts = [min(of_way) > 1 for of_way in gains.values()]
    study.judge("qSign, figure 13 on disk: adding is faster than doing everything anew", parts, words)


def main() -> None:
    """Run the study."""
    parser = study_options(__doc__)
    parser.add_argument("--sentences", type=int, default=N_SENTENCES, help="sentences of the index on disk")
    parser.add_argument("--stream", type=int, default=N_STREAM, help="sentences of the stream")
    options = parser.parse_args()
    folder = require(options.data, POSTS)
    study = Study("qsign_disk", "qSign on disk", __doc__ or "", options.out)
    sentences = Sentences(read_posts(folder / POSTS))
    show_searches(study, sentences, options.sentences)
    records = list(sentences.documents(options.stream))
    n_sentences = np.array([record["text"].count("\n\n") + 1 for record in records])
    show_stream(study, records, n_sentences)
    show_increments(study, records, n_sentences, round(N_INCREMENT * options.stream / N_STREAM))
    study.write()


if __name__ == "__main__":
    main()
