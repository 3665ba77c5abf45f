"""Answers of tools against what is true: pairs of documents, passages, text that is removed, ends of sentences."""

from __future__ import annotations

import csv
import json
import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from peer_inputs import plain_words
from peer_runs import LIMIT, features, read_texts

from ibidem.evaluation.truth_files import read_passages, read_table

Pair = tuple[str, str]
MOST_JUDGED = 200_000  # pairs of clusters that are compared exactly; of more, a sample
RUN_WORDS = 5  # in a row: enough that a match elsewhere is no accident
STOPS = ".!?…:;\"'”’)]»"


def ordered(a: str, b: str) -> Pair:
    """Return a pair in one order."""
    return (a, b) if a < b else (b, a)


def read_lines(path: Path) -> list[Any]:
    """Return the values of a file of one JSON value a line."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@dataclass
class Answer:
    """Pairs of documents that a tool reports: one by one, or as clusters, all of whose pairs count."""

    pairs: set[Pair] = field(default_factory=set)
    clusters: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cluster_of = {doc_id: number for number, members in enumerate(self.clusters) for doc_id in members}

    def __contains__(self, pair: Pair) -> bool:
        cluster = self._cluster_of.get(pair[0])
        return pair in self.pairs or (cluster is not None and cluster == self._cluster_of.get(pair[1]))

    @property
    def n_pairs(self) -> int:
        """How many pairs are reported."""
        return len(self.pairs) + sum(len(members) * (len(members) - 1) // 2 for members in self.clusters)

    def judged(self) -> list[Pair]:
        """Return all pairs, or of clusters that have too many, a sample, every pair of them as likely as any other."""
        n_pairs = self.n_pairs - len(self.pairs)
        if n_pairs <= MOST_JUDGED:
            return [*self.pairs, *(ordered(a, b) for members in self.clusters for a, b in combinations(members, 2))]
        dice = random.Random(1)
        weights = [len(members) * (len(members) - 1) // 2 for members in self.clusters]
        chosen = dice.choices(self.clusters, weights, k=MOST_JUDGED)
        return [*self.pairs, *{ordered(*dice.sample(members, 2)) for members in chosen}]


def read_answer(path: Path) -> Answer:
    """Return what a peer wrote: a list of two is a pair, which is a cluster too where a tool reports clusters."""
    groups = read_lines(path)
    return Answer({ordered(*group) for group in groups if len(group) == 2}, [group for group in groups if len(group) > 2])


def read_clusters(folder: Path) -> Answer:
    """Return the clusters that `ibidem cluster` wrote."""
    members = defaultdict(list)
    table = read_table(folder, ("cluster", "id"), ("clusters",))
    for cluster, doc_id in zip(table["cluster"].to_pylist(), table["id"].to_pylist(), strict=True):
        members[cluster].append(doc_id)
    return Answer(clusters=list(members.values()))


def read_duplicates(folder: Path) -> Answer:
    """Return the pairs that `ibidem cluster` wrote."""
    return Answer(pairs_in(read_table(folder, ("a_id", "b_id"), ("duplicates",))))


def share_of(pairs: Sequence[Pair], is_right: Callable[[Pair], bool]) -> float | None:
    """Return the share of pairs that are right, None if there are none."""
    return sum(map(is_right, pairs)) / len(pairs) if pairs else None


def pairs_in(table: pa.Table) -> set[Pair]:
    """Return the pairs of documents that the rows of a table are about."""
    return set(map(ordered, table["a_id"].to_pylist(), table["b_id"].to_pylist()))


class DocumentScores(NamedTuple):
    """How well pairs of similar documents were found."""

    n_pairs: int
    precision: float | None  # of nothing there is none
    recall: float


def judge_documents(answers: Mapping[str, Answer], path: Path) -> tuple[dict[str, DocumentScores], int]:
    """Return the scores of every answer by exact similarity of the features, and how many similar pairs any of them reports."""
    judged = {name: answer.judged() for name, answer in answers.items()}
    wanted = {doc_id for pairs in judged.values() for pair in pairs for doc_id in pair}
    sets = {doc_id: frozenset(map(hash, features(text))) for doc_id, text in read_texts(path) if doc_id in wanted}
    true = set()
    for a, b in {pair for pairs in judged.values() for pair in pairs}:
        common = len(sets[a] & sets[b])
        if common / (len(sets[a]) + len(sets[b]) - common) >= LIMIT:
            true.add((a, b))
    scores = {}
    for name, answer in answers.items():
        recall = sum(pair in answer for pair in true) / max(1, len(true))
        scores[name] = DocumentScores(answer.n_pairs, share_of(judged[name], true.__contains__), recall)
    return scores, len(true)


@dataclass(frozen=True)
class Truth:
    """A collection with true passages; `listed` are the pairs that count with their kinds, None if all do."""

    passages: pa.Table
    listed: pa.Table | None
    lengths: Mapping[str, int]
    thread: Mapping[str, str]  # of messages, where there are threads

    def shares(self, answer: Answer) -> dict[str, float]:
        """Return the share of true passages whose pair of documents is reported: over all, and by kind."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0], all=[0, 0])
        kinds = self._kinds()
        for a, b in zip(self.passages["a_id"].to_pylist(), self.passages["b_id"].to_pylist(), strict=True):
            for name in {"all", kinds.get(ordered(a, b), "all")}:
                counts[name][0] += ordered(a, b) in answer
                counts[name][1] += 1
        return {name: found / max(1, of) for name, (found, of) in counts.items()}

    def _kinds(self) -> dict[Pair, str]:
        if self.listed is None:
            return {}
        columns = (self.listed[name].to_pylist() for name in ("a_id", "b_id", "category"))
        return {ordered(a, b): kind for a, b, kind in zip(*columns, strict=True)}

    def plausible(self, answer: Answer) -> float | None:
        """Return the share of reported pairs that can be right, None if there are none.

        Where pairs are listed: of those of them that are reported, the ones that have a true passage. Where there are threads:
        pairs of messages of one thread.
        """
        if self.listed is None:
            return share_of(answer.judged(), lambda pair: self.thread[pair[0]] == self.thread[pair[1]])
        return share_of([pair for pair in self._kinds() if pair in answer], pairs_in(self.passages).__contains__)

    def sample(self, n_pairs: int) -> tuple[Truth, list[Pair]]:
        """Return pairs chosen at random of those listed, or else of those with a true passage, and what is true of them."""
        table = self.passages if self.listed is None else self.listed
        all_pairs = sorted(set(zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)))
        pairs = sorted(random.Random(1).sample(all_pairs, min(n_pairs, len(all_pairs))))
        chosen = {ordered(*pair) for pair in pairs}
        ends = zip(self.passages["a_id"].to_pylist(), self.passages["b_id"].to_pylist(), strict=True)
        kinds = self._kinds()
        categories = [kinds.get(ordered(*pair), "") for pair in pairs]
        listed = pa.table({"a_id": [a for a, _ in pairs], "b_id": [b for _, b in pairs], "category": categories})
        passages = self.passages.filter(pa.array([ordered(a, b) in chosen for a, b in ends], pa.bool_()))
        return replace(self, passages=passages, listed=listed), pairs

    def taken_out(self, spans: Spans) -> tuple[float, float]:
        """Return the share of all characters that goes, and of the true passages, on the side that loses more of its own."""
        gone = of = 0
        columns = ("a_id", "a_start", "a_end", "b_id", "b_start", "b_end")
        for a, a_start, a_end, b, b_start, b_end in zip(*(self.passages[name].to_pylist() for name in columns), strict=True):
            sides = [(spans.covered(a, a_start, a_end), a_end - a_start), (spans.covered(b, b_start, b_end), b_end - b_start)]
            covered, size = max(sides, key=lambda side: side[0] / max(1, side[1]))
            gone, of = gone + covered, of + size
        return spans.n_chars / max(1, sum(self.lengths.values())), gone / max(1, of)


