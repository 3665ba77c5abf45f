"""Bit signatures (qSign): sentences as the combined masks of their words, how far they differ, and the search among them.

Kim, Candan, Tatemura, "Efficient overlap and content reuse detection in blogs and online news articles", WWW 2009. Their tree
is replaced by multi-index hashing, which is exact: the m bits are cut into s pieces, each piece has a table of the rows in its
order, and signatures at most s·a + b bits apart are within a bits in one of the first b + 1 pieces or within a − 1 in another.

Signatures and masks are a column of 64-bit numbers; wider ones are as many such columns as they take (planes, lowest first).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, expm1, fsum, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.distinct import stable_order
from ibidem.index.kernels import bits as bits_kernels
from ibidem.index.segment import frozen

MIN_BITS, MAX_BITS = 8, 512
PLANE_BITS = 64
_NARROW = (64, 3)
_MAX_ROWS = 1 << 32
_MIN_ROOM = 1 << 16  # rows of results collected at a time

Signatures = NDArray[np.uint64]
Rows = NDArray[np.uint32]


def word_masks(hashes: NDArray[np.uint64], n_bits: int, bits_per_word: int) -> Signatures:
    """Return the mask of each word: `bits_per_word` distinct bits below `n_bits`, chosen by its hash alone."""
    _check_bits(n_bits)
    if not 1 <= bits_per_word <= n_bits:
        raise ValueError(f"a word cannot set {bits_per_word} of {n_bits} bits")
    masks = np.zeros((planes_of(n_bits), len(hashes)), np.uint64)
    bits_kernels.make_masks(frozen(hashes), n_bits, bits_per_word, tuple(masks))
    return masks if len(masks) > 1 else masks[0]


def planes_of(n_bits: int) -> int:
    """Return how many columns of 64-bit numbers signatures take."""
    return -(-n_bits // PLANE_BITS)


def narrow_bits(n_bits: int, bits_per_word: int) -> tuple[int, int]:
    """Return the width and the bits per word of what searches by words look at: one plane, whatever bits are searched for."""
    return (n_bits, bits_per_word) if n_bits <= PLANE_BITS else _NARROW


def sentence_signatures(masks: Signatures, word_ids: NDArray[Any], first: NDArray[np.int64]) -> Signatures:
    """Return the signature of each sentence: the bitwise or of the masks of its words `word_ids[first[s] : first[s + 1]]`."""
    signatures = np.empty((*masks.shape[:-1], len(first) - 1), np.uint64)
    for plane, joined in zip(_planes(masks), np.atleast_2d(signatures), strict=True):
        bits_kernels.join_masks(plane, frozen(word_ids), frozen(first), joined)
    return signatures


def _planes(signatures: Signatures) -> tuple[NDArray[np.uint64], ...]:
    """Return the columns that signatures, or masks, are made of."""
    return tuple(frozen(plane) for plane in (signatures if signatures.ndim > 1 else (signatures,)))


# The paper's predictions. m = n_bits, l = bits_per_word, n = n_words, k = n_more. There, a word draws its bits one by one and
# may draw a bit twice; our masks have l distinct bits, which changes p by a share of less than l / m.


def bit_change_probability(n_bits: int, bits_per_word: int, n_words: int, n_more: int) -> float:
    """Return the probability that a bit left unset by n words is set by k more: (1 − 1/m)^(nl) · (1 − (1 − 1/m)^(kl))."""
    stays = log1p(-1 / n_bits)
    return -(1 + expm1(stays * n_words * bits_per_word)) * expm1(stays * n_more * bits_per_word)


def within_probability(n_bits: int, bits_per_word: int, n_words: int, n_more: int, radius: int) -> float:
    """Return the probability that at most `radius` bits change when k words are added to n words (the paper's P_max)."""
    if radius < 0:
        return 0.0
    if radius >= n_bits:
        return 1.0
    p = bit_change_probability(n_bits, bits_per_word, n_words, n_more)
    return min(1.0, fsum(comb(n_bits, t) * p**t * (1 - p) ** (n_bits - t) for t in range(radius + 1)))


def predicted_recall(n_bits: int, bits_per_word: int, n_words: int, words_flexible: int, radius: int) -> float:
    """Return the probability of finding a sentence with as many other words as allowed."""
    return within_probability(n_bits, bits_per_word, n_words, words_flexible, radius)


def predicted_false_positive(n_bits: int, bits_per_word: int, n_words: int, words_flexible: int, radius: int) -> float:
    """Return the probability of still finding a sentence with one word more than allowed."""
    return within_probability(n_bits, bits_per_word, n_words, words_flexible + 1, radius)


def radius_for(n_bits: int, bits_per_word: int, n_words: int, words_flexible: int, max_false_positive: float) -> int | None:
    """Return the largest radius whose predicted false positives stay within the limit; None if even radius 0 does not."""
    radius = None
    for larger in range(n_bits + 1):
        if predicted_false_positive(n_bits, bits_per_word, n_words, words_flexible, larger) > max_false_positive:
            break
        radius = larger
    return radius


def longest_with_radius(n_bits: int, bits_per_word: int, words_flexible: int, max_false_positive: float) -> int:
    """Return the most words of a sentence for which `radius_for` finds a radius: the more words, the fewer bits are unset."""
    found, too_many = 0, 1 << 20  # by then all bits are set
    while too_many - found > 1:
        middle = (found + too_many) // 2
        is_kept = predicted_false_positive(n_bits, bits_per_word, middle, words_flexible, 0) <= max_false_positive
        found, too_many = (middle, too_many) if is_kept else (found, middle)
    return found


def bits_per_word_for(n_bits: int, vocabulary_size: int) -> int | None:
    """Return the fewest bits that give every word of the vocabulary a mask of its own; None if there are not so many masks."""
    return next((n for n in range(1, n_bits // 2 + 1) if comb(n_bits, n) >= vocabulary_size), None)


def lossless_radius(bits_per_word: int, n_different_words: int) -> int:
    """Return the radius that loses no pair of sentences with this many differing words, counted on both sides together."""
    return bits_per_word * n_different_words


class Pieces(NamedTuple):
    """How signatures are cut: `n_pieces` pieces of about equal width, the highest bits first, a directory for each.

    A directory has 2^`directory_bits` + 1 entries: where the rows with each value of these bits begin in the table.
    """

    n_pieces: int
    directory_bits: int


@dataclass(frozen=True)
class BitTables:
    """The tables of a collection, one per piece: `rows` and `starts` contain those of all pieces, concatenated.

    A table is the rows in increasing order of their signatures, rotated to begin with the piece; rows with equal signatures are
    in order.
    """

    rows: Rows
    starts: NDArray[np.uint32]
    n_bits: int


def pieces_of(n_rows: int, n_bits: int) -> Pieces:
    """Return how the signatures of `n_rows` rows are cut.

    A piece has at most log2(n) + 2 bits, so that few rows have the same ones. Measured with a million rows and radius 0 to 5:
    one piece fewer takes up to seven times as long, one more takes longer at most radii. Pieces are runs of bits: masks place
    bits at random, so frequent and correlated bits are already spread over the pieces. Interleaved bits took as long; bits
    distributed by frequency took 0.65 to 1.3 times as long.
    """
    _check_bits(n_bits)
    if n_rows >= _MAX_ROWS:
        raise ValueError(f"{n_rows} rows are too many for one table")
    width = max(MIN_BITS, n_rows.bit_length() + 2)
    return Pieces(-(-n_bits // width), min(n_bits, max(0, (n_rows // 4).bit_length() - 1)))


def build_tables(signatures: Signatures, n_bits: int) -> BitTables:
    """Return the tables of a collection; signature i is row i."""
    n = signatures.shape[-1]
    n_pieces, directory_bits = pieces_of(n, n_bits)
    n_starts = (1 << directory_bits) + 1
    rows = np.empty(n_pieces * n, np.uint32)
    starts = np.zeros(n_pieces * n_starts, np.uint32)
    for piece, begin in enumerate(_begins(n_pieces, n_bits)[:-1]):
        keys = _rotated(_planes(signatures), n_bits, begin)
        rows[piece * n : (piece + 1) * n] = stable_order(keys[0]) if len(keys) == 1 else np.lexsort(keys)
        if directory_bits:
            head = _shifted(keys, directory_bits - n_bits)[0]
            sizes = np.bincount(head.view(np.int64), minlength=n_starts - 1)
        else:
            sizes = np.array([n])
        starts[piece * n_starts + 1 : (piece + 1) * n_starts] = np.cumsum(sizes)
    return BitTables(rows, starts, n_bits)


def search(tables: BitTables, signatures: Signatures, queries: Signatures, radius: int) -> tuple[NDArray[np.int64], Rows]:
    """Return the rows at most `radius` bits from each query, in increasing order: those of query q are `rows[first[q] : first[q
    + 1]]`.

    Exact for any signatures. Whatever their distribution, a query costs at most about one and a half times as much as a scan.
    """
    n, n_bits = signatures.shape[-1], tables.n_bits
    n_pieces, directory_bits = pieces_of(n, n_bits)
    _check_radius(radius)
    if len(tables.rows) != n_pieces * n or len(tables.starts) != n_pieces * ((1 << directory_bits) + 1):
        raise ValueError(f"tables of {len(tables.rows)} entries do not belong to {n} signatures")
    # In the directories, the search takes about one step for each choice of bits that may differ. If that alone exceeds a scan,
    # scan. The rest depends on the distribution of signatures: after the cost of half a scan, the kernel gives up on a query.
    ways = sum(
        comb(min(width, directory_bits), n_unlike)
        for width, limit in zip(np.diff(_begins(n_pieces, n_bits)).tolist(), _limits(n_pieces, radius), strict=True)
        for n_unlike in range(min(limit, width) + 1)
    )
    if bits_kernels.STEP_COST * ways > n:
        return scan(signatures, queries, radius)
    return _search_tables(tables, signatures, queries, radius, n // 2)


def _search_tables(
    tables: BitTables, signatures: Signatures, queries: Signatures, radius: int, max_work: int
) -> tuple[NDArray[np.int64], Rows]:
    """Return what `search` returns; a query falls back to a scan only after `max_work`, in rows of a scan."""
    n_bits = tables.n_bits
    n_rows, planes = signatures.shape[-1], _planes(signatures)
    n_pieces, directory_bits = pieces_of(n_rows, n_bits)
    begins = _begins(n_pieces, n_bits)
    limits = np.array(_limits(n_pieces, radius))
    every_bit = (1 << n_bits) - 1
    of_piece = [(every_bit >> begins[p]) ^ (every_bit >> begins[p + 1]) for p in range(n_pieces)]
    shifts = [PLANE_BITS * plane for plane in range(len(planes))]
    masks = np.array([mask >> shift & (1 << PLANE_BITS) - 1 for mask in of_piece for shift in shifts], np.uint64)
    given = bits_kernels.Tables(planes, frozen(tables.rows), frozen(tables.starts), n_bits, directory_bits)
    pieces = bits_kernels.Pieces(np.array(begins), masks, limits)
    asked = _planes(queries)
    stack = np.empty((n_bits + 1, 5), np.int64)

    def run(query_from: int, ends: NDArray[np.int64], results: Rows) -> int:
        return int(bits_kernels.search(given, pieces, asked, radius, max_work, query_from, stack, ends, results))

    return _gather(run, queries.shape[-1], n_rows)


def scan(signatures: Signatures, queries: Signatures, radius: int) -> tuple[NDArray[np.int64], Rows]:
    """Return what `search` returns, by comparing each query with every signature."""
    _check_radius(radius)
    given, asked = _planes(signatures), _planes(queries)

    def run(query_from: int, ends: NDArray[np.int64], results: Rows) -> int:
        return int(bits_kernels.scan(given, asked, radius, query_from, ends, results))

    return _gather(run, queries.shape[-1], signatures.shape[-1])


def _gather(run: Callable[[int, NDArray[np.int64], Rows], int], n_queries: int, n_rows: int) -> tuple[NDArray[np.int64], Rows]:
    """Run a kernel over all queries; it stops whenever the results outgrow their room."""
    first = np.zeros(n_queries + 1, np.int64)
    ends = np.empty(n_queries, np.int64)
    results = np.empty(max(n_rows, _MIN_ROOM), np.uint32)
    parts = [results[:0]]
    query = 0
    while query < n_queries:
        end = run(query, ends, results)
        first[query + 1 : end + 1] = first[query] + ends[query:end]
        parts.append(results[: ends[end - 1]].copy())
        query = end
    return first, np.concatenate(parts)


def _begins(n_pieces: int, n_bits: int) -> list[int]:
    """Return where the pieces begin, in bits from the highest one, and where the last one ends."""
    return [n_bits * piece // n_pieces for piece in range(n_pieces + 1)]


def _limits(n_pieces: int, radius: int) -> list[int]:
    """Return how many bits each piece may differ in (-1: left out) so that no signature within the radius is lost."""
    a, b = divmod(radius, n_pieces)
    return [a if piece <= b else a - 1 for piece in range(n_pieces)]


def _rotated(planes: Sequence[NDArray[np.uint64]], n_bits: int, begin: int) -> tuple[NDArray[np.uint64], ...]:
    """Return the signatures rotated to begin with a bit, counted from the highest one."""
    highest = np.uint64((1 << n_bits - PLANE_BITS * (len(planes) - 1)) - 1)
    keys = (*planes[:-1], planes[-1] & highest)
    if begin:
        both = zip(_shifted(keys, begin), _shifted(keys, begin - n_bits), strict=True)
        keys = tuple(high | low for high, low in both)
        keys = (*keys[:-1], keys[-1] & highest)
    return keys


def _shifted(planes: Sequence[NDArray[np.uint64]], by: int) -> tuple[NDArray[np.uint64], ...]:
    """Return signatures whose bits are moved to the higher end, or to the lower one if `by` is negative; others are 0."""
    whole, part = divmod(by, PLANE_BITS)
    moved = []
    for plane in range(len(planes)):
        value = np.zeros_like(planes[0])
        for source, shift in ((plane - whole, part), (plane - whole - 1, part - PLANE_BITS)):
            if 0 <= source < len(planes) and -PLANE_BITS < shift < PLANE_BITS:
                value |= planes[source] << np.uint64(shift) if shift >= 0 else planes[source] >> np.uint64(-shift)
        moved.append(value)
    return tuple(moved)


def _check_bits(n_bits: int) -> None:
    if not MIN_BITS <= n_bits <= MAX_BITS:
        raise ValueError(f"n_bits = {n_bits} is not between {MIN_BITS} and {MAX_BITS}")


def _check_radius(radius: int) -> None:
    if radius < 0:
        raise ValueError(f"radius = {radius} is below 0")
