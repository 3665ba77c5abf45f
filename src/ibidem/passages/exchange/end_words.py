"""The ends of passages, and the texts around them at the homes of their documents.

Where sentences are sent to meet others, hashes of the few words around them go with them: by these, nearly all passages that
are found there end where they end. Of the others, the ends are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.distinct import distinct, places_of
from ibidem.columns.hashes import seed_of
from ibidem.columns.parted_tables import table_of
from ibidem.columns.texts import text_buffers, word_bytes
from ibidem.execution.flow import ASKER, Sent
from ibidem.execution.layout import Layout
from ibidem.passages.extension import LEAST_EXTENSION_WORDS, ROOM, EndWords
from ibidem.passages.kernels import extension as kernels
from ibidem.passages.kernels.extension import AFTER, BEFORE
from ibidem.sentences.code_points import load_code_points

Numbers = NDArray[np.int64]
# An end: a place in a document, in characters, and whether what is before it is wanted.
END: list[tuple[str, Any]] = [("document", pa.int64()), ("place", pa.int64()), ("is_before", pa.bool_())]
ASKED = pa.schema([*END, ASKER])  # the text next to these ends is wanted


class Ends(NamedTuple):
    """The ends of passages as numbers: of the document among those that occur, the place in it, and whether it is before.

    `of_passages` has four rows: before and after in a, before and after in b.
    """

    documents: Numbers
    of_passages: Numbers

    @classmethod
    def of(cls, passages: pa.Table) -> Ends:
        """Return the ends of passages."""
        documents = distinct(np.stack([passages[f"{side}_document"].to_numpy() for side in "ab"]))
        ends = []
        for side in "ab":
            of_side = places_of(passages[f"{side}_document"].to_numpy(), documents) << 33
            for end in ("start", "end"):
                ends.append(of_side | passages[f"{side}_{end}"].to_numpy().astype(np.int64) << 1 | (end == "start"))
        return cls(documents, np.stack(ends))

    def of_rows(self, table: pa.Table) -> Numbers:
        """Return the numbers of ends that are rows of a table."""
        document, place, is_before = (table[name].to_numpy() for name, _ in END)
        numbers: Numbers = places_of(document, self.documents) << 33 | place << 1 | is_before
        return numbers

    def flagged(self, flags: NDArray[np.uint8]) -> Numbers:
        """Return the numbers, each once, of the ends on both sides that passages have flags of."""
        before, after = (self.of_passages[k::2][:, flags & flag != 0] for k, flag in ((0, BEFORE), (1, AFTER)))
        return distinct(np.concatenate([before, after], axis=None))

    def asked(self, ends: Numbers, asker: int, layout: Layout) -> Sent:
        """Ask the homes of the documents for the text next to these ends."""
        documents, places, is_before = self.documents[ends >> 33], (ends >> 1) & ((1 << 32) - 1), (ends & 1).astype(np.bool_)
        columns = [documents, places, is_before, np.full(len(ends), asker)]
        return Sent("asked", table_of(columns, ASKED), layout.home(documents))


def ask_for_texts(passages: pa.Table, layout: Layout) -> Iterator[Sent]:
    """Ask for the text next to the ends of passages (`pairs.OPEN`) that may move; the homes of a get the answers."""
    homes = layout.home(passages["a_document"].to_numpy())
    for home in distinct(homes).tolist():
        here = passages.filter(pa.array(homes == home))
        ends = Ends.of(here)
        yield ends.asked(ends.flagged(here["may_move"].to_numpy()), home, layout)


class FoundPlaces(NamedTuple):
    """Places that are in one chunk of texts: which of them, the bytes, and where texts begin, end, and places are."""

    rows: Numbers
    data: NDArray[np.uint8]
    begins: Numbers
    ends: Numbers
    at: Numbers


def find_places(documents: Numbers, places: Numbers, texts: pa.Table) -> Iterator[FoundPlaces]:
    """Yield places, in characters, by chunk of the texts in which they are: by document, then by place."""
    known = texts["document"].to_numpy()
    order = np.argsort(known, kind="stable")
    row_of = order[places_of(documents, known[order])]
    first = 0
    for chunk in texts["text"].chunks:
        here = np.flatnonzero((row_of >= first) & (row_of < first + len(chunk)))
        place = row_of[here] << 33 | places[here]
        if (place[1:] < place[:-1]).any():
            here = here[np.argsort(place, kind="stable")]
        data, offsets = text_buffers(chunk)
        begins, ends = (offsets[row_of[here] - first + k] for k in range(2))
        at = np.empty(len(here), np.int64)
        data = word_bytes(data)
        kernels.find_places(data, begins, ends, places[here], at)
        first += len(chunk)
        yield FoundPlaces(here, data, begins, ends, at)


def words_around(
    is_chosen: NDArray[np.bool_], documents: Numbers, collection: Collection, texts: pa.Table, hash_seed: int
) -> EndWords:
    """Return what is known of the words around sentences of documents, given their `texts`: of the chosen ones, hashes; around
    the others, there may be any.
    """
    chosen = np.flatnonzero(is_chosen)
    ends = np.stack([collection.start_char[chosen], collection.end_char[chosen]], axis=1).astype(np.int64)
    words = np.zeros(2 * len(chosen), np.uint16)
    for found in find_places(np.repeat(documents[collection.document[chosen]], 2), ends.reshape(-1), texts):
        some = np.empty(len(found.rows), np.uint16)
        kernels.hash_places(
            found.data, found.begins, found.ends, found.at, found.rows % 2 == 0, LEAST_EXTENSION_WORDS, load_code_points(),
            seed_of(hash_seed), np.empty(ROOM, np.uint64), some,
        )  # fmt: skip
        words[found.rows] = some
    around = EndWords.unknown(len(is_chosen))
    around.before[chosen], around.after[chosen] = words[::2], words[1::2]
    return around