class Spans:
    """Pieces of texts, united where they touch."""

    def __init__(self, pieces: Iterable[tuple[str, int, int]]) -> None:
        self._starts: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for doc_id, start, end in sorted(pieces):
            starts, ends = self._starts.setdefault(doc_id, []), self._ends.setdefault(doc_id, [])
            if ends and start <= ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        for doc_id, starts in self._starts.items():
            yield from ((doc_id, start, end) for start, end in zip(starts, self._ends[doc_id], strict=True))

    @property
    def n_chars(self) -> int:
        """How many characters they hold."""
        return sum(end - start for _, start, end in self)

    def covered(self, doc_id: str, start: int, end: int) -> int:
        """Return how many characters of a piece they hold."""
        starts, ends = self._starts.get(doc_id, []), self._ends.get(doc_id, [])
        first, total = bisect_right(ends, start), 0
        for k in range(first, len(starts)):
            if starts[k] >= end:
                break
            total += min(ends[k], end) - max(starts[k], start)
        return total


class RepeatedWords:
    """Return which runs of five words occur in a collection more than once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        runs, counts = np.unique(np.concatenate([word_runs(text)[0] for text in texts.values()]), return_counts=True)
        self._repeated = runs[counts > 1]  # in order

    def share(self, spans: Spans) -> float | None:
        """Return the share of the words of pieces that lie in such a run of the piece; None if there are none."""
        n_words = n_repeated = 0
        for doc_id, start, end in spans if len(self._repeated) else ():
            runs, n_here = word_runs(self._texts[doc_id][start:end])
            lies_in = np.zeros(n_here, bool)
            at = np.minimum(np.searchsorted(self._repeated, runs), len(self._repeated) - 1)
            for first in np.flatnonzero(self._repeated[at] == runs):
                lies_in[first : first + RUN_WORDS] = True
            n_words, n_repeated = n_words + n_here, n_repeated + int(lies_in.sum())
        return n_repeated / n_words if n_words else None


def word_runs(text: str) -> tuple[np.ndarray, int]:
    """Return a number for every run of five words of a text, case and punctuation aside, and how many words there are."""
    words = np.array([hash(word) for word in plain_words(text).split()], np.int64).view(np.uint64)
    runs = np.zeros(max(0, len(words) - RUN_WORDS + 1), np.uint64)
    for k in range(RUN_WORDS):
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + words[k : k + len(runs)]
    return runs, len(words)


def read_truth(folder: Path, records: Sequence[Mapping[str, str]]) -> Truth:
    """Return what is true of documents of a collection; passages of documents that are left out do not count."""
    lengths = {record["id"]: len(record["text"]) for record in records}
    thread = {record["id"]: record.get("thread") or record["id"] for record in records}

    def known(table: pa.Table) -> pa.Table:
        ends = zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)
        return table.filter(pa.array([a in lengths and b in lengths for a, b in ends], pa.bool_()))

    listed = known(read_table(folder / "pairs.csv", ("a_id", "b_id"))) if (folder / "pairs.csv").exists() else None
    return Truth(known(read_passages(folder / "truth_passages.jsonl.zst")), listed, lengths, thread)


def read_known_pairs(path: Path) -> set[Pair]:
    """Return the pairs of a CSV file."""
    with open(path, encoding="utf-8", newline="") as file:
        return {ordered(row["a_id"], row["b_id"]) for row in csv.DictReader(file)}


def inner_ends(text: str, ends: Iterable[int]) -> set[int]:
    """Return where sentences end, blanks after them aside, and without the end of the text."""
    return {len(text[: max(0, end)].rstrip()) for end in ends} - {0, len(text.rstrip())}


class Agreement(NamedTuple):
    """Ends of sentences of one splitter: how many, the share that each other has too, and where those lie that no other has."""

    n_ends: int
    shared: dict[str, float]
    alone: dict[str, float]


def compare_ends(texts: Sequence[str], ends: Mapping[str, Sequence[set[int]]]) -> dict[str, Agreement]:
    """Return how far splitters agree on the same texts."""
    result = {}
    for name, of_texts in ends.items():
        n_ends = max(1, sum(map(len, of_texts)))
        others = {other: theirs for other, theirs in ends.items() if other != name}
        shared = {o: sum(len(a & b) for a, b in zip(of_texts, theirs, strict=True)) / n_ends for o, theirs in others.items()}
        alone: dict[str, int] = dict.fromkeys(("after a stop", "at the end of a line", "elsewhere"), 0)
        for k, (text, mine) in enumerate(zip(texts, of_texts, strict=True)):
            for end in mine.difference(*(theirs[k] for theirs in others.values())):
                alone[_place(text, end)] += 1
        result[name] = Agreement(n_ends, shared, {place: count / n_ends for place, count in alone.items()})
    return result


def _place(text: str, end: int) -> str:
    if text[end - 1] in STOPS:
        return "after a stop"
    blank = text[end : len(text) - len(text[end:].lstrip())]
    return "at the end of a line" if "\n" in blank else "elsewhere"
