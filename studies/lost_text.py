"""What tools remove that does not remain elsewhere: `python studies/lost_text.py --data DIR --work DIR`.

Every tool gets the same original texts, the peers as in `peers.py`. Text is lost if three words in a row of it are nowhere in
what the tool leaves; of pieces of one or two words, each word counts. The table says for each tool how many words it removes,
and how many of these are lost. infini-gram is not among them: it counts and finds runs of words, and removes nothing.
`benchmarks/exact_runs.py` compares runs with those of a suffix array.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from inputs import read_records
from numpy.typing import NDArray
from peer_environments import Outcome, Runner
from peer_inputs import write_texts
from peer_judging import read_lines

import ibidem

WORD = re.compile(r"[^\W_]+")
N_WORDS, BITS = 3, 21
PEERS = ("text-dedup", "datatrove-minhash", "datatrove-sentences")
OWN: Sequence[Mapping[str, Any]] = (
    {"level": "document"},
    {"level": "document", "lossless": True},
    {"level": "passage"},
    {"level": "passage", "lossless": True},
    {"level": "run"},
    {"level": "run", "lossless": True},
)

Numbers = NDArray[np.int64]
Spans = Mapping[str, Sequence[tuple[int, int]]]


class Corpus:
    """The words of all texts as numbers, with their places."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        vocabulary: dict[str, int] = {}
        self.ends: dict[str, Numbers] = {}
        self.words: dict[str, Numbers] = {}
        for name, text in texts.items():
            found = list(WORD.finditer(text.casefold() if len(text.casefold()) == len(text) else text.lower()))
            self.words[name] = np.array([vocabulary.setdefault(each[0], len(vocabulary)) for each in found], np.int64)
            self.ends[name] = np.array([each.end() for each in found], np.int64)
        if len(vocabulary) >= 1 << BITS:
            raise SystemExit("too many different words")

    def losses(self, removed: Spans) -> tuple[int, int]:
        """Return how many words are removed, and how many of them are in no run that remains."""
        gone: list[Numbers] = []
        kept: list[Numbers] = []
        for name, words in self.words.items():
            is_gone = np.zeros(len(words), np.bool_)
            for start, end in removed.get(name, ()):
                # A word is removed if its last character is.
                first, last = np.searchsorted(self.ends[name], [start + 1, end + 1])
                is_gone[first:last] = True
            bounds = [0, *(np.flatnonzero(np.diff(is_gone)) + 1).tolist(), len(words)]
            for first, last in itertools.pairwise(bounds):
                if first < last:
                    (gone if is_gone[first] else kept).append(words[first:last])
        known = np.unique(np.concatenate([np.empty(0, np.int64), *map(runs, kept)]))
        single = np.unique(np.concatenate([np.empty(0, np.int64), *kept]))
        n_lost = 0
        for words in gone:
            if len(words) < N_WORDS:
                n_lost += int((~np.isin(words, single)).sum())
                continue
            own = runs(words)
            is_there = known[np.minimum(np.searchsorted(known, own), len(known) - 1)] == own
            covered = np.zeros(len(words), np.bool_)
            for shift in range(N_WORDS):
                covered[shift : shift + len(is_there)] |= is_there
            n_lost += int((~covered).sum())
        return sum(map(len, gone)), n_lost


def runs(words: Numbers) -> Numbers:
    """Return every three words in a row as one number; nothing if there are fewer."""
    if len(words) < N_WORDS:
        return np.empty(0, np.int64)
    return (words[:-2] << 2 * BITS) | (words[1:-1] << BITS) | words[2:]


def removed_by(peer: str, outcome: Outcome, texts: Mapping[str, str]) -> Spans:
    """Return what a peer has removed: pieces of text, or documents that its cleaned copy does not have."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    if peer == "datatrove-sentences":
        for name, start, end in read_lines(outcome.answer):
            spans[name].append((start, end))
        return spans
    remaining = set(cleaned_ids(outcome.folder / "cleaned"))
    return {name: [(0, len(text))] for name, text in texts.items() if name not in remaining}


def cleaned_ids(folder: Path) -> Iterator[str]:
    """Yield the ids of documents in a cleaned copy: JSON lines, or Arrow streams as datasets stores them."""
    for path in sorted(folder.rglob("*.jsonl")):
        yield from (record["id"] for record in read_lines(path))
    for path in sorted(folder.rglob("*.arrow")):
        with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as stream:
            yield from itertools.chain.from_iterable(batch.column("id").to_pylist() for batch in stream)


def removed_by_ibidem(records: Sequence[Mapping[str, str]], settings: Mapping[str, Any]) -> Spans:
    """Return what `dedup` removes."""
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    n_chars = {record["id"]: len(record["text"]) for record in records}
    for row in ibidem.dedup(records, **settings).removed.to_pylist():
        whole = (0, n_chars[row["id"]])
        spans[row["id"]].append(whole if settings["level"] == "document" else (row["start"], row["end"]))
    return spans


def print_row(name: str, corpus: Corpus, spans: Spans, seconds: float) -> None:
    """Print what a tool removes and loses."""
    n_removed, n_lost = corpus.losses(spans)
    share = n_lost / max(1, n_removed)
    print(f"| {name} | {len(spans):,} | {n_removed:,} | {n_lost:,} ({100 * share:.2f} %) | {seconds:.1f} s |", flush=True)


def main(arguments: Iterable[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the real collections")
    parser.add_argument("--name", default="newsgroups20", help="collection in it")
    parser.add_argument("--work", type=Path, required=True, help="folder for the environments and the files of tools")
    parser.add_argument("--documents", type=int, default=0, help="only the first N documents")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers, separated by commas")
    options = parser.parse_args(None if arguments is None else list(arguments))
    every = read_records(options.data / options.name / "docs.jsonl.zst")
    records = [{"id": each["id"], "text": each["text"]} for each in itertools.islice(every, options.documents or None)]
    texts = {record["id"]: record["text"] for record in records}
    options.work.mkdir(parents=True, exist_ok=True)
    source = write_texts(options.work / f"{options.name}.jsonl", list(texts.items()))
    corpus = Corpus(texts)
    print(f"{options.name}: {len(records):,} documents, {sum(map(len, corpus.words.values())):,} words\n")
    print("| | documents changed | words removed | of these lost | time |\n|---|---|---|---|---|")
    runner = Runner(options.work, 600)
    for peer in filter(None, options.peers.split(",")):
        outcome = runner.run_peer(peer, source)
        if outcome.failure:
            print(f"| {outcome.tool} | {outcome.failure} | | | |", flush=True)
        else:
            print_row(outcome.tool, corpus, removed_by(peer, outcome, texts), outcome.seconds)
    for settings in OWN:
        begin = time.perf_counter()
        spans = removed_by_ibidem(records, settings)
        name = " ".join(["ibidem dedup --level", settings["level"], *(["--lossless"] if "lossless" in settings else [])])
        print_row(name, corpus, spans, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
