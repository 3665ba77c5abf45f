"""The items of benchmarks: their fields with prompts and answers, read from files or objects, and what finds them in texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts, numbered
from ibidem.columns.hashes import draw_seed
from ibidem.columns.ragged import ranges, starts_of, take_ranges
from ibidem.columns.text_checks import CheckKey
from ibidem.config import Config
from ibidem.config.contamination_settings import LEAST_ITEM_WORDS
from ibidem.contamination import kernels
from ibidem.model import Skipped
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_counted, point_of
from ibidem.sentences.ignored_text import IgnoredText, load_ignored

PROMPT, ANSWER = "prompt", "answer"
ROLES = (PROMPT, ANSWER)
MOST_SHARING = 10  # a gram in more items than this leads to none of them, unless an item has no rarer one
_FILTER_BITS_A_KEY = 16
_FIRST_NUMBER = 1 << 31

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]

# A field of an item: the number and the name of its benchmark, the number and the id of its item, and where it was read.
FIELDS = pa.schema(
    [
        ("benchmark", pa.int64()),
        ("name", pa.large_string()),
        ("item", pa.int64()),
        ("id", pa.large_string()),
        ("field", pa.large_string()),
        ("role", pa.string()),
        ("source", pa.large_string()),
        ("position", pa.int64()),
    ]
)


class GramTable(NamedTuple):
    """The grams that lead to texts: a hash table of their keys, and for each gram the texts and the words where it begins."""

    filter_bits: Keys
    slot_keys: Keys
    slot_grams: Numbers
    post_first: Numbers
    post_text: Numbers
    post_word: Numbers
    is_anchor: NDArray[np.bool_]

    @classmethod
    def of(cls, keys: Keys, text: Numbers, word: Numbers) -> GramTable:
        """Return the table of grams, given the key, the text and the place of each; keys are not 0.

        Of equal grams of a text, the first leads to it. The rarest gram of a text is its anchor.
        """
        order = np.lexsort((word, text, keys))
        keys, text, word = keys[order], text[order], word[order]
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = (keys[1:] != keys[:-1]) | (text[1:] != text[:-1])
        keys, text, word = keys[is_new], text[is_new], word[is_new]
        heads = firsts(keys)
        n_texts = np.diff(np.append(heads, len(keys)))
        n_sharing = np.repeat(n_texts, n_texts)
        by_text = np.lexsort((word, n_sharing, text))
        is_anchor = np.zeros(len(keys), np.bool_)
        is_anchor[by_text[firsts(text[by_text])]] = True
        chosen = is_anchor | (n_sharing <= MOST_SHARING)
        keys, text, word, is_anchor = keys[chosen], text[chosen], word[chosen], is_anchor[chosen]
        heads = firsts(keys)
        distinct = keys[heads]
        filter_bits = np.zeros(1 << max(10, (_FILTER_BITS_A_KEY * len(distinct)).bit_length() - 6), np.uint64)
        slot_keys = np.zeros(1 << max(4, (2 * len(distinct)).bit_length()), np.uint64)
        slot_grams = np.zeros(len(slot_keys), np.int64)
        kernels.fill_table(distinct, filter_bits, slot_keys, slot_grams)
        return cls(filter_bits, slot_keys, slot_grams, np.append(heads, len(keys)), text, word, is_anchor)


@dataclass(frozen=True)
class Items:
    """The fields of all items of benchmarks (`fields`, one row each, of `FIELDS`), with their `texts` and `words`.

    Fields with the same words are one *distinct text*: `distinct` has its number for each field, -1 for those with too few
    words to be looked for. `n_counted` are the words of each field that are not ignored. The ids of a benchmark's items are
    distinct.
    """

    names: Sequence[str]
    fields: pa.Table
    texts: pa.LargeStringArray
    words: HashedWords
    n_counted: Numbers
    distinct: Numbers
    seed: int
    inputs: Sequence[Mapping[str, Any]]
    skipped: Sequence[tuple[str, Skipped]]  # each with the name of its benchmark

    def __len__(self) -> int:
        return len(self.distinct)

    @property
    def n_distinct(self) -> int:
        """Number of distinct texts."""
        return int(self.distinct.max(initial=-1)) + 1

    @cached_property
    def fields_of_distinct(self) -> tuple[Numbers, Numbers]:
        """The fields with each distinct text, concatenated, and where those of each begin."""
        order = np.argsort(self.distinct, kind="stable")
        order = order[self.distinct[order] >= 0]
        return order, np.searchsorted(self.distinct[order], np.arange(self.n_distinct + 1))

    @cached_property
    def examples(self) -> Numbers:
        """The first field with each distinct text."""
        order, first = self.fields_of_distinct
        examples: Numbers = order[first[:-1]]
        return examples

    @cached_property
    def distinct_words(self) -> HashedWords:
        """The words of the distinct texts."""
        return self.words_of(self.examples)

    @cached_property
    def grams(self) -> GramTable:
        """What leads to the distinct texts."""
        words = self.distinct_words
        keys = gram_keys(words, LEAST_ITEM_WORDS, point_of(self.seed))
        place = np.flatnonzero(keys)
        text = words.documents(place)
        return GramTable.of(keys[place], text, place - words.first[text])

    @cached_property
    def short_partners(self) -> tuple[Numbers, Numbers]:
        """The fields of the same item that are too short to be looked for, and where those of each field begin."""
        item = self.fields["item"].to_numpy()
        short = np.flatnonzero((self.distinct < 0) & self._may_follow)
        order = short[np.argsort(item[short], kind="stable")]
        begins, ends = (np.searchsorted(item[order], item, side=side) for side in ("left", "right"))
        counts = np.where(self.distinct >= 0, ends - begins, 0)
        return order[ranges(begins, counts)], starts_of(counts)

    @property
    def _may_follow(self) -> NDArray[np.bool_]:
        """Which fields mean something after a prompt: a number, or three characters; a single letter is there by chance."""
        texts = self.texts.to_pylist()
        return np.array([len(text.strip()) > 2 or any(map(str.isdigit, text)) for text in texts], np.bool_) & (
            np.diff(self.words.first) > 0
        )

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], int]:
        names = (self.fields[name].to_pylist() for name in ("name", "id", "field"))
        return {name: row for row, name in enumerate(zip(*names, strict=True))}

    def text_of(self, benchmark: str, item: str, field: str) -> str:
        """Return the text of a field."""
        text: str = self.texts[self._rows[benchmark, item, field]].as_py()
        return text

    def words_of(self, fields: Numbers) -> HashedWords:
        """Return the words of some fields."""
        counts = np.diff(self.words.first)[fields]
        return HashedWords(take_ranges(self.words.hashes, self.words.first[fields], counts), starts_of(counts))


def prepare(
    names: list[str], fields: pa.Table, texts: pa.LargeStringArray, inputs: list[Mapping[str, Any]],
    skipped: list[tuple[str, Skipped]], config: Config,
) -> Items:  # fmt: skip
    """Return items, given their fields (`FIELDS`), by item, and the texts of these."""
    seed = draw_seed()
    ignored: IgnoredText | None = load_ignored(config.sentences.ignore)
    # Numbers that no text of a batch has: their ignored words are unlike these.
    words = hash_counted(texts, _FIRST_NUMBER + np.arange(len(texts)), seed, ignored)
    n_counted = np.diff(words.first)
    if ignored is not None:
        n_ignored = starts_of(ignored.words(texts)[1])
        n_counted = n_counted - (n_ignored[words.first[1:]] - n_ignored[words.first[:-1]])
    distinct = np.full(len(texts), -1, np.int64)
    long = np.flatnonzero(n_counted >= config.contamination.min_item_words)
    if len(long):
        plain = words if ignored is None else hash_counted(texts, np.arange(len(texts)), seed, None)
        counts = np.diff(plain.first)[long]
        checks = CheckKey(seed).of_tokens(take_ranges(plain.hashes, plain.first[long], counts), starts_of(counts))
        number, example = numbered(*checks.T)
        in_order = np.empty(len(example), np.int64)
        in_order[np.argsort(example, kind="stable")] = np.arange(len(example))
        distinct[long] = in_order[number]
    return Items(names, fields, texts, words, n_counted, distinct, seed, inputs, skipped)
