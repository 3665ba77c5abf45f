"""Text that never counts (`--ignore`): templates, licence headers, a statute that everyone quotes.

What is ignored is given as documents of any format. In other texts, every stretch of IGNORED_WORDS words or more that is in
them is ignored, wherever its lines break, and so is every shorter sentence of theirs. A sentence all of whose words are ignored
matches nothing, as if its words were in no other text; it stays where it is. Verbs that compare words or shingles leave out
the ignored words.

For other verbs: `load_ignored(config.sentences.ignore)`, then `words`, `sentences`, `blanked` or `spans`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.hashes import draw_seed
from ibidem.columns.ragged import starts_of, take_ranges
from ibidem.columns.text_checks import CheckKey
from ibidem.columns.texts import kernel_texts, texts_of
from ibidem.config import DocumentsConfig, SentencesConfig
from ibidem.config.surface import named
from ibidem.errors import InputError
from ibidem.formats import read_batches, resolve_inputs
from ibidem.formats.sources import FileSource
from ibidem.model import Skipped
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_texts, locate_texts, number_texts, point_of
from ibidem.sentences.kernels.hashed_words import blank_words
from ibidem.sentences.splitter import kinds_of_bytes, split_texts

IGNORED_WORDS = 8  # shorter stretches are in very many texts by chance
NOTHING = "none"

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class IgnoredText:
    """The grams of texts that do not count, and their sentences of fewer words, as sorted hashes under a seed of their own."""

    grams: Keys
    short: Keys
    seed: int

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> IgnoredText:
        """Return what is to be ignored."""
        seed = draw_seed()
        words = hash_texts(texts, seed)
        grams = np.unique(gram_keys(words, IGNORED_WORDS, point_of(seed)))
        sentences = split_texts(texts, SentencesConfig())
        rows, starts = sentences["document"].to_numpy().astype(np.int64), sentences["start_char"].to_numpy().astype(np.int64)
        first, n_words = _sentence_words(texts, words, rows, starts)
        is_short = (n_words > 0) & (n_words < IGNORED_WORDS)
        short = np.unique(_checks(words, first[is_short], n_words[is_short], seed))
        return cls(grams[grams != 0], short, seed)

    def words(self, texts: pa.LargeStringArray) -> tuple[HashedWords, Truths]:
        """Return the words of texts, and which of them are in a stretch that is ignored."""
        words = hash_texts(texts, self.seed)
        n = len(words.hashes)
        hits = np.flatnonzero(np.isin(gram_keys(words, IGNORED_WORDS, point_of(self.seed)), self.grams))
        edges = np.zeros(n + 1, np.int64)
        edges[hits] += 1
        edges[np.minimum(hits + IGNORED_WORDS, n)] -= 1
        return words, np.cumsum(edges[:-1]) > 0

    def sentences(self, texts: pa.LargeStringArray, rows: NDArray[Any], start_chars: NDArray[Any]) -> Truths:
        """Return which sentences are ignored, given the text and the first character of each, in reading order."""
        rows, start_chars = rows.astype(np.int64), start_chars.astype(np.int64)
        words, is_ignored = self.words(texts)
        first, n_words = _sentence_words(texts, words, rows, start_chars)
        n_ignored = starts_of(is_ignored)
        found: Truths = (n_words > 0) & (n_ignored[first + n_words] - n_ignored[first] == n_words)
        short = np.flatnonzero(~found & (n_words > 0) & (n_words < IGNORED_WORDS))
        found[short] = np.isin(_checks(words, first[short], n_words[short], self.seed), self.short)
        return found

    def whole_texts(self, texts: Sequence[str]) -> list[bool]:
        """Return which texts consist of sentences that are ignored, and of nothing else."""
        column = pa.array(texts, pa.large_string())
        sentences = split_texts(column, SentencesConfig())
        rows, starts = sentences["document"].to_numpy(), sentences["start_char"].to_numpy()
        counts = np.bincount(rows, minlength=len(texts))
        n_ignored = np.bincount(rows[self.sentences(column, rows, starts)], minlength=len(texts))
        whole: list[bool] = ((counts > 0) & (n_ignored == counts)).tolist()
        return whole

    def blanked(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return texts with blanks instead of ignored words: for what counts words and does not need their places."""
        _, is_ignored = self.words(texts)
        if not is_ignored.any():
            return texts
        data, offsets = kernel_texts(texts)
        copy = data.copy()
        blank_words(kinds_of_bytes(data), offsets, is_ignored, copy)
        return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets.copy()), pa.py_buffer(copy))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the stretches of a text that are ignored, in characters: what pages show in grey."""
        texts = pa.array([text], pa.large_string())
        words, is_ignored = self.words(texts)
        sentences = split_texts(texts, SentencesConfig())
        starts = sentences["start_char"].to_numpy().astype(np.int64)
        rows = np.zeros(len(starts), np.int64)
        first, n_words = _sentence_words(texts, words, rows, starts)
        for place in np.flatnonzero(self.sentences(texts, rows, starts)).tolist():
            is_ignored[first[place] : first[place] + n_words[place]] = True
        edges = np.flatnonzero(np.diff(is_ignored.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
        nothing = np.zeros(len(edges), np.int64)
        begins, ends = locate_texts(texts, nothing, edges[:, 0])[0], locate_texts(texts, nothing, edges[:, 1] - 1)[1]
        return list(zip(begins.tolist(), ends.tolist(), strict=True))


def load_ignored(names: str) -> IgnoredText | None:
    """Return the text of files that is to be ignored, given their names, separated by commas; None for `none`."""
    if names == NOTHING:
        return None
    sources = resolve_inputs(names.split(","))
    states = [(s.name, os.stat(s.path).st_mtime_ns, s.n_bytes) for s in sources if isinstance(s, FileSource)]
    return _loaded(names, tuple(states))


@lru_cache(maxsize=4)
def _loaded(names: str, states: tuple[object, ...]) -> IgnoredText:
    skipped: list[Skipped] = []
    batches = read_batches(names.split(","), DocumentsConfig(), skipped.append)
    texts = pa.chunked_array([texts_of(batch) for batch in batches], pa.large_string()).combine_chunks()
    texts = texts if isinstance(texts, pa.LargeStringArray) else pa.concat_arrays(texts.chunks)
    if skipped or len(texts) == 0:
        where = f"{skipped[0].source}: {skipped[0].reason}" if skipped else names
        raise InputError(f"cannot read the text to ignore: {where}", f"Check {named('ignore')}.")
    return IgnoredText.of(texts)


def _sentence_words(
    texts: pa.LargeStringArray, words: HashedWords, rows: Numbers, start_chars: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the first word of each sentence, and how many words it has; sentences are all those of the texts, in order."""
    first = words.first[rows] + number_texts(texts, rows, start_chars)
    ends = words.first[rows + 1].copy()
    ends[:-1] = np.minimum(ends[:-1], np.where(rows[1:] == rows[:-1], first[1:], ends[:-1]))
    return first, ends - first


def _checks(words: HashedWords, first: Numbers, n_words: Numbers, seed: int) -> Keys:
    checks: Keys = CheckKey(seed).of_tokens(take_ranges(words.hashes, first, n_words), starts_of(n_words))[:, 0]
    return checks
