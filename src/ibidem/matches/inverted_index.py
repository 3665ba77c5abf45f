"""The inverted index of signatures: which sentences have which; what the first job of PDC-MR writes."""

from __future__ import annotations

from binascii import hexlify
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import ranges
from ibidem.columns.sets import HashSets
from ibidem.model import POSTINGS

_HEX_DIGITS = 16


class KnownBy(NamedTuple):
    """What sentences are known by: the type of each one, and the hashes of each type, perhaps with repeats."""

    of_sentence: NDArray[np.int32]
    sets: HashSets


def as_sets(made: HashSets | NDArray[np.uint64]) -> HashSets:
    """Return what a signature made as sets: a key is a set of one, or of none if it is 0."""
    if isinstance(made, HashSets):
        return made
    first = np.zeros(len(made) + 1, np.int64)
    np.cumsum(made != 0, out=first[1:])
    return HashSets(made[made != 0], first)


def entries_of(known_by: KnownBy) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the signatures of all sentences, each once per sentence, and the numbers of the sentences."""
    first = known_by.sets.first[known_by.of_sentence]
    counts = known_by.sets.first[known_by.of_sentence + 1] - first
    hashes = known_by.sets.hashes[ranges(first, counts)]
    sentence = np.repeat(np.arange(len(counts)), counts)
    order = np.argsort(hashes, kind="stable")  # sentences rise, and stay in order
    hashes, sentence = hashes[order], sentence[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (sentence[1:] != sentence[:-1])
    return hashes[is_new], sentence[is_new]


def posting_table(collection: Collection, known_by: KnownBy) -> pa.Table:
    """Return the postings in the schema POSTINGS: by signature, then in reading order."""
    hashes, sentence = entries_of(known_by)
    document = collection.document[sentence]
    names = pa.DictionaryArray.from_arrays(pa.array(document), collection.ids)
    numbers = pa.array((sentence - collection.document_first[document]).astype(np.int32))
    return pa.Table.from_arrays([hex_strings(hashes), names, numbers], schema=POSTINGS)


def hex_strings(hashes: NDArray[np.uint64]) -> pa.LargeStringArray:
    """Return hashes as strings of sixteen digits, whose order is that of the numbers."""
    offsets = np.arange(len(hashes) + 1, dtype=np.int64) * _HEX_DIGITS
    data = hexlify(hashes.astype(">u8").tobytes())
    return pa.LargeStringArray.from_buffers(len(hashes), pa.py_buffer(offsets), pa.py_buffer(data))
