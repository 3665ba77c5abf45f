"""What `dedup --lossless` removes: only text of which every few words in a row also appear in what remains.

The *units* are the stretches that would be removed otherwise: whole documents, or passages together with those that touch them.
A *gram* is `lossless_words` words in a row; a unit with fewer words is one gram. Text outside of all units stays in any case,
so a gram that occurs there is safe. Of the other grams, each has a *keeper*: the first unit that contains it, in reading order.
Units that keep a gram stay. Then every gram of a unit that is removed is either in text that stays in any case, or in
its keeper, which stays. So no unit
is both removed and a proof, whatever the units have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.removals import Receipts, Removals
from ibidem.columns.collection import Collection
from ibidem.columns.distinct import find
from ibidem.columns.ragged import ranges, starts_of
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.hashed_words import (
    HashedWords,
    gram_keys,
    hash_collection,
    locate_in_collection,
    number_in_collection,
    point_of,
    seed_of_words,
)

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Units:
    """What would be removed, counted over all words: the rows of `Removals`, and which unit each belongs to.

    `is_proven` says of a row that all of its words are together in one place that stays.
    """

    start: Numbers
    end: Numbers
    unit: Numbers
    is_proven: Truths

    @classmethod
    def of(cls, document: Numbers, start: Numbers, end: Numbers, is_proven: Truths) -> Units:
        """Return the units of rows that come in order: those of a document that touch are one."""
        begins = np.ones(len(start), np.bool_)
        begins[1:] = (document[1:] != document[:-1]) | (start[1:] > end[:-1])
        return cls(start, end, np.cumsum(begins) - 1, is_proven)

    def of_words(self, n_words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the row and the unit of each word, -1 for what stays in any case."""
        row, unit = np.full(n_words, -1, np.int32), np.full(n_words, -1, np.int32)
        sizes = self.end - self.start
        places = ranges(self.start, sizes)
        row[places] = np.repeat(np.arange(len(sizes)), sizes)
        unit[places] = np.repeat(self.unit, sizes)
        return row, unit

    def rows_of(self, words: Numbers) -> Numbers:
        """Return the row that each word is in; every one is in a row."""
        rows: Numbers = np.searchsorted(self.start, words, side="right") - 1
        return rows

    def units_of(self, words: Numbers) -> Numbers:
        """Return the unit that each word is in; every one is in a unit."""
        units: Numbers = self.unit[self.rows_of(words)]
        return units

    @property
    def n_units(self) -> int:
        """The number of units, at least 1."""
        return int(self.unit.max(initial=-1)) + 1 or 1

    @property
    def n_words(self) -> Numbers:
        """The number of words of each unit."""
        counts: Numbers = np.bincount(self.unit, self.end - self.start, self.n_units).astype(np.int64)
        return counts


@dataclass(frozen=True)
class Grams:
    """Grams of units that have to be proven, in order: where each begins, and its key; and grams of text that stays."""

    start: Numbers
    key: Keys
    kept: Numbers
    kept_key: Keys

    @classmethod
    def of(cls, words: HashedWords, units: Units, size: int, point: np.uint64) -> Grams:
        """Return the grams of `size` words: those that are in one unit, but not in one row that is proven."""
        keys = gram_keys(words, size, point)
        n = len(keys)
        row, unit = units.of_words(n)
        last = np.minimum(np.arange(n) + size - 1, max(0, n - 1))
        is_asked = (keys != 0) & (unit >= 0) & (unit == unit[last])
        if len(units.start):
            is_asked &= ~((row == row[last]) & units.is_proven[row])
        gone = starts_of(unit >= 0)
        is_kept = (keys != 0) & (gone[last + 1] == gone[:-1])
        asked, kept = np.flatnonzero(is_asked), np.flatnonzero(is_kept)
        return cls(asked, keys[asked], kept, keys[kept])

    def asked_in(self, rows: Truths, units: Units) -> Grams:
        """Return the same, with those to be proven that begin in some rows only."""
        chosen = rows[units.rows_of(self.start)]
        return replace(self, start=self.start[chosen], key=self.key[chosen])

    def wanted(self, keys: Keys) -> Grams:
        """Return the same, with the grams of text that stays that have one of some distinct keys, in order."""
        some = np.flatnonzero(KeyFilter.of(keys).may_have(self.kept_key))
        some = some[find(self.kept_key[some], keys)[1]]
        return replace(self, kept=self.kept[some], kept_key=self.kept_key[some])


