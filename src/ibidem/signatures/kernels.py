"""Kernels of the signatures: types, vocabulary, and the hashes that represent types."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, SEED, mix
from ibidem.execution.compiler import growing_kernel, inner_kernel, outer_kernel, twice

_BLOCK_TOKENS = 1024


@outer_kernel
def number_types(packed, digests, row_bits, type_of_row):
    """Give all rows of one digest the same provisional type, the first row's number; `packed` has sorted (digest, row)."""
    row_mask = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    n = len(packed)
    i = 0
    while i < n:
        head = packed[i] & ~row_mask
        j = i
        while j < n and packed[j] & ~row_mask == head:
            row = np.int64(packed[j] & row_mask)
            type_of_row[row] = row
            # Nearly always the first member; the loop separates digests that share their high bits.
            for k in range(i, j):
                other = np.int64(packed[k] & row_mask)
                if type_of_row[other] == other and digests[other] == digests[row]:
                    type_of_row[row] = other
                    break
            j += 1
        i = j


@outer_kernel
def dense_types(type_of_row, first_rows):
    """Renumber types 0, 1, … in reading order of their first rows; return how many there are."""
    n_types = 0
    for row in range(len(type_of_row)):
        head = type_of_row[row]
        if head == row:
            first_rows[n_types] = row
            type_of_row[row] = n_types
            n_types += 1
        else:
            type_of_row[row] = type_of_row[head]  # the head comes earlier and is already numbered
    return n_types


@inner_kernel
def _slot_of(token, slots, hashes):
    """Return the slot of a token in an open-addressing table, or the free slot where it belongs; -1 marks a free slot."""
    mask = np.uint64(len(slots) - 1)
    slot = (token * GOLDEN >> np.uint64(20)) & mask
    while slots[slot] >= 0 and hashes[slots[slot]] != token:
        slot = (slot + np.uint64(1)) & mask
    return slot


@inner_kernel
def _choose(tokens, begin, prefix, prefix_bits, chosen):
    """Write where in a block of tokens those with the prefix are; return how many. There is no branch to predict wrongly."""
    n = 0
    shift = np.uint64(64 - prefix_bits)
    for i in range(begin, min(begin + _BLOCK_TOKENS, len(tokens))):
        chosen[n] = i
        n += np.int64(tokens[i] >> shift == prefix)
    return n


@growing_kernel
def number_tokens(tokens, prefix, prefix_bits, ids):
    """Number the tokens whose top bits are `prefix` in order of appearance; return hashes, counts and how many there are."""
    hashes = np.empty(1 << 13, np.uint64)
    counts = np.empty(1 << 13, np.int32)
    slots = np.empty(1 << 14, np.int32)
    for k in range(len(slots)):
        slots[k] = -1
    n = 0
    chosen = np.empty(_BLOCK_TOKENS, np.int64)
    for begin in range(0, len(tokens), _BLOCK_TOKENS):
        for j in range(_choose(tokens, begin, prefix, prefix_bits, chosen)):
            token = tokens[chosen[j]]
            slot = _slot_of(token, slots, hashes)
            number = slots[slot]
            if number < 0:
                number = n
                slots[slot] = n
                hashes[n] = token
                counts[n] = 0
                n += 1
                if n == len(hashes):
                    hashes = twice(hashes)
                    counts = twice(counts)
                    slots = np.empty(2 * len(hashes), np.int32)
                    for k in range(len(slots)):
                        slots[k] = -1
                    for k in range(n):
                        slots[_slot_of(hashes[k], slots, hashes)] = k
            counts[number] += 1
            ids[chosen[j]] = number
    return hashes, counts, n


@outer_kernel
def shift_numbers(tokens, prefix_bits, starts, ids):
    """Turn numbers among the tokens of one prefix into numbers among all tokens."""
    shift = np.uint64(64 - prefix_bits)
    for i in range(len(tokens)):
        ids[i] += starts[np.int64(tokens[i] >> shift)]


@outer_kernel
def count_documents(ids, first, type_of_sentence, document, counts, document_counts, last_document):
    """Count occurrences and documents per word; sentences are in reading order, `last_document` is initially all -1."""
    for sentence in range(len(type_of_sentence)):
        t = type_of_sentence[sentence]
        d = document[sentence]
        for i in range(first[t], first[t + 1]):
            word = ids[i]
            counts[word] += 1
            if last_document[word] != d:
                last_document[word] = d
                document_counts[word] += 1


@growing_kernel
def hash_kept_words(tokens, first, ids, keep, distinct, hash_empty, keys):
    """Write one key per type: the hash of its kept words in sorted order, repeated words once if `distinct`; 0 if none is left.

    Sorting by hash is as good as alphabetically: the order only has to be the same everywhere.
    """
    for t in range(len(first) - 1):
        kept = np.empty(first[t + 1] - first[t], np.uint64)
        n = 0
        for i in range(first[t], first[t + 1]):
            if keep[ids[i]]:
                kept[n] = tokens[i]
                n += 1
        words = np.sort(kept[:n])
        key = SEED
        for i in range(n):
            if not (distinct and i > 0 and words[i] == words[i - 1]):
                key = mix(key, words[i])
        keys[t] = key | np.uint64(1) if n > 0 or hash_empty else np.uint64(0)


@outer_kernel
def hash_shingles(tokens, first, size, short_whole, hashes, hash_first):
    """Write the hashes of `size` consecutive tokens; a shorter sentence gives one shingle of all its tokens, or none."""
    n = 0
    hash_first[0] = 0
    for t in range(len(first) - 1):
        length = first[t + 1] - first[t]
        if length < size:
            if short_whole and length > 0:
                key = SEED
                for i in range(first[t], first[t + 1]):
                    key = mix(key, tokens[i])
                hashes[n] = key
                n += 1
        else:
            for i in range(first[t], first[t + 1] - size + 1):
                key = SEED
                for k in range(i, i + size):
                    key = mix(key, tokens[k])
                hashes[n] = key
                n += 1
        hash_first[t + 1] = n
    return n


@outer_kernel
def hash_spots(tokens, first, ids, is_antecedent, is_skipped, distance, chain, fewest, hashes, hash_first):
    """Write the hashes of an antecedent and the `chain` words that follow it, each the `distance`-th after the last.

    Skipped words are not links and do not count as steps, but may be antecedents. If the sentence ends before the chain does,
    at least `fewest` links make a spot.
    """
    n = 0
    hash_first[0] = 0
    for t in range(len(first) - 1):
        for i in range(first[t], first[t + 1]):
            if not is_antecedent[ids[i]]:
                continue
            key = mix(SEED, tokens[i])
            links = 0
            steps = 0
            for k in range(i + 1, first[t + 1]):
                if is_skipped[ids[k]]:
                    continue
                steps += 1
                if steps == distance:
                    steps = 0
                    links += 1
                    key = mix(key, tokens[k])
                    if links == chain:
                        break
            if links >= fewest:
                hashes[n] = key
                n += 1
        hash_first[t + 1] = n
    return n
