"""Items of benchmarks in texts: each text is judged by itself, so it does not matter which others are there.

Four words in a row that an item has lead to it, unless many other items have them, too. From there, text and item are compared
word by word, to both sides, over words that differ: this is a *segment*. Segments that follow one another in both form a
*chain*, chains near one another a *place*, so that it does not matter where lines break, or whether something was put between
two parts of an item. An item is found *whole* in a place with enough of its words, and *in part* where enough of them are
nearly in a row. Time is linear in the text; items only have to fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.clusters.copies import ends_with_space
from ibidem.columns.parted_tables import CHECK_NAMES, table_of
from ibidem.columns.ragged import ranges
from ibidem.columns.text_checks import CheckKey
from ibidem.columns.texts import texts_of
from ibidem.config.contamination_settings import LEAST_ITEM_WORDS, ContaminationConfig
from ibidem.contamination import kernels
from ibidem.contamination.items import Items
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_counted, locate_texts, point_of
from ibidem.sentences.ignored_text import IgnoredText

MOST_GAP_WORDS = 6  # between two segments of a chain
MOST_WORDS_BETWEEN = 200  # two chains of a place
LEAST_CHAIN_WORDS = 8  # that are equal, unless they are nearly all of the item
MOST_FALL = 4  # a segment ends where so many more words differ than are equal
MOST_TRIES = 64  # other diagonals that are tried where a segment is already
NEAR_WORDS = 50  # after a prompt, in which an answer is looked for that has too few words to be looked for everywhere
# Answers of fewer than `LEAST_ITEM_WORDS` words are in any text: they begin among so many words after a prompt, which leaves
# room for "The correct answer is".
DIRECT_WORDS = 5
_OPENING, _CLOSING = "\"'“‘«‹„([{¿¡「『（", "\"'”’»›.,;:!?…)]}」』）。！？"

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# Where an item is: a stretch of a document, and the words of the field that it has. `start` to `end` is the text itself, `cut`
# what to remove for it. `cause` is the field that was found, where a short answer only follows it; one that follows several
# is there once for each, until `with_one_cause` chooses. `n_cut` words of the `n_page` words of the document are in the
# stretch; `first_word` is the first of them.
HITS = pa.schema(
    [
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("source", pa.large_string()),
        ("position", pa.int64()),
        ("n_chars", pa.int64()),
        ("n_page", pa.int64()),
        *((name, pa.uint64()) for name in CHECK_NAMES),
        *((name, pa.int64()) for name in ("field", "cause", "start", "end", "cut_start", "cut_end", "first_word", "n_cut")),
        *((name, pa.int64()) for name in ("item_start", "item_end", "n_words")),
        ("is_whole", pa.bool_()),
        ("share", pa.float64()),
        ("similarity", pa.float64()),
    ]
)
HIT_ORDER = [("document", "ascending"), ("start", "ascending"), ("field", "ascending"), ("end", "ascending"),
             ("cause", "ascending")]  # fmt: skip


@dataclass(frozen=True)
class Chains:
    """Chains: text, distinct text of items, first word and end in both, equal words, place, its equal words, is it whole?"""

    text: Numbers
    item: Numbers
    start: Numbers
    end: Numbers
    item_start: Numbers
    item_end: Numbers
    n_words: Numbers
    place: Numbers
    n_place: Numbers
    is_whole: Truths

    def __len__(self) -> int:
        return len(self.text)


def find_hits(
    batch: pa.RecordBatch, documents: Numbers, items: Items, config: ContaminationConfig, ignored: IgnoredText | None,
    key: CheckKey,
) -> pa.Table:  # fmt: skip
    """Return where items are in a batch of documents, `HITS`, in the order of `HIT_ORDER`."""
    texts = texts_of(batch)
    words = hash_counted(texts, np.arange(len(texts)), items.seed, ignored)
    chains = find_chains(words, items, config)
    if not len(chains):
        return HITS.empty_table()
    of_field = _by_field(chains, items)
    columns = _with_answers(of_field, words, items)
    rows, field = columns["text"], columns["field"]
    first, last = columns["start"], columns["end"] - 1
    start, end = locate_texts(texts, rows, first)[0], locate_texts(texts, rows, last)[1]
    item_start = locate_texts(items.texts, field, columns["item_start"])[0]
    item_end = locate_texts(items.texts, field, columns["item_end"] - 1)[1]
    cut_start, cut_end = _with_marks(texts, rows, start, end)
    # Not the text: it would be copied once for every hit.
    names = {name: batch[name].take(pa.array(rows)) for name in ("id", "source", "position")}
    n_chars = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
    checks = np.empty((len(texts), 2), np.uint64)
    found = np.unique(rows)
    checks[found] = key.of_texts(texts.take(pa.array(found)))
    n_page = np.diff(words.first)
    table = table_of(
        [
            documents[rows], *names.values(), n_chars[rows], n_page[rows], *checks[rows].T,
            field, columns["cause"], start, end, cut_start, cut_end, first, columns["end"] - first, item_start, item_end,
            columns["n_words"], columns["is_whole"], columns["share"], columns["similarity"],
        ],
        HITS,
    )  # fmt: skip
    return table.sort_by(HIT_ORDER)


def find_chains(words: HashedWords, items: Items, config: ContaminationConfig) -> Chains:
    """Return the chains of items in texts that are in a place where the item is found, by text, item and place."""
    of_items, table = items.distinct_words, items.grams
    keys = gram_keys(words, LEAST_ITEM_WORDS, point_of(items.seed))
    places, grams = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    n = kernels.find_grams(keys, table.filter_bits, table.slot_keys, table.slot_grams, places, grams)
    del keys
    segments = _segments(words, places[:n].copy(), grams[:n].copy(), items)
    text = words.documents(segments[:, kernels.START])
    order = np.lexsort((segments[:, kernels.ITEM_START], segments[:, kernels.START], segments[:, kernels.ITEM], text))
    segments, text = np.ascontiguousarray(segments[order]), text[order]
    n_segments = len(segments)
    chain_of, place_of = np.empty(n_segments, np.int64), np.empty(n_segments, np.int64)
    chains, shares = np.empty((n_segments, kernels.CHAIN), np.int64), np.empty((n_segments, 2), np.int64)
    longest = int(np.diff(of_items.first).max(initial=0))
    n_counted = items.n_counted[items.examples]
    whole = config.whole_share.as_integer_ratio()
    n_chains, _ = kernels.join_segments(
        segments, text, words.hashes, of_items.hashes, of_items.first, n_counted, np.array(whole, np.int64),
        np.array([MOST_GAP_WORDS, MOST_WORDS_BETWEEN, LEAST_CHAIN_WORDS], np.int64), np.zeros(longest, np.int64), chain_of,
        chains, place_of, shares,
    )  # fmt: skip
    heads = np.searchsorted(chain_of, np.arange(n_chains))
    item, text, place = segments[heads, kernels.ITEM], text[heads], place_of[:n_chains]
    counts = np.where(place[:, None] >= 0, shares[place] if n_segments else np.empty((0, 2), np.int64), 0)
    is_whole = (place >= 0) & (counts[:, 0] * whole[1] >= n_counted[item] * whole[0])
    is_part = (place >= 0) & (counts[:, 1] >= config.min_part_words) & (config.min_part_words > 0)
    stays = np.flatnonzero(is_whole | is_part)
    start, end, item_start, item_end, same = chains[:n_chains][stays, : kernels.HEAD].T
    return Chains(
        text[stays], item[stays], start - words.first[text[stays]], end - words.first[text[stays]], item_start, item_end,
        np.minimum(same, counts[stays, 0]), place[stays], counts[stays, 0], is_whole[stays],
    )  # fmt: skip


def _segments(words: HashedWords, places: Numbers, grams: Numbers, items: Items) -> Numbers:
    of_items, table = items.distinct_words, items.grams
    room = 2 * len(places) + 16
    while True:
        segments = np.empty((room, kernels.SEGMENT), np.int64)
        state = np.full((items.n_distinct, 2), -1, np.int64)
        n = kernels.extend_grams(
            words.hashes, words.first, places, grams, table.post_first, table.post_text, table.post_word, table.is_anchor,
            of_items.hashes, of_items.first, LEAST_ITEM_WORDS, MOST_FALL, MOST_TRIES, state, segments,
        )  # fmt: skip
        if n >= 0:
            return segments[:n]
        room *= 2


def _by_field(chains: Chains, items: Items) -> dict[str, NDArray[Any]]:
    """Return chains as columns, a row for every field with the text of the item."""
    order, first = items.fields_of_distinct
    counts = np.diff(first)[chains.item]
    row = np.repeat(np.arange(len(chains)), counts)
    field = order[ranges(first[chains.item], counts)]
    lengths = np.maximum(chains.end - chains.start, chains.item_end - chains.item_start)[row]
    columns = {
        "text": chains.text[row], "field": field, "cause": field, "start": chains.start[row], "end": chains.end[row],
        "item_start": chains.item_start[row], "item_end": chains.item_end[row], "n_words": chains.n_words[row],
        "place": chains.place[row], "is_whole": chains.is_whole[row],
    }  # fmt: skip
    n_counted = np.maximum(items.n_counted[field], 1)
    columns["share"] = np.minimum(1.0, chains.n_place[row] / n_counted)
    columns["similarity"] = np.minimum(1.0, columns["n_words"] / np.maximum(lengths, 1))
    return columns


def _with_answers(columns: dict[str, NDArray[Any]], words: HashedWords, items: Items) -> dict[str, NDArray[Any]]:
    """Add short fields of items, word for word, where they soon follow another field that was found whole."""
    partners, first = items.short_partners
    # The last chain of each place, once for each field.
    order = np.lexsort((columns["end"], columns["place"], columns["field"]))
    field, place = columns["field"][order], columns["place"][order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (field[1:] != field[:-1]) | (place[1:] != place[:-1])
    chosen = order[is_last & columns["is_whole"][order]]
    counts = np.diff(first)[columns["field"][chosen]]
    row = np.repeat(chosen, counts)
    if not len(row):
        return columns
    partner = partners[ranges(first[columns["field"][chosen]], counts)]
    text = columns["text"][row]
    begin = words.first[text] + columns["end"][row]
    n_words = np.diff(items.words.first)[partner]
    reach = np.where(n_words < LEAST_ITEM_WORDS, DIRECT_WORDS - 1 + n_words, NEAR_WORDS)
    stop = np.minimum(begin + reach, words.first[text + 1])
    at = np.empty(len(row), np.int64)
    item_first = items.words.first[partner]
    kernels.find_near(words.hashes, begin, stop, items.words.hashes, item_first, item_first + n_words, at)
    found = np.flatnonzero(at >= 0)
    start = at[found] - words.first[text[found]]
    ones, nothing = np.ones(len(found)), np.zeros(len(found), np.int64)
    more = {
        "text": text[found], "field": partner[found], "cause": columns["field"][row[found]], "start": start,
        "end": start + n_words[found], "item_start": nothing, "item_end": n_words[found], "n_words": n_words[found],
        "place": columns["place"][row[found]], "is_whole": np.ones(len(found), np.bool_), "share": ones, "similarity": ones,
    }  # fmt: skip
    _, first_of = np.unique(np.stack([more["text"], more["field"], more["start"], more["cause"]]), axis=1, return_index=True)
    return {name: np.concatenate([column, more[name][first_of]]) for name, column in columns.items()}


def _with_marks(texts: pa.LargeStringArray, rows: Numbers, starts: Numbers, ends: Numbers) -> tuple[Numbers, Numbers]:
    """Return stretches with the quotation marks, brackets and stops around them, and with the space after them."""
    starts, ends = starts.copy(), ends.copy()
    text_of: dict[int, str] = {}
    for piece, row in enumerate(rows.tolist()):
        if row not in text_of:
            text_of = {row: texts[row].as_py()} if len(text_of) > 64 else {**text_of, row: texts[row].as_py()}
        text = text_of[row]
        while starts[piece] > 0 and text[starts[piece] - 1] in _OPENING:
            starts[piece] -= 1
        while ends[piece] < len(text) and text[ends[piece]] in _CLOSING:
            ends[piece] += 1
    return starts, ends_with_space(rows, starts, ends, lambda row: str(texts[row].as_py()))


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the hits of several batches as one table, in order."""
    return pa.concat_tables([HITS.empty_table(), *tables]).sort_by(HIT_ORDER)