@dataclass(frozen=True)
class KeyFilter:
    """Which keys may be wanted, by a few of their bits: most are not, and need no search."""

    table: Truths

    @classmethod
    def of(cls, keys: Keys) -> KeyFilter:
        """Return the filter of some keys."""
        bits = bits_for(len(keys))
        table = np.zeros(1 << bits, np.bool_)
        table[keys >> np.uint64(64 - bits)] = True
        return cls(table)

    def may_have(self, keys: Keys) -> Truths:
        """Return which keys may be wanted."""
        shift = np.uint64(65 - len(self.table).bit_length())
        is_in: Truths = self.table[keys >> shift]
        return is_in


def bits_for(n_keys: int) -> int:
    """Return how many bits of keys tell so many of them from most others."""
    return max(10, (16 * n_keys).bit_length())


def without_loss(removals: Removals, collection: Collection, size: int, is_proven: Truths, run_tasks: RunTasks) -> Removals:
    """Return what is removed if nothing may be lost, with receipts for the rows that are not `is_proven`."""
    seed = seed_of_words(collection.hash_seed)
    words = hash_collection(collection, seed, run_tasks)
    first = words.first[removals.document]
    edges = np.stack([removals.start, removals.end])
    start, end = (number_in_collection(collection, removals.document, edge, run_tasks) + first for edge in edges)
    units = Units.of(removals.document, start, end, is_proven)
    stays, n_words = np.zeros(units.n_units, np.bool_), units.n_words
    for few in np.unique(n_words[n_words < size]).tolist():
        grams = Grams.of(words, units, max(1, few), point_of(seed)).asked_in((n_words == few)[units.unit], units)
        lost = ~find(grams.key, np.unique(grams.wanted(np.unique(grams.key)).kept_key))[1]
        stays[units.units_of(grams.start[lost])] = True
    grams = Grams.of(words, units, size, point_of(seed))
    grams = grams.wanted(np.unique(grams.key))
    places_of_grams, keepers = _proofs(grams, words, units, removals.matched)
    stays[keepers] = True
    chosen = ~stays[units.unit]
    of_gram = np.flatnonzero(chosen[units.rows_of(grams.start)])
    receipts = _receipts(grams.start[of_gram], places_of_grams[of_gram], words, units, size, collection, run_tasks)
    return _chosen(removals, chosen, receipts)


def _proofs(grams: Grams, words: HashedWords, units: Units, matched: Numbers) -> tuple[Numbers, Numbers]:
    """Return where each gram is in what remains, and the units that stay as keepers.

    It is the first place in the document that the row matches, or else the first place at all.
    """
    order = np.lexsort((grams.kept, grams.kept_key))
    kept, kept_key = grams.kept[order], grams.kept_key[order]
    keys, number = np.unique(grams.key, return_inverse=True)
    low = np.searchsorted(kept_key, keys)
    at = low[number]
    is_safe = np.zeros(len(number), np.bool_)
    is_safe[at < len(kept)] = kept_key[at[at < len(kept)]] == grams.key[at < len(kept)]
    place = np.full(len(number), -1, np.int64)
    place[is_safe] = kept[at[is_safe]]
    # In the matched document: the first kept place from its first word on, among those of the key.
    document = matched[units.rows_of(grams.start)]
    is_kept, of_kept = find(kept_key, keys)[0], len(words.hashes) + 1
    there = np.searchsorted(is_kept * of_kept + kept, number * of_kept + words.first[document])
    hit = np.flatnonzero(is_safe & (there < len(kept)))
    hit = hit[(is_kept[there[hit]] == number[hit]) & (kept[there[hit]] < words.first[document[hit] + 1])]
    place[hit] = kept[there[hit]]
    lost = np.flatnonzero(~is_safe)
    lost = lost[np.argsort(number[lost], kind="stable")]
    heads = np.flatnonzero(np.diff(number[lost], prepend=-1))
    sizes = np.diff(np.append(heads, len(lost)))
    place[lost] = np.repeat(grams.start[lost[heads]], sizes)
    return place, np.unique(units.units_of(grams.start[lost[heads]]))


