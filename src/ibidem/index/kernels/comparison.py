"""Kernels that compare queries with types word by word, and the records that all searches share.

A query has distinct words, numbered over all queries. Limits are fractions p/q and weights are integers: nothing here is
rounded. Matches are in the order of queries. A kernel stops before the query that does not fit, and returns the query to
continue with and the number of matches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.binary_search import first_not_below
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.index.kernels.segment import add_to_fingerprint, first_word, next_word

Numbers = NDArray[Any]

NEVER = np.int64(1) << 60


class Queries(NamedTuple):
    """Queries as one segment sees them: query t has the distinct words `words[first[t]:first[t + 1]]`, `totals[t]` in weight.

    Per word: its weight, its mask, and its number in the segment (`local`, -1 if the segment does not have it).
    """

    words: Numbers
    first: Numbers
    totals: Numbers
    weights: Numbers
    masks: Numbers
    local: Numbers


class Limit(NamedTuple):
    """What makes a hit: p/q of the query's weight, or with `product`, of weight times words.

    A query of fewer words than `min_contained` needs a type with exactly its words.
    """

    p: int
    q: int
    product: bool
    min_contained: int


class Scratch(NamedTuple):
    """Arrays for one thread: the words of a query, a block of types from a posting, and the outcome of a comparison.

    Words are those that the segment has, rarest first. An outcome is the number of words in common, their weight, and the
    number of distinct words of the type; the fourth number is unused.
    """

    words: Numbers
    weights: Numbers
    masks: Numbers
    block: Numbers
    block_signatures: Numbers
    block_sizes: Numbers
    outcome: Numbers


class MatchRoom(NamedTuple):
    """Room for matches: query, type, words in common, their weight, distinct words of the type."""

    query: Numbers
    type: Numbers
    common: Numbers
    weight: Numbers
    size: Numbers


class DistinctWords(NamedTuple):
    """The distinct words of types, `words[first[t]:first[t + 1]]`, and what follows from the words of each type.

    `totals` are the sums of their weights.
    """

    words: Numbers
    first: Numbers
    totals: Numbers
    signatures: Numbers
    fingerprints: Numbers


@outer_kernel
def distinct_words(words, first, weights, masks, hashes, is_common, distinct):
    """Find the distinct words of every type, in order of first occurrence, and what follows from them."""
    found, found_first = distinct.words, distinct.first
    n = 0
    found_first[0] = 0
    for t in range(len(first) - 1):
        total = np.int64(0)
        signature = np.uint64(0)
        key = np.uint64(0)
        n_kept = 0
        begin = n
        for i in range(first[t], first[t + 1]):
            word = words[i]
            if not is_common[word]:
                key = add_to_fingerprint(key, hashes[word])
                n_kept += 1
            seen = False
            for k in range(begin, n):
                if found[k] == word:
                    seen = True
                    break
            if not seen:
                found[n] = word
                n += 1
                total += weights[word]
                signature |= masks[word]
        found_first[t + 1] = n
        distinct.totals[t] = total
        distinct.signatures[t] = signature
        distinct.fingerprints[t] = key | np.uint64(1) if n_kept > 0 else np.uint64(0)


@inner_kernel
def gather_words(t, queries, scratch):
    """Collect the words of a query that the segment has, rarest first (the highest number); return how many there are."""
    # Fields are read from the records here: doing so inside the loops takes time.
    words, first, weights, masks, local = queries.words, queries.first, queries.weights, queries.masks, queries.local
    mine, mine_weight, mine_mask = scratch.words, scratch.weights, scratch.masks
    n = 0
    for i in range(first[t], first[t + 1]):
        number = local[words[i]]
        if number < 0:
            continue
        j = n
        while j > 0 and mine[j - 1] < number:
            mine[j] = mine[j - 1]
            mine_weight[j] = mine_weight[j - 1]
            mine_mask[j] = mine_mask[j - 1]
            j -= 1
        mine[j] = number
        mine_weight[j] = weights[words[i]]
        mine_mask[j] = masks[words[i]]
        n += 1
    return n


@inner_kernel
def compare(lists, u, n, words, weights, before, slack_weight, slack_common, outcome):
    """Compare the list of type u with the n words of a query: words in common, their weight, distinct words of the list.

    Both are read from the rarest word on. It returns False as soon as the missing words exceed both slacks, by weight and by
    number, or if one of the first `before` words is in common: then another posting already led here.
    """
    data = lists.data
    position, end = first_word(lists, u)
    common = 0
    weight = np.int64(0)
    size = 0
    word = np.int64(-1)
    i = 0
    missing = 0
    missing_weight = np.int64(0)
    while position < end:
        last = word
        word, position = next_word(data, position, last)
        if word == last:
            continue  # a repeat
        size += 1
        while i < n and words[i] > word:
            missing += 1
            missing_weight += weights[i]
            i += 1
            if missing > slack_common and missing_weight > slack_weight:
                return False
        if i < n and words[i] == word:
            if i < before:
                return False
            common += 1
            weight += weights[i]
            i += 1
    outcome[0] = common
    outcome[1] = weight
    outcome[2] = size
    return True


@inner_kernel
def is_hit(outcome, n_query, total, limit):
    """Return whether the outcome of a comparison is a hit for a query of `n_query` distinct words and weight `total`."""
    common, weight, size = outcome[0], outcome[1], outcome[2]
    if weight == 0:  # nothing in common, or only words that do not count
        return False
    if n_query < limit.min_contained:
        return common == n_query and size == n_query
    if limit.product:
        return limit.q * common * weight >= limit.p * n_query * total
    return limit.q * weight >= limit.p * total


@inlined_kernel
def add_match(n, t, u, outcome, found):
    """Write match number n of query t and type u; return how many there are now, or -1 if there is no room."""
    if n == len(found.query):
        return -1
    found.query[n] = t
    found.type[n] = u
    found.common[n] = outcome[0]
    found.weight[n] = outcome[1]
    found.size[n] = outcome[2]
    return n + 1


@outer_kernel
def compare_candidates(queries, lists, limit, candidate_first, candidates, query_from, query_to, scratch, found):
    """Find the candidates that are hits: query t has `candidates[candidate_first[t]:candidate_first[t + 1]]`.

    Without candidates (an empty `candidate_first`) every type is one: the full comparison.
    """
    n_out = 0
    every = len(candidate_first) == 0
    words, weights, outcome = scratch.words, scratch.weights, scratch.outcome
    for t in range(query_from, query_to):
        begin = n_out
        n_query = queries.first[t + 1] - queries.first[t]
        n = gather_words(t, queries, scratch)
        c_from = np.int64(0) if every else np.int64(candidate_first[t])
        c_to = np.int64(len(lists.first) - 1) if every else np.int64(candidate_first[t + 1])
        for c in range(c_from, c_to):
            u = c if every else np.int64(candidates[c])
            compare(lists, u, n, words, weights, 0, NEVER, NEVER, outcome)
            if is_hit(outcome, n_query, queries.totals[t], limit):
                n_out = add_match(n_out, t, u, outcome, found)
                if n_out < 0:
                    return t, begin
    return query_to, n_out


@outer_kernel
def match_fingerprints(keys, heads, types, lists, hashes, is_common, query_from, query_to, found):
    """Find the types whose fingerprint is that of a query; only `found.query` and `found.type` are written.

    `heads` are the high halves of the fingerprints of `types`, in increasing order; the full one is computed again from the
    list. `hashes` and `is_common` (cut off after the last common one) are per word of the segment.
    """
    data = lists.data
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        key = keys[t]
        if key == 0:
            continue
        head = key >> np.uint64(32)
        at = first_not_below(heads, head, np.int64(0), np.int64(len(heads)))
        while at < len(heads) and np.uint64(heads[at]) == head:
            u = np.int64(types[at])
            at += 1
            position, end = first_word(lists, u)
            word = np.int64(-1)
            other = np.uint64(0)
            while position < end:
                word, position = next_word(data, position, word)
                if word >= len(is_common) or not is_common[word]:
                    other = add_to_fingerprint(other, hashes[word])
            if other | np.uint64(1) != key:
                continue
            if n_out == len(found.query):
                return t, begin
            found.query[n_out] = t
            found.type[n_out] = u
            n_out += 1
    return query_to, n_out
