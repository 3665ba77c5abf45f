"""Kernels of the signatures: types, vocabulary, and the hashes that represent types."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, SEED, mix
from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import growing_kernel, inlined_kernel, inner_kernel, outer_kernel

_BLOCK_TOKENS = 1024
_AHEAD = 16  # tokens, for what is fetched early
_ONCE, _NUMBER = np.uint64(1 << 32), np.uint64((1 << 32) - 1)


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
            if j + _AHEAD < n:
                fetch_ahead(digests, np.int64(packed[j + _AHEAD] & row_mask))
                fetch_ahead(type_of_row, np.int64(packed[j + _AHEAD] & row_mask))
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


@inlined_kernel
def _first_slot(token, table):
    """Return where the search for a token begins."""
    return (token * GOLDEN >> np.uint64(19)) & np.uint64(len(table) - 1) & ~np.uint64(1)


@inner_kernel
def _slot_of(token, table):
    """Return where a token is in a table of `number_tokens`, or the free place where it belongs."""
    mask = np.uint64(len(table) - 1)
    slot = _first_slot(token, table)
    while table[slot + np.uint64(1)] != 0 and table[slot] != token:
        slot = (slot + np.uint64(2)) & mask
    return slot


@growing_kernel
def _twice_as_large(table):
    """Return a table with the same entries and twice the room."""
    larger = np.zeros(2 * len(table), np.uint64)
    for k in range(0, len(table), 2):
        if table[k + 1] != 0:
            slot = _slot_of(table[k], larger)
            larger[slot], larger[slot + np.uint64(1)] = table[k], table[k + 1]
    return larger


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
    """Number the tokens whose top bits are `prefix` in order of appearance; return the hash and the count of each number."""
    # Each token is next to its count (high bits) and number: one place in memory per look, as tokens come in no order.
    n_block = min(_BLOCK_TOKENS, len(tokens))
    n_slots = 16
    while n_slots < min(4 * len(tokens), 1 << 15):  # clearing a large table would take longer than numbering a few tokens
        n_slots *= 2
    table = np.zeros(n_slots, np.uint64)
    n = 0
    chosen = np.empty(n_block, np.int64)
    for begin in range(0, len(tokens), _BLOCK_TOKENS):
        if 4 * (n + n_block) > len(table):
            table = _twice_as_large(table)
        n_chosen = _choose(tokens, begin, prefix, prefix_bits, chosen)
        for j in range(n_chosen):
            if j + _AHEAD < n_chosen:
                fetch_ahead(table, _first_slot(tokens[chosen[j + _AHEAD]], table))
            token = tokens[chosen[j]]
            slot = _slot_of(token, table)
            entry = table[slot + np.uint64(1)]
            if entry == 0:
                table[slot] = token
                entry = np.uint64(n)
                n += 1
            table[slot + np.uint64(1)] = entry + _ONCE
            ids[chosen[j]] = np.int32(entry & _NUMBER)
    hashes, counts = np.empty(n, np.uint64), np.empty(n, np.int32)
    for k in range(0, len(table), 2):
        if table[k + 1] != 0:
            number = table[k + 1] & _NUMBER
            hashes[number], counts[number] = table[k], np.int32(table[k + 1] >> np.uint64(32))
    return hashes, counts


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
