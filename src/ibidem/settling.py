"""Equal digests of a collection made to mean equal sentences: what finds candidates then also proves them."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ibidem.collection import Collection, text_buffers
from ibidem.parts import MapParts
from ibidem.passages.gram_join import group_equal
from ibidem.sentences import CheckKey, Checks, settle_digests

Numbers = NDArray[np.int32]


def settle_sentences(collection: Collection, map_parts: MapParts) -> Collection:
    """Return the collection with digests that only sentences of equal words share.

    Sentences of one digest are compared: byte by byte, and where they differ there, word by word. Both go by checks of 122
    bits under a key that was drawn for this. Digests of sentences that were made to collide are replaced.
    """
    key = CheckKey.drawn()
    groups = group_equal(collection.digest)
    rows, sizes = groups.rows, np.diff(groups.first)
    heads = np.repeat(rows[groups.first[:-1]], sizes)
    of_bytes = _Checks(collection, rows, key, map_parts, by_words=False)
    unlike = (of_bytes.of(rows) != of_bytes.of(heads)).any(axis=1)
    del of_bytes
    rest, heads = rows[unlike], heads[unlike]
    of_words = _Checks(collection, np.concatenate([rest, heads]), key, map_parts, by_words=True)
    if (of_words.of(rest) == of_words.of(heads)).all():
        return collection
    checks = _Checks(collection, rows, key, map_parts, by_words=True).of(rows)
    digest = collection.digest.copy()
    digest[rows] = settle_digests(collection.digest[rows], checks, collection.digest)
    return dataclasses.replace(collection, digest=digest)


class _Checks:
    """The checks of some sentences, to be had by number; each is made once."""

    def __init__(self, collection: Collection, sentences: Numbers, key: CheckKey, map_parts: MapParts, by_words: bool) -> None:
        is_wanted = np.zeros(len(collection.digest), np.bool_)
        is_wanted[sentences] = True
        wanted = np.flatnonzero(is_wanted)
        bounds = np.searchsorted(collection.document[wanted], collection.batch_first)

        def check(number: int) -> Checks:
            chosen = wanted[bounds[number] : bounds[number + 1]]
            data, offsets = text_buffers(collection.batches[number].column("text"))
            begins = offsets[collection.document[chosen] - collection.batch_first[number]]
            spans = begins + collection.start_byte[chosen], begins + collection.end_byte[chosen]
            return key.of_words(data, *spans) if by_words else key.of_bytes(data, *spans)

        self._place = np.empty(len(is_wanted), np.int32)
        self._place[wanted] = np.arange(len(wanted), dtype=np.int32)
        self._checks = np.concatenate([np.empty((0, 2), np.uint64), *map_parts(check, range(len(collection.batches)))])

    def of(self, sentences: Numbers) -> Checks:
        """Return the checks of sentences, in any order."""
        return self._checks[self._place[sentences]]
