"""Kernels of contamination: grams of items in texts, the stretches around them, and what these form together."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inner_kernel, outer_kernel

_SIX_BITS = np.uint64(63)
_ONE = np.uint64(1)

# Columns of a segment: item, start and end in the texts, start and end in the item, equal words.
ITEM, START, END, ITEM_START, ITEM_END, SAME = range(6)
SEGMENT = 6
# Columns of a chain: start and end in the texts, start and end in the item, equal words; and of chains that go on where another
# one ends, the first, which has their equal words in total.
CHAIN = 7
HEAD, TOTAL = 5, 6
_MOST_LOOKED_BACK = 8  # chains, for one that goes on where it ends
_SLACK = 3  # words
# The state of an item: its last segment, and how often another one was tried in its place.
LAST, TRIES = range(2)


@outer_kernel
def find_grams(keys, filter_bits, slot_keys, slot_grams, places, grams):
    """Write the places of keys that are in a table, and the number of the gram of each; return how many.

    `filter_bits` has a bit for every key in the table, and few others: most keys need no further look.
    """
    n = np.int64(0)
    n_bits, n_slots = np.uint64(64 * len(filter_bits)), np.uint64(len(slot_keys))
    for i in range(len(keys)):
        key = keys[i]
        bit = key & (n_bits - _ONE)
        if key == 0 or (filter_bits[bit >> np.uint64(6)] >> (bit & _SIX_BITS)) & _ONE == 0:
            continue
        slot = (key >> np.uint64(32)) & (n_slots - _ONE)
        while slot_keys[slot] != 0:
            if slot_keys[slot] == key:
                places[n], grams[n] = i, slot_grams[slot]
                n += 1
                break
            slot = (slot + _ONE) & (n_slots - _ONE)
    return n


@outer_kernel
def fill_table(keys, filter_bits, slot_keys, slot_grams):
    """Put distinct keys, none of them 0, into a table of twice as many slots or more, and set their bits."""
    n_bits, n_slots = np.uint64(64 * len(filter_bits)), np.uint64(len(slot_keys))
    for gram in range(len(keys)):
        key = keys[gram]
        bit = key & (n_bits - _ONE)
        filter_bits[bit >> np.uint64(6)] |= _ONE << (bit & _SIX_BITS)
        slot = (key >> np.uint64(32)) & (n_slots - _ONE)
        while slot_keys[slot] != 0:
            slot = (slot + _ONE) & (n_slots - _ONE)
        slot_keys[slot], slot_grams[slot] = key, gram


@inner_kernel
def _reach(words, at, step, n, items, item_at, fall):
    """Return how far equal words reach from a place, at most `n` words, and how many of these are equal.

    A word that differs costs as much as an equal one counts. It ends where the score is highest before it falls by `fall`.
    """
    score = best = far = n_same = best_same = np.int64(0)
    for i in range(n):
        if words[at + step * i] == items[item_at + step * i]:
            score += 1
            n_same += 1
            if score > best:
                best, far, best_same = score, i + 1, n_same
        else:
            score -= 1
            if score <= best - fall:
                break
    return far, best_same


@outer_kernel
def extend_grams(
    words,
    first,
    places,
    grams,
    post_first,
    post_item,
    post_word,
    is_anchor,
    item_words,
    item_first,
    size,
    fall,
    most_tries,
    state,
    segments,
):
    """Write the segments of items around grams that were found; return how many, or -1 without enough room.

    A segment is on one diagonal: word by word beside the item. Grams inside the last segment of their item are mostly passed
    over, so time is linear, also where words repeat. The anchor of an item is always tried: an item that is there word for
    word is found whole.
    """
    n = np.int64(0)
    text = np.int64(0)
    for hit in range(len(places)):
        place = places[hit]
        while first[text + 1] <= place:
            text += 1
        for post in range(post_first[grams[hit]], post_first[grams[hit] + 1]):
            item, word = post_item[post], post_word[post]
            begin, end = item_first[item], item_first[item + 1]
            last = state[item, LAST]
            is_inside = last >= 0 and segments[last, START] <= place < segments[last, END]
            if is_inside:
                is_same_diagonal = segments[last, START] - segments[last, ITEM_START] == place - word
                if is_same_diagonal or segments[last, SAME] == end - begin:
                    continue
                state[item, TRIES] += 1
                if state[item, TRIES] > most_tries and not is_anchor[post]:
                    continue
            after = place + size
            n_after = min(first[text + 1] - after, end - begin - word - size)
            right, same_right = _reach(words, after, 1, n_after, item_words, begin + word + size, fall)
            left, same_left = _reach(words, place - 1, -1, min(place - first[text], word), item_words, begin + word - 1, fall)
            same = size + same_right + same_left
            if is_inside and same <= segments[last, SAME] and after + right <= segments[last, END]:
                continue
            at = n
            if is_inside and same > segments[last, SAME] and place - left <= segments[last, START]:
                at = last
            if at == len(segments):
                return np.int64(-1)
            segments[at, ITEM], segments[at, SAME] = item, same
            segments[at, START], segments[at, END] = place - left, after + right
            segments[at, ITEM_START], segments[at, ITEM_END] = word - left, word + size + right
            if at == n:
                n += 1
                if not is_inside:
                    state[item, TRIES] = 0
            state[item, LAST] = at
    return n


@outer_kernel
def join_segments(
    segments, text, words, item_words, item_first, n_counted, whole, limits, marks, chain_of, chains, place_of, shares
):
    """Join segments, sorted by text, item and start, into chains, and chains into places; return how many of each.

    `chain_of` gets the chain of each segment, `chains` the columns named by CHAIN of each, `place_of` its place, -1 where too
    little is equal. `shares` gets for each place the equal words of the item, and the most in one chain. `whole` is the share
    of an item that is all of it, as a fraction; `limits` are the words between segments of a chain, between chains of a place,
    and the fewest equal words of a chain. `marks` has a 0 for each word of the longest item.

    A shorter chain counts, too, where it goes on in the item where another one near by ends, and one of these is long enough,
    or all of them are nearly all of the item.
    """
    most_gap, most_between, least = limits[0], limits[1], limits[2]
    n_chains = n_places = np.int64(0)
    begin = np.int64(0)
    while begin < len(segments):
        item, end = segments[begin, ITEM], begin
        first_chain = n_chains
        while end < len(segments) and segments[end, ITEM] == item and text[end] == text[begin]:
            is_next = False
            if n_chains > first_chain:
                gap = segments[end, START] - chains[n_chains - 1, 1]
                item_gap = segments[end, ITEM_START] - chains[n_chains - 1, 3]
                is_next = -most_gap // 2 <= gap <= most_gap and -most_gap // 2 <= item_gap <= most_gap
            if is_next:
                chains[n_chains - 1, 1] = max(chains[n_chains - 1, 1], segments[end, END])
                chains[n_chains - 1, 3] = max(chains[n_chains - 1, 3], segments[end, ITEM_END])
                chains[n_chains - 1, 4] += max(0, segments[end, SAME] - max(0, -gap, -item_gap))
            else:
                for column in range(5):
                    chains[n_chains, column] = segments[end, 1 + column]
                n_chains += 1
            chain_of[end] = n_chains - 1
            end += 1
        counted = n_counted[item]
        for chain in range(first_chain, n_chains):
            head = chain
            for other in range(chain - 1, max(first_chain, chain - _MOST_LOOKED_BACK) - 1, -1):
                goes_on = -_SLACK <= chains[chain, 2] - chains[other, 3] <= _SLACK
                if goes_on and chains[chain, 0] - chains[other, 1] <= most_between:
                    head = chains[other, HEAD]
                    break
            chains[chain, HEAD], chains[chain, TOTAL] = head, 0
            same = chains[chain, 4]
            is_dense = 2 * same >= chains[chain, 1] - chains[chain, 0]
            chains[head, TOTAL] += same if is_dense else 0
            if is_dense and same >= least:
                chains[head, TOTAL] += counted  # long enough by itself
        reached = np.int64(-1)  # where the last chain of the open place ends
        for chain in range(first_chain, n_chains):
            same, length = chains[chain, 4], chains[chain, 1] - chains[chain, 0]
            if chains[chains[chain, HEAD], TOTAL] * whole[1] < counted * whole[0] or 2 * same < length:
                place_of[chain] = -1
                continue
            if reached < 0 or chains[chain, 0] - reached > most_between:
                shares[n_places, 0] = shares[n_places, 1] = 0
                n_places += 1
            place_of[chain] = n_places - 1
            shares[n_places - 1, 1] = max(shares[n_places - 1, 1], same)
            reached = max(reached, chains[chain, 1])
        for k in range(begin, end):
            place = place_of[chain_of[k]]
            if place < 0:
                continue
            offset = segments[k, ITEM_START] - segments[k, START]
            for i in range(segments[k, START], segments[k, END]):
                if marks[i + offset] != place + 1 and words[i] == item_words[item_first[item] + i + offset]:
                    marks[i + offset] = place + 1
                    shares[place, 0] += 1
        begin = end
    return n_chains, n_places


@outer_kernel
def find_near(words, starts, ends, item_words, item_starts, item_ends, found):
    """Write for each stretch of texts the first place in it of the words of an item, or -1."""
    for k in range(len(starts)):
        found[k] = -1
        size = item_ends[k] - item_starts[k]
        for i in range(starts[k], ends[k] - size + 1):
            same = np.int64(0)
            while same < size and words[i + same] == item_words[item_starts[k] + same]:
                same += 1
            if same == size:
                found[k] = i
                break
