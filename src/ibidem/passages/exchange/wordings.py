"""Wordings of families over many partitions: the words of a first place go to the homes of its other wordings, once to each.

Families are found where their places meet, but texts are at home. Only words of first places are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import numbered
from ibidem.columns.parted_tables import in_order, portions, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.passages.wordings import PlaceTexts, other_wordings, shared_words

Numbers = NDArray[np.int64]
_PLACE = ("document", "start", "end")
# The first places of families, at home, and where their words are wanted.
FIRST_PLACES = pa.schema([*((name, pa.int64()) for name in _PLACE), ASKER])
# Another wording of a family, at home, and the first place of its family. A family has a number where it was found.
OTHER_WORDINGS = pa.schema(
    [(name, pa.int64()) for name in ("found_at", "family", "variant", *_PLACE, *(f"first_{name}" for name in _PLACE))]
)
_WORDS = pa.schema([*((name, pa.int64()) for name in _PLACE), ("words", pa.list_(pa.uint64()))])
_SIMILAR = pa.schema([("family", pa.int64()), ("variant", pa.int64()), ("similarity", pa.float64())])
_MOST_SENT_CHARS = 4 << 20


def sent_wordings(found: pa.Table, layout: Layout) -> Iterator[Sent]:
    """Yield what has to be compared: `first_places` and `other_wordings` of families, one row per place."""
    family, variant, is_first = (found[name].to_numpy() for name in ("family", "variant", "is_first"))
    rows, _ = other_wordings(family, variant)
    heads = np.flatnonzero(is_first)[np.searchsorted(family[is_first], family[rows])]
    places, firsts = ([found[name].to_numpy()[at] for name in _PLACE] for at in (rows, heads))
    homes = layout.home(places[0])
    wordings = [found["found_at"].to_numpy()[rows], family[rows], variant[rows], *places, *firsts]
    yield Sent("other_wordings", table_of(wordings, OTHER_WORDINGS), homes)
    _, example = numbered(*firsts, homes)
    asked = [column[example] for column in (*firsts, homes)]
    yield Sent("first_places", table_of(asked, FIRST_PLACES), layout.home(asked[0]))


def compare_wordings(
    flow: Flow, found: PartedTable, sent: Mapping[str, PartedTable], texts: PartedTable, config: Config
) -> PartedTable:
    """Return the rows of families with their similarity to the first place."""
    seed = config.sentences.hash_seed

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        asked = tables["first_places"]
        if asked.num_rows == 0:
            return
        document, start, end, asker = (asked[name].to_numpy() for name in FIRST_PLACES.names)
        places = _placed(tables["texts"], document, start, end)
        for begin, stop in portions(end - start + 1, _MOST_SENT_CHARS):
            chosen = np.arange(begin, stop)
            words, first = places.sorted_words(chosen, seed)
            columns = [document[chosen], start[chosen], end[chosen], as_lists(words, np.diff(first), pa.uint64())]
            yield Sent("words", table_of(columns, _WORDS), asker[chosen].astype(np.int64))

    def compare(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wordings, words = tables["other_wordings"], tables["words"].combine_chunks()
        if wordings.num_rows == 0:
            return
        found_at, family, variant, document, start, end, *firsts = (wordings[name].to_numpy() for name in OTHER_WORDINGS.names)
        both = (np.concatenate([column, words[name].to_numpy()]) for column, name in zip(firsts, _PLACE, strict=True))
        number, _ = numbered(*both)
        row_of = np.empty(int(number.max()) + 1, np.int64)
        row_of[number[len(document) :]] = np.arange(words.num_rows)
        row = row_of[number[: len(document)]]
        others = flat(words, "words"), starts_of(lengths(words, "words"))
        places = _placed(tables["texts"], document, start, end)
        similarity = np.empty(len(document))
        for begin, stop in portions(end - start + 1, _MOST_SENT_CHARS):
            similarity[begin:stop] = shared_words(places.sorted_words(np.arange(begin, stop), seed), others, row[begin:stop])
        yield Sent("similar", table_of([family, variant, similarity], _SIMILAR), found_at)

    def put_in(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found, similar = in_order(tables["found"], "row"), tables["similar"]
        family, variant = (found[name].to_numpy() for name in ("family", "variant"))
        rows, of_place = other_wordings(family, variant)
        order = np.lexsort((similar["variant"].to_numpy(), similar["family"].to_numpy()))
        known = np.append(similar["similarity"].to_numpy()[order], 1.0)  # in the order of `rows`; the last one is for -1
        assert len(known) == len(rows) + 1
        at = found.schema.names.index("similarity")
        yield Sent("found", found.set_column(at, found.schema.field(at), pa.array(known[of_place])), partition)

    words = flow.reduce("families-firsts", {"first_places": sent["first_places"], "texts": texts}, send, {"words": _WORDS})
    inputs = {"other_wordings": sent["other_wordings"], "texts": texts, **words}
    similar = flow.reduce("families-similar", inputs, compare, {"similar": _SIMILAR})
    return flow.reduce("families-wordings", {"found": found, **similar}, put_in, {"found": found.schema})["found"]


def _placed(texts: pa.Table, document: Numbers, start: Numbers, end: Numbers) -> PlaceTexts:
    """Return places in the texts of their home."""
    documents = in_order(texts.select(["document", "text"]))
    return PlaceTexts(documents["text"], np.searchsorted(documents["document"].to_numpy(), document), start, end)
