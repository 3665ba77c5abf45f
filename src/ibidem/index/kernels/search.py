"""Kernels of the exact searches: weighted overlap through postings, by accumulation, and by reading everything.

A query type has distinct words, numbered over all queries; `local` is a word's number in the segment or -1. Limits are
fractions p/q and weights are whole numbers: nothing here is rounded. What comes out are matches (query type, type, words in
common, their weight, distinct words of the type), query after query; a kernel stops before the query for which there is no
room, and says where.
"""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.index.kernels.segment import add_to_fingerprint, document_of, read_number
from ibidem.matches.kernels.bounds import largest_partner, needed_overlap, smallest_partner

_NEVER = np.int64(1) << 60


@outer_kernel
def distinct_words(words, first, weights, masks, hashes, is_common, distinct, distinct_first, totals, signatures, fingerprints):
    """The distinct words of every type (in the order of their numbers, which is sorted into `words` itself), and what
    follows from the words: the sum of the distinct ones' weights, the bit signature, the fingerprint.
    """
    n = 0
    distinct_first[0] = 0
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
                if distinct[k] == word:
                    seen = True
                    break
            if not seen:
                distinct[n] = word
                n += 1
                total += weights[word]
                signature |= masks[word]
        distinct_first[t + 1] = n
        totals[t] = total
        signatures[t] = signature
        fingerprints[t] = key | np.uint64(1) if n_kept > 0 else np.uint64(0)


@inner_kernel
def _gather(t, words, first, weights, masks, local, mine, mine_weight, mine_mask):
    """Collect the words of a query that the segment has, rarest first (the highest number); return how many there are."""
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
def _compare(lists, position, end, n, mine, mine_weight, before, slack_weight, slack_common, outcome):
    """Compare a list with the words of a query: words in common, their weight, distinct words of the list.

    Both go from the rarest word down, and it ends, returning False, as soon as the words that are missing weigh more than
    the one slack and are more than the other. It is False too if one of the first `before` words is in common: then another
    posting led here already.
    """
    _, position = read_number(lists, position)
    common = 0
    weight = np.int64(0)
    size = 0
    word = np.int64(-1)
    i = 0
    missing = 0
    missing_weight = np.int64(0)
    while position < end:
        number, position = read_number(lists, position)
        if number == 0 and word >= 0:
            continue  # a repeat
        word = number if word < 0 else word - number
        size += 1
        while i < n and mine[i] > word:
            missing += 1
            missing_weight += mine_weight[i]
            i += 1
            if missing > slack_common and missing_weight > slack_weight:
                return False
        if i < n and mine[i] == word:
            if i < before:
                return False
            common += 1
            weight += mine_weight[i]
            i += 1
    outcome[0] = common
    outcome[1] = weight
    outcome[2] = size
    return True


@inner_kernel
def _is_hit(common, weight, size, n_query, total, p, q, product, min_contained):
    """Whether words in common make a hit. A query of fewer words than `min_contained` needs a type with just these words."""
    if common == 0:
        return False
    if n_query < min_contained:
        return common == n_query and size == n_query
    if product:
        return q * common * weight >= p * n_query * total
    return q * weight >= p * total


@inlined_kernel
def _write(n, t, u, outcome, out_query, out_type, out_common, out_weight, out_size):
    """Write match number n: a query, a type, and the outcome of their comparison."""
    out_query[n] = t
    out_type[n] = u
    out_common[n] = outcome[0]
    out_weight[n] = outcome[1]
    out_size[n] = outcome[2]


@inner_kernel
def _read_block(postings, at, end, u, block):
    """Read the next types of a posting, `u` being the one before; return how many, where to go on, and the last one."""
    n = 0
    while at < end and n < len(block):
        number, at = read_number(postings, at)
        u += number
        block[n] = u
        n += 1
    return n, at, u


@inner_kernel
def _fetch_lists(block, n, list_first, lists, outcome):
    """Look at the beginning of each list. What lies far apart comes into the cache side by side, before it is needed."""
    touched = 0
    for k in range(n):
        touched ^= lists[list_first[block[k]]]
    outcome[3] = touched


@inner_kernel
def _is_first_kept(u, occurrence_first, occurrences, document_first, kept):
    """Whether the first place of a type lies in a document that is kept; without `kept`, all are."""
    return len(kept) == 0 or kept[document_of(np.int64(occurrences[occurrence_first[u]]), document_first)]


