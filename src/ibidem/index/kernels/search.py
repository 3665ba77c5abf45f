"""Kernels that search postings: by the rarest words of a query, or by adding up the weights of all its words.

See `comparison.py` for the queries, their limits, and what is returned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.index.kernels.comparison import NEVER, add_match, compare, gather_words, is_hit
from ibidem.index.kernels.segment import ByteLists, document_of, read_number
from ibidem.matches.kernels.bounds import largest_partner, needed_overlap, smallest_partner

Numbers = NDArray[Any]
BYTE_BITS = 8


class Types(NamedTuple):
    """What a segment stores about its types. `prefixes` are postings of only the rarest words of each type."""

    lists: ByteLists
    postings: ByteLists
    prefixes: ByteLists
    signatures: Numbers
    sizes: Numbers


@outer_kernel
def set_bits(numbers, bits):
    """Set the bit of each number."""
    for i in range(len(numbers)):
        bits[numbers[i] >> 3] |= np.uint8(1 << (numbers[i] & 7))


@inner_kernel
def read_block(postings, at, end, u, block):
    """Read the next types of a posting, `u` being the previous one; return how many, where to continue, and the last one."""
    n = 0
    while at < end and n < len(block):
        number, at = read_number(postings, at)
        u += number
        block[n] = u
        n += 1
    return n, at, u


@inner_kernel
def fetch_lists(block, n, lists, outcome):
    """Read the beginning of each list, so that the cache fetches them in parallel before they are needed."""
    touched = 0
    for k in range(n):
        touched ^= lists.data[lists.first[block[k]]]
    outcome[3] = touched


@inner_kernel
def is_first_kept(u, places):
    """Return whether the first place of a type is in a document that is kept."""
    if len(places.kept) == 0:
        return True
    return places.kept[document_of(np.int64(places.sentences[places.first[u]]), places.document_first)]


@outer_kernel
def search_overlap(queries, types, limit, equal, most, places, query_from, query_to, scratch, found):
    """Find every type whose weighted overlap reaches the limit, for queries [query_from, query_to).

    Only the postings of a query's rarest words are read: as many as leave too little weight to the rest. The bit signature of
    each type shows which words it cannot contain; what is left is compared in full. The type `equal[t]` is the query itself
    (-1: none) and comes first. Of the others, those with a place among the oldest `most[t]` are found, and perhaps some more:
    once one posting has led to that many types whose first place is kept, no posting is read beyond the last of them, since all
    places of later types come later.
    """
    lists, signatures, sizes = types.lists, types.signatures, types.sizes
    posting_first, prefix_first = types.postings.first, types.prefixes.first
    mine, mine_weight, mine_mask, outcome = scratch.words, scratch.weights, scratch.masks, scratch.outcome
    block, block_signature = scratch.block, scratch.block_signatures
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n_query = queries.first[t + 1] - queries.first[t]
        total = queries.totals[t]
        n = gather_words(t, queries, scratch)
        if equal[t] >= 0:
            v = np.int64(equal[t])
            compare(lists, v, n, mine, mine_weight, 0, NEVER, NEVER, outcome)
            if is_hit(outcome, n_query, total, limit):
                n_out = add_match(n_out, t, v, outcome, found)
                if n_out < 0:
                    return t, begin
        # Short queries must be all of a type: then their rarest word is also the type's rarest.
        whole = n_query < limit.min_contained
        needed = total if whole else -(-limit.p * total // limit.q)
        rest = np.int64(0)
        for j in range(n):
            rest += mine_weight[j]
        slack = rest - needed
        last = np.int64(-1) if most[t] <= 0 else NEVER  # no type after this one is examined
        for j in range(n):
            left = rest - needed  # a type first met here lacks all earlier words: only the rest counts
            if left < 0:
                break
            rest -= mine_weight[j]
            at = np.int64(prefix_first[mine[j]] if whole else posting_first[mine[j]])
            end = np.int64(prefix_first[mine[j] + 1] if whole else posting_first[mine[j] + 1])
            u = np.int64(0)
            n_kept = 0
            while at < end and u < last:
                if whole:
                    n_block, at, u = read_block(types.prefixes.data, at, end, u, block)
                else:
                    n_block, at, u = read_block(types.postings.data, at, end, u, block)
                for k in range(n_block):  # no branches in between: they are fetched in parallel
                    block_signature[k] = signatures[block[k]]
                n_left = 0
                for k in range(n_block):
                    absent = ~block_signature[k]
                    missing = np.int64(0)
                    for i in range(j + 1, n):  # rarest first: they weigh the most
                        if mine_mask[i] & absent:
                            missing += mine_weight[i]
                            if missing > left:
                                break
                    if missing <= left and not (whole and sizes[block[k]] != min(n_query, 255)):
                        block[n_left] = block[k]
                        n_left += 1
                fetch_lists(block, n_left, lists, outcome)
                for k in range(n_left):
                    v = block[k]
                    if v > last:
                        break
                    if v == equal[t] or not compare(lists, v, n, mine, mine_weight, j, slack, -1, outcome):
                        continue
                    if is_hit(outcome, n_query, total, limit):
                        n_out = add_match(n_out, t, v, outcome, found)
                        if n_out < 0:
                            return t, begin
                        n_kept += is_first_kept(v, places)
                        if n_kept == most[t]:
                            last = v
    return query_to, n_out


@outer_kernel
def search_similar(queries, types, p, q, most, places, asked, query_from, query_to, scratch, found):
    """Find every type whose Jaccard similarity with a query is at least p/q, for queries [query_from, query_to).

    Two similar sets share one of the rarest words of each: only those postings are read. A query ends as soon as `most` of its
    types have a kept first place. Only types whose bit in `asked` is set are considered (empty: all).
    """
    lists, signatures, sizes = types.lists, types.signatures, types.sizes
    prefix_first, prefix_data = types.prefixes.first, types.prefixes.data
    mine, mine_weight, mine_mask, outcome = scratch.words, scratch.weights, scratch.masks, scratch.outcome
    block, block_size = scratch.block, scratch.block_sizes
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n_query = queries.first[t + 1] - queries.first[t]
        n = gather_words(t, queries, scratch)
        smallest = smallest_partner(n_query, p, q)
        n_kept = 0
        for j in range(n - smallest + 1 if n > 0 else 0):
            at = np.int64(prefix_first[mine[j]])
            end = np.int64(prefix_first[mine[j] + 1])
            # The largest type that can share enough with the words from here on; no limit if 255 may be one.
            largest = largest_partner(n_query, n - j, p, q)
            u = np.int64(0)
            while at < end and n_kept < most:
                n_block, at, u = read_block(prefix_data, at, end, u, block)
                for k in range(n_block):
                    block_size[k] = sizes[block[k]]
                n_left = 0
                for k in range(n_block):
                    if len(asked) > 0 and asked[block[k] >> 3] >> (block[k] & 7) & 1 == 0:
                        continue
                    size = np.int64(block_size[k])
                    if size == 255:  # or more: assume the smallest
                        size = max(size, smallest)
                    if size < smallest or size > largest:
                        continue
                    left = n - j - needed_overlap(n_query, size, p, q)  # this many of the following words may be missing
                    absent = ~signatures[block[k]]
                    missing = 0
                    for i in range(j + 1, n):
                        if mine_mask[i] & absent:
                            missing += 1
                            if missing > left:
                                break
                    if missing <= left:
                        block[n_left] = block[k]
                        block_size[n_left] = size
                        n_left += 1
                fetch_lists(block, n_left, lists, outcome)
                for k in range(n_left):
                    v = block[k]
                    slack = n - needed_overlap(n_query, np.int64(block_size[k]), p, q)
                    if not compare(lists, v, n, mine, mine_weight, j, -1, slack, outcome):
                        continue
                    if q * outcome[0] >= p * (n_query + outcome[2] - outcome[0]):
                        n_out = add_match(n_out, t, v, outcome, found)
                        if n_out < 0:
                            return t, begin
                        n_kept += is_first_kept(v, places)
                        if n_kept >= most:
                            break
    return query_to, n_out


@outer_kernel
def accumulate(queries, postings, p, q, query_from, query_to, scratch, score, touched, candidate_first, candidates):
    """Find candidates by accumulation (All-Pairs): walk all postings of a query, rarest word first.

    Types not met while the rest could still suffice are no longer added. `score` is all 0 before and after. Returns (query
    after the last one done, candidates).
    """
    mine, mine_weight = scratch.words, scratch.weights
    first, data = postings.first, postings.data
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n = gather_words(t, queries, scratch)
        needed = -(-p * queries.totals[t] // q)
        rest = np.int64(0)
        for j in range(n):
            rest += mine_weight[j]
        n_touched = 0
        for j in range(n):
            admits = rest >= needed
            weight = mine_weight[j]
            if weight == 0:  # it adds nothing, and a type without a score would be met again
                continue
            rest -= weight
            at = np.int64(first[mine[j]])
            end = np.int64(first[mine[j] + 1])
            u = np.int64(0)
            while at < end:
                number, at = read_number(data, at)
                u += number
                if score[u] > 0:
                    score[u] += weight
                elif admits:
                    score[u] = weight
                    touched[n_touched] = u
                    n_touched += 1
        full = False
        for k in range(n_touched):
            if score[touched[k]] >= needed and not full:
                if n_out == len(candidates):
                    full = True
                else:
                    candidates[n_out] = touched[k]
                    n_out += 1
            score[touched[k]] = 0
        if full:
            return t, begin
        candidate_first[t + 1] = n_out
    return query_to, n_out
