"""The words of documents at home, sent while they are split; which words are common; and which sentences are closed.

Only the whole collection knows how often a word occurs, and whether a sentence also appears elsewhere, unchanged: both are
counted where equal ones meet, and what is out of the ordinary is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import Words
from ibidem.alignment.candidates import most_of_rare
from ibidem.alignment.kernels.candidates import SLOT_BITS, STEM_SLOTS
from ibidem.alignment.places import words_of
from ibidem.alignment.quotations import FEW, Rarity, are_wanted, beyond_few, pair_slots
from ibidem.columns.parted_tables import PlacedDocuments, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of
from ibidem.columns.texts import hash_strings
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.sentences.exchange import SplitBatch
from ibidem.sentences.kernels.stems import SENTENCE_BOUND

# The words of a document, in order: stems, and how strongly the text is divided before each; the first word of each sentence,
# and its bytes. `group` is a hash of the user's group, 0 for none.
STEMS = pa.schema(
    [
        ("document", pa.int64()),
        ("group", pa.uint64()),
        ("stems", pa.list_(pa.uint32())),
        ("bounds", pa.list_(pa.uint8())),
        ("sentence_first", pa.list_(pa.int32())),
        ("start_byte", pa.list_(pa.uint32())),
        ("end_byte", pa.list_(pa.uint32())),
    ]
)
# Words by slot; after all slots of words, those of two words in a row, if they matter.
STEM_COUNTS = pa.schema([("slot", pa.uint32()), ("n", pa.int32())])
TOTALS = pa.schema([("n_words", pa.int64())])
# Sentences on the way to where equal ones meet; without a number, they are only counted.
DIGESTS = pa.schema([("digest", pa.uint64()), ("document", pa.int64()), ("sentence", pa.int32())])
STATES = pa.schema([("document", pa.int64()), ("sentence", pa.int32()), ("state", pa.uint8())])
CLOSED, SKIPPED = 1, 2  # states of a sentence: it also appears elsewhere; it has no class, so that it is in no row
_COUNTED = -1


@dataclass(frozen=True)
class WordSender:
    """Sends the words of documents home while their texts are there, and how often stems occur to where they are counted.

    Stems are hashed with the seed of the run, or another one.
    """

    config: Config
    hash_seed: int | None = None

    @property
    def gives(self) -> Mapping[str, pa.Schema]:
        """The tables that it sends."""
        return {"stems": STEMS, "stem_counts": STEM_COUNTS}

    def __call__(self, part: SplitBatch, layout: Layout) -> Iterator[Sent]:
        """Yield what a batch has."""
        collection = part.collection
        words = words_of(collection, in_turn, self.config.sentences.hash_seed if self.hash_seed is None else self.hash_seed)
        n_words, n_sentences = np.diff(words.document_first), np.diff(collection.document_first)
        in_document = words.sentence_first[:-1] - words.document_first[collection.document]
        groups = collection.groups
        group = hash_strings(groups.fill_null("")) | np.uint64(1)
        group[groups.is_null().to_numpy(zero_copy_only=False)] = 0
        columns = [
            part.documents,
            group,
            as_lists(words.stem, n_words, pa.uint32()),
            as_lists(words.bounds[:-1], n_words, pa.uint8()),
            as_lists(in_document, n_sentences, pa.int32()),
            as_lists(collection.start_byte, n_sentences, pa.uint32()),
            as_lists(collection.end_byte, n_sentences, pa.uint32()),
        ]
        yield Sent("stems", table_of(columns, STEMS), layout.home(part.documents))
        slots, counts = np.unique(words.stem >> SLOT_BITS, return_counts=True)
        if are_wanted(self.config.alignment.min_aligned_words):
            of_pairs, pair_counts = np.unique(pair_slots(words), return_counts=True)
            slots, counts = np.append(slots, of_pairs + np.uint32(STEM_SLOTS)), np.append(counts, pair_counts)
        yield Sent("stem_counts", table_of([slots, counts], STEM_COUNTS), slots.astype(np.int64) % layout.n_partitions)


@dataclass(frozen=True)
class SentenceSender:
    """Sends sentences to where equal ones meet. What is certain at once, a state, is sent home."""

    config: Config

    @property
    def gives(self) -> Mapping[str, pa.Schema]:
        """The tables that it sends."""
        return {"digests": DIGESTS, "states": STATES}

    def __call__(self, part: SplitBatch | PlacedDocuments, layout: Layout) -> Iterator[Sent]:
        """Yield the sentences of documents. Of several equal ones, one is sent, and no partition is flooded by a footer."""
        if isinstance(part, SplitBatch):
            part = PlacedDocuments.of(part.documents, part.collection, part.collection.digest, self.config)
        collection, rows = part.collection, part.rows
        document = part.documents[collection.document]
        number = np.arange(len(document)) - collection.document_first[collection.document]
        is_row = np.zeros(len(document), np.bool_)
        is_row[rows.sentence] = True
        sentences = rows.sentence
        digests, first, which, counts = np.unique(
            collection.digest[sentences], return_index=True, return_inverse=True, return_counts=True
        )
        is_repeated = counts > 1
        closed = sentences[is_repeated[which]]
        for chosen, state in ((closed, CLOSED), (np.flatnonzero(~is_row), SKIPPED)):
            columns = [document[chosen], number[chosen], np.full(len(chosen), state, np.uint8)]
            yield Sent("states", table_of(columns, STATES), layout.home(document[chosen]))
        at = sentences[first]
        columns = [digests, document[at], np.where(is_repeated, _COUNTED, number[at])]
        yield Sent("digests", table_of(columns, DIGESTS), route_by_hash(digests, layout.n_partitions))


def find_closed(flow: Flow, digests: PartedTable, layout: Layout) -> PartedTable:
    """Return the states of sentences that appear in several batches, at the homes of their documents."""

    def meet(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        digests, document, sentence = (tables["digests"][name].to_numpy() for name in DIGESTS.names)
        _, which, counts = np.unique(digests, return_inverse=True, return_counts=True)
        chosen = (counts[which] > 1) & (sentence != _COUNTED)
        columns = [document[chosen], sentence[chosen], np.full(int(chosen.sum()), CLOSED, np.uint8)]
        yield Sent("states", table_of(columns, STATES), layout.home(document[chosen]))

    return flow.reduce("sentences-closed", {"digests": digests}, meet, {"states": STATES})["states"]


class CommonStems(NamedTuple):
    """The slots of stems that are not rare, with their counts, and how many words there are."""

    slots: NDArray[np.uint32]
    counts: NDArray[np.int32]
    n_words: int

    def stem_counts(self) -> NDArray[np.int32]:
        """Return counts of stems as kernels read them: none of those that are not listed."""
        return self._counts_from(0)

    def rarity(self) -> Rarity:
        """Return how rare words and two words in a row are, as in memory."""
        return Rarity(beyond_few(self._counts_from(0)), beyond_few(self._counts_from(STEM_SLOTS)), self.n_words)

    def _counts_from(self, first: int) -> NDArray[np.int32]:
        counts = np.zeros(STEM_SLOTS, np.int32)
        chosen = (self.slots >= first) & (self.slots < first + STEM_SLOTS)
        counts[self.slots[chosen] - np.uint32(first)] = self.counts[chosen]
        return counts


def find_common(flow: Flow, counts: PartedTable, n_documents: int, config: Config) -> CommonStems:
    """Return the stems that are too frequent to be rare. They are few: longer texts have no more of them.

    If short quotations are wanted, it is all that a few of them do not explain, and likewise two stems in a row.
    """
    most = most_of_rare(n_documents)
    if are_wanted(config.alignment.min_aligned_words):
        most = min(most, FEW)

    def add_up(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        slots, which = np.unique(tables["counts"]["slot"].to_numpy(), return_inverse=True)
        totals = np.bincount(which, tables["counts"]["n"].to_numpy(), len(slots)).astype(np.int64)
        chosen = totals > most
        listed = np.minimum(totals[chosen], np.iinfo(np.int32).max)
        yield Sent("common", table_of([slots[chosen], listed], STEM_COUNTS), 0)
        yield Sent("totals", table_of([[totals[slots < STEM_SLOTS].sum()]], TOTALS), 0)

    added = flow.reduce("stems-common", {"counts": counts}, add_up, {"common": STEM_COUNTS, "totals": TOTALS})
    common, totals = (flow.collect(added[name]) for name in ("common", "totals"))
    return CommonStems(common["slot"].to_numpy(), common["n"].to_numpy(), int(totals["n_words"].to_numpy().sum()))


def words_in(table: pa.Table) -> Words:
    """Return the words of documents, in order."""
    n_words = lengths(table, "stems")
    first = starts_of(n_words)
    # A copy may be written to, as in memory: for arrays that may not, numba would compile all kernels again.
    stems, bounds = flat(table, "stems").copy(), np.append(flat(table, "bounds"), np.uint8(SENTENCE_BOUND))
    if "sentence_first" not in table.column_names:  # sentences matter only at home
        return Words(stems, bounds, first, first)
    in_document = flat(table, "sentence_first").astype(np.int64)
    sentence_first = in_document + np.repeat(first[:-1], lengths(table, "sentence_first"))
    return Words(stems, bounds, first, np.append(sentence_first, first[-1]))
