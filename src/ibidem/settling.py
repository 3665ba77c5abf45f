"""Equal digests of a collection made to mean equal sentences: what finds candidates then also proves them."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from ibidem.collection import Collection, text_buffers
from ibidem.parts import MapParts
from ibidem.passages.gram_join import group_equal
from ibidem.sentences import CheckKey, Checks, settle_digests

Numbers = NDArray[np.int64]


def settle_sentences(collection: Collection, map_parts: MapParts) -> Collection:
    """Return the collection with digests that only sentences of equal words share.

    Sentences of one digest are compared: byte by byte, and where they differ there, word by word. Both go by checks of 122
    bits under a key that was drawn for this. Digests of sentences that were made to collide are replaced.
    """
    key = CheckKey.drawn()
    groups = group_equal(collection.digest)
    rows, sizes = groups.rows.astype(np.int64), np.diff(groups.first)
    of_bytes = _checks(collection, rows, key, map_parts, by_words=False)
    heads = np.repeat(groups.first[:-1], sizes)
    unlike = (of_bytes != of_bytes[heads]).any(axis=1)
    if not unlike.any():
        return collection
    doubtful = np.repeat(np.logical_or.reduceat(unlike, groups.first[:-1]), sizes)
    rows = rows[doubtful]
    digests = collection.digest[rows]
    settled = settle_digests(digests, _checks(collection, rows, key, map_parts, by_words=True), collection.digest)
    if settled is digests:
        return collection
    everywhere = collection.digest.copy()
    everywhere[rows] = settled
    return dataclasses.replace(collection, digest=everywhere)


def _checks(collection: Collection, sentences: Numbers, key: CheckKey, map_parts: MapParts, by_words: bool) -> Checks:
    """Return the checks of sentences, in any order."""
    order = np.argsort(sentences, kind="stable")
    ordered = sentences[order]
    bounds = np.searchsorted(collection.document[ordered], collection.batch_first)

    def check(number: int) -> Checks:
        chosen = ordered[bounds[number] : bounds[number + 1]]
        data, offsets = text_buffers(collection.batches[number].column("text"))
        begins = offsets[collection.document[chosen] - collection.batch_first[number]]
        spans = begins + collection.start_byte[chosen], begins + collection.end_byte[chosen]
        return key.of_words(data, *spans) if by_words else key.of_bytes(data, *spans)

    checks = np.empty((len(sentences), 2), np.uint64)
    for number, part in enumerate(map_parts(check, range(len(collection.batches)))):
        checks[order[bounds[number] : bounds[number + 1]]] = part
    return checks
