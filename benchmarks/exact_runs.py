"""Runs of words against a suffix array over the same words: the same words are found, and how long each takes.

`python benchmarks/exact_runs.py --data DIR --name mail_list` reads DIR/NAME/docs.jsonl.zst. It needs
`pip install pydivsufsort`. Both get the words as hashes, so reading and splitting is not counted; times are processor times.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.hashes import draw_seed
from ibidem.execution.tasks import in_turn
from ibidem.sentences.hashed_words import HashedWords, hash_texts, point_of
from ibidem.word_runs.core import WindowRule, find_runs, pieces_to_cut
from make_collection import read_lines, require_data


def main() -> None:
    """Print what both find."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--name", default="mail_list", help="collection in it")
    parser.add_argument("--words", type=int, default=50, help="words in a run")
    options = parser.parse_args()
    path = require_data(options.data) / options.name / "docs.jsonl.zst"
    texts = pa.array([json.loads(line)["text"] for line in read_lines(path)], pa.large_string())
    seed = draw_seed()
    begin = time.process_time()
    words = hash_texts(texts, seed)
    print(f"{len(texts):,} documents, {len(words.hashes):,} words, read in {time.process_time() - begin:.1f} s")
    rule = WindowRule(options.words, point_of(seed))
    find_runs(hash_texts(texts.slice(0, 5), seed), np.arange(5), 0, rule, in_turn)  # kernels are compiled here
    begin = time.process_time()
    runs = find_runs(words, np.arange(len(texts)), 0, rule, in_turn)
    seconds = time.process_time() - begin
    mine = covered(len(words.hashes), runs.start, runs.n_words)
    mine |= covered(len(words.hashes), runs.protected, np.full(len(runs.protected), options.words))
    begin = time.process_time()
    theirs = by_suffix_array(words, options.words)
    of_array = time.process_time() - begin
    removed = pieces_to_cut(runs, len(words.hashes), options.words)
    print(f"repeated words   ibidem {mine.sum():,} in {seconds:.2f} s, suffix array {theirs.sum():,} in {of_array:.2f} s")
    print(f"only in one      ibidem {(mine & ~theirs).sum():,}, suffix array {(theirs & ~mine).sum():,}")
    n_removed = int((removed[:, 1] - removed[:, 0]).sum())
    n_later = int(covered(len(words.hashes), runs.start, runs.n_words).sum())
    print(f"removed          {n_removed:,} words of {n_later:,} in runs; {n_later - n_removed:,} stay, as sources of others")


def covered(n_words: int, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which words are in one of the stretches."""
    edges = np.zeros(n_words + 1, np.int64)
    np.add.at(edges, starts, 1)
    np.add.at(edges, starts + sizes, -1)
    is_in: NDArray[np.bool_] = np.cumsum(edges[:-1]) > 0
    return is_in


def by_suffix_array(words: HashedWords, size: int) -> NDArray[np.bool_]:
    """Return which words are in a stretch of so many that occurs twice: its suffix and a neighbour have them in common."""
    from pydivsufsort import divsufsort, kasai

    _, numbers = np.unique(words.hashes, return_inverse=True)
    # Every document ends with a number of its own, so that no common prefix crosses its end.
    counts = np.diff(words.first)
    document = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(numbers)) + document
    text = np.empty(len(numbers) + len(counts), np.int64)
    text[place] = numbers
    text[words.first[1:] + np.arange(len(counts))] = numbers.max(initial=0) + 1 + np.arange(len(counts))
    text = text.astype(np.uint32)
    suffixes = divsufsort(text)
    common = kasai(text, suffixes)  # with the next suffix
    is_long = common >= size
    is_repeated = np.zeros(len(text), np.bool_)
    is_repeated[suffixes[is_long]] = True
    is_repeated[suffixes[np.flatnonzero(is_long[:-1]) + 1]] = True
    starts = np.flatnonzero(is_repeated[place])
    return covered(len(numbers), starts, np.full(len(starts), size))


if __name__ == "__main__":
    main()