@outer_kernel
def search_overlap(
    words, first, weights, masks, totals, local, posting_first, postings, prefix_first, prefix_postings,
    signatures, sizes, list_first, lists, p, q, product, min_contained,
    equal, most, occurrence_first, occurrences, document_first, kept, query_from, query_to,
    mine, mine_weight, mine_mask, block, block_signature, outcome, out_query, out_type, out_common, out_weight, out_size,
):  # fmt: skip
    """Every type whose weighted overlap reaches p/q of the query's weight, for queries [query_from, query_to).

    Only the postings of a query's rarest words are read: as many as leave too little to the rest. Of the types in them the
    bit signature tells which words cannot be there; what is left is compared in full. The type `equal[t]` is the query
    itself (-1: none) and comes first. Of the others, those whose place is among the oldest `most[t]` are found, and perhaps
    some more: as soon as one posting has led to so many types whose first place is kept, no posting is read beyond the last of
    them, since all places of later types come later. Returns (query after the last one done, matches).
    """
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n_query = first[t + 1] - first[t]
        n = _gather(t, words, first, weights, masks, local, mine, mine_weight, mine_mask)
        if equal[t] >= 0:
            v = np.int64(equal[t])
            _compare(
                lists, np.int64(list_first[v]), np.int64(list_first[v + 1]), n, mine, mine_weight, 0, _NEVER, _NEVER, outcome
            )
            if _is_hit(outcome[0], outcome[1], outcome[2], n_query, totals[t], p, q, product, min_contained):
                if n_out == len(out_query):
                    return t, begin
                _write(n_out, t, v, outcome, out_query, out_type, out_common, out_weight, out_size)
                n_out += 1
        # Short queries have to be all of a type: then their rarest word is the type's rarest one too.
        whole = n_query < min_contained
        needed = totals[t] if whole else -(-p * totals[t] // q)
        rest = np.int64(0)
        for j in range(n):
            rest += mine_weight[j]
        slack = rest - needed
        last = np.int64(-1) if most[t] <= 0 else _NEVER  # no type after this one is looked at
        for j in range(n):
            left = rest - needed  # what is met here for the first time lacks all words before: only the rest counts
            if left < 0:
                break
            rest -= mine_weight[j]
            at = np.int64(prefix_first[mine[j]] if whole else posting_first[mine[j]])
            end = np.int64(prefix_first[mine[j] + 1] if whole else posting_first[mine[j] + 1])
            u = np.int64(0)
            n_kept = 0
            while at < end and u < last:
                if whole:
                    n_block, at, u = _read_block(prefix_postings, at, end, u, block)
                else:
                    n_block, at, u = _read_block(postings, at, end, u, block)
                for k in range(n_block):  # nothing is asked between: they are fetched side by side
                    block_signature[k] = signatures[block[k]]
                n_left = 0
                for k in range(n_block):
                    absent = ~block_signature[k]
                    missing = np.int64(0)
                    for i in range(j + 1, n):  # rarest first: they weigh most
                        if mine_mask[i] & absent:
                            missing += mine_weight[i]
                            if missing > left:
                                break
                    if missing <= left and not (whole and sizes[block[k]] != min(n_query, 255)):
                        block[n_left] = block[k]
                        n_left += 1
                _fetch_lists(block, n_left, list_first, lists, outcome)
                for k in range(n_left):
                    v = block[k]
                    if v > last:
                        break
                    if v == equal[t] or not _compare(
                        lists, np.int64(list_first[v]), np.int64(list_first[v + 1]), n, mine, mine_weight, j, slack, -1, outcome
                    ):
                        continue
                    if _is_hit(outcome[0], outcome[1], outcome[2], n_query, totals[t], p, q, product, min_contained):
                        if n_out == len(out_query):
                            return t, begin
                        _write(n_out, t, v, outcome, out_query, out_type, out_common, out_weight, out_size)
                        n_out += 1
                        n_kept += _is_first_kept(v, occurrence_first, occurrences, document_first, kept)
                        if n_kept == most[t]:
                            last = v
    return query_to, n_out


@outer_kernel
def search_similar(
    words, first, weights, masks, local, prefix_first, prefix_postings, signatures, sizes, list_first, lists, p, q,
    most, occurrence_first, occurrences, document_first, kept, is_asked,
    query_from, query_to, mine, mine_weight, mine_mask, block, block_size, outcome,
    out_query, out_type, out_common, out_weight, out_size,
):  # fmt: skip
    """Every type whose Jaccard similarity with a query is at least p/q, for queries [query_from, query_to).

    Two similar sets share one of the rarest words of each: only the postings of those are read. A query is left as soon as
    `most` of its types have a first place that is kept. Types are left out where `is_asked` (empty: all are) says so.
    Returns as `search_overlap`.
    """
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n_query = first[t + 1] - first[t]
        n = _gather(t, words, first, weights, masks, local, mine, mine_weight, mine_mask)
        smallest = smallest_partner(n_query, p, q)
        n_kept = 0
        for j in range(n - smallest + 1 if n > 0 else 0):
            at = np.int64(prefix_first[mine[j]])
            end = np.int64(prefix_first[mine[j] + 1])
            # The largest type that shares enough with the words from here on, all of them if 255 may be one.
            largest = largest_partner(n_query, n - j, p, q)
            u = np.int64(0)
            while at < end and n_kept < most:
                n_block, at, u = _read_block(prefix_postings, at, end, u, block)
                for k in range(n_block):
                    block_size[k] = sizes[block[k]]
                n_left = 0
                for k in range(n_block):
                    if len(is_asked) > 0 and not is_asked[block[k]]:
                        continue
                    size = np.int64(block_size[k])
                    if size == 255:  # or more: as small as it may be
                        size = max(size, smallest)
                    if size < smallest or size > largest:
                        continue
                    left = n - j - needed_overlap(n_query, size, p, q)  # so many of the words after this one may be missing
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
                _fetch_lists(block, n_left, list_first, lists, outcome)
                for k in range(n_left):
                    v = block[k]
                    slack = n - needed_overlap(n_query, np.int64(block_size[k]), p, q)
                    if not _compare(
                        lists, np.int64(list_first[v]), np.int64(list_first[v + 1]), n, mine, mine_weight, j, -1, slack, outcome
                    ):
                        continue
                    if q * outcome[0] >= p * (n_query + outcome[2] - outcome[0]):
                        if n_out == len(out_query):
                            return t, begin
                        _write(n_out, t, v, outcome, out_query, out_type, out_common, out_weight, out_size)
                        n_out += 1
                        n_kept += _is_first_kept(v, occurrence_first, occurrences, document_first, kept)
                        if n_kept >= most:
                            break
    return query_to, n_out


@outer_kernel
def compare_candidates(
    words, first, weights, masks, totals, local, list_first, lists, p, q, product, min_contained,
    candidate_first, candidates, query_from, query_to, mine, mine_weight, mine_mask, outcome,
    out_query, out_type, out_common, out_weight, out_size,
):  # fmt: skip
    """As `search_overlap`, for candidates that are given: query t has `candidates[candidate_first[t]:candidate_first[t + 1]]`.

    Without candidates (an empty `candidate_first`) every type is one: the full comparison.
    """
    n_out = 0
    every = len(candidate_first) == 0
    for t in range(query_from, query_to):
        begin = n_out
        n_query = first[t + 1] - first[t]
        n = _gather(t, words, first, weights, masks, local, mine, mine_weight, mine_mask)
        c_from = np.int64(0) if every else np.int64(candidate_first[t])
        c_to = np.int64(len(list_first) - 1) if every else np.int64(candidate_first[t + 1])
        for c in range(c_from, c_to):
            u = c if every else np.int64(candidates[c])
            _compare(
                lists, np.int64(list_first[u]), np.int64(list_first[u + 1]), n, mine, mine_weight, 0, _NEVER, _NEVER, outcome
            )
            if _is_hit(outcome[0], outcome[1], outcome[2], n_query, totals[t], p, q, product, min_contained):
                if n_out == len(out_query):
                    return t, begin
                _write(n_out, t, u, outcome, out_query, out_type, out_common, out_weight, out_size)
                n_out += 1
    return query_to, n_out


@outer_kernel
def accumulate(
    words, first, weights, masks, totals, local, posting_first, postings, p, q, query_from, query_to,
    mine, mine_weight, mine_mask, score, touched, candidate_first, candidates,
):  # fmt: skip
    """Candidates by accumulation (All-Pairs): walk all postings of a query, rarest word first; types not met while the rest
    could still suffice are not let in any more. `score` is all 0 and is left so. Returns (query after the last one done, n).
    """
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        n = _gather(t, words, first, weights, masks, local, mine, mine_weight, mine_mask)
        needed = -(-p * totals[t] // q)
        rest = np.int64(0)
        for j in range(n):
            rest += mine_weight[j]
        n_touched = 0
        for j in range(n):
            admits = rest >= needed
            rest -= mine_weight[j]
            at = np.int64(posting_first[mine[j]])
            end = np.int64(posting_first[mine[j] + 1])
            u = np.int64(0)
            while at < end:
                number, at = read_number(postings, at)
                u += number
                if score[u] > 0:
                    score[u] += mine_weight[j]
                elif admits:
                    score[u] = mine_weight[j]
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


@outer_kernel
def match_fingerprints(keys, heads, types, list_first, lists, hashes, is_common, query_from, query_to, out_query, out_type):
    """Types whose fingerprint is that of a query. `heads` are the high halves of the fingerprints, rising; the full one is
    computed again from the list. `hashes` and `is_common` (cut off after the last common one) go by the segment's words.
    Returns as `search_overlap`.
    """
    n_out = 0
    for t in range(query_from, query_to):
        begin = n_out
        key = keys[t]
        if key == 0:
            continue
        head = key >> np.uint64(32)
        low = np.int64(0)
        high = np.int64(len(heads))
        while low < high:
            middle = (low + high) // 2
            if np.uint64(heads[middle]) < head:
                low = middle + 1
            else:
                high = middle
        while low < len(heads) and np.uint64(heads[low]) == head:
            u = np.int64(types[low])
            low += 1
            position = np.int64(list_first[u])
            end = np.int64(list_first[u + 1])
            _, position = read_number(lists, position)
            word = np.int64(-1)
            other = np.uint64(0)
            while position < end:
                number, position = read_number(lists, position)
                word = number if word < 0 else word - number
                if word >= len(is_common) or not is_common[word]:
                    other = add_to_fingerprint(other, hashes[word])
            if other | np.uint64(1) != key:
                continue
            if n_out == len(out_query):
                return t, begin
            out_query[n_out] = t
            out_type[n_out] = u
            n_out += 1
    return query_to, n_out