def _receipts(
    start: Numbers, place: Numbers, words: HashedWords, units: Units, size: int, collection: Collection, run_tasks: RunTasks
) -> Receipts:
    """Return where the words of each row are, sentence by sentence: stretches that grams at neighbouring places form."""
    document = words.documents(place)
    row, word = units.rows_of(start), place - words.first[document]
    own_documents = np.unique(words.documents(start))
    sentence_word = _sentence_words(words, collection, own_documents, run_tasks)
    found = stretches(start, row, document, word, size, sentence_word, len(words.hashes))
    own = words.documents(start[found.gram])

    def locate(of_document: Numbers, word: Numbers) -> tuple[Numbers, Numbers]:
        return locate_in_collection(collection, of_document, word, run_tasks)

    begin, n = found.begin - words.first[own], found.end - found.begin
    both = (own, begin), (found.document, found.word)
    sides = [(locate(of, at)[0], locate(of, at + n - 1)[1]) for of, at in both]
    return Receipts(found.row, *sides[0], found.document, *sides[1])


class Stretches(NamedTuple):
    """Words of rows that are together elsewhere, sentence by sentence: from `begin` to `end`, and from `word` of a document on.

    `gram` is one of the grams that a stretch was made of.
    """

    gram: Numbers
    row: Numbers
    begin: Numbers
    end: Numbers
    document: Numbers
    word: Numbers


def stretches(
    start: Numbers, row: Numbers, document: Numbers, word: Numbers, size: int, sentence_word: Numbers, n_words: int
) -> Stretches:
    """Return what grams in order form that are at neighbouring places of one document, divided where sentences begin.

    A gram that begins in one row may end in the next one: it is listed with the first.
    """
    begins = np.ones(len(start), np.bool_)
    begins[1:] = (np.diff(start) != 1) | (np.diff(word) != 1) | (np.diff(row) != 0) | (np.diff(document) != 0)
    heads = np.flatnonzero(begins)
    low, high = start[heads], start[heads] + np.diff(np.append(heads, len(start))) + size - 1
    from_sentence = np.searchsorted(sentence_word, low, side="right") - 1
    n_sentences = np.searchsorted(sentence_word, high) - from_sentence
    of = np.repeat(np.arange(len(heads)), n_sentences)
    bounds, sentence = np.append(sentence_word, n_words), ranges(from_sentence, n_sentences)
    begin, end = np.maximum(bounds[sentence], low[of]), np.minimum(bounds[sentence + 1], high[of])
    gram = heads[of]
    return Stretches(gram, row[gram], begin, end, document[gram], word[gram] + begin - low[of])


def _sentence_words(words: HashedWords, collection: Collection, documents: Numbers, run_tasks: RunTasks) -> Numbers:
    """Return the first words of sentences of some documents, in order, and those of all documents."""
    counts = np.diff(collection.document_first)[documents]
    sentence = ranges(collection.document_first[documents], counts)
    own = np.repeat(documents, counts)
    number = number_in_collection(collection, own, collection.start_char[sentence].astype(np.int64), run_tasks)
    return np.unique(np.concatenate([words.first[own] + number, words.first[:-1]]))


def _chosen(removals: Removals, chosen: Truths, receipts: Receipts) -> Removals:
    """Return some of the rows. A document of which something stays is not dropped."""
    some: dict[str, Any] = {name: column[chosen] for name, column in removals.columns.items()}
    partly = np.unique(removals.document[~chosen])
    some["is_dropped"] = some["is_dropped"] & ~np.isin(some["document"], partly)
    number = np.cumsum(chosen) - 1
    return Removals(**some, cluster=removals.cluster, receipts=replace(receipts, row=number[receipts.row]))
