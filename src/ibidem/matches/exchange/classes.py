"""Classes of similar sentences over all partitions: what `matches.join_types` finds, although no partition has all types.

The home of a type is the partition of its digest. A type similar to no other needs no class but its digest. So only the others
are sent to the documents that contain them, with the sets by which they are compared: they are few, and nothing else moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import CLASSED, PlacedDocuments, distinct_pairs, in_order, placed_documents, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of, take_ranges
from ibidem.config import SET_SIGNATURES, Config
from ibidem.execution.flow import Flow, Inputs, PartedTable, Parts, Sender, Sent, lookup, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.matches.exchange.inverted_index import list_postings
from ibidem.matches.exchange.join import SetSender, join_sets, sorted_sets
from ibidem.sentences.exchange import names_of
from ibidem.signatures.exact import SIGNATURE as EXACT
from ibidem.signatures.exchange.sentence_types import (
    CLASSES,
    Maker,
    TokenSender,
    collapse,
    emit_classes,
    signature_maker,
    tokens_of,
)

_KEYS = pa.schema([("key", pa.uint64()), ("digest", pa.uint64())])
_ANSWERS = pa.schema([("digest", pa.uint64()), ("class", pa.uint64()), ("set", pa.list_(pa.uint64()))])


def classify_documents(
    flow: Flow, split: Parts[Collection], config: Config, progress: Progress, then: Sequence[Sender[PlacedDocuments]] = ()
) -> dict[str, PartedTable]:
    """Return the `documents` with the classes of their sentences, and what the senders give.

    The tables made for this, `seen` and `words`, are taken from `split`.
    """
    layout = flow.layout
    n_documents = progress.counts["documents"]
    words = split.take_table("words") if "words" in split.tables else None
    make = signature_maker(flow, words, config, n_documents)
    del words
    are_sorted = config.signatures.signature in SET_SIGNATURES
    sender = SetSender(make) if are_sorted else TokenSender()
    types = collapse(flow, split.take_table("seen"), config.sentences.hash_seed, progress, sender)
    listed = {"postings": list_postings(flow, split.table("texts"), make, config)} if config.matches.postings else {}
    if are_sorted:
        sets, classes = join_sets(flow, types, config, layout)
    else:
        sets, classes = types["types"], _classes_of_keys(flow, types["types"], make, layout)
    answers = {"answers": _answer(flow, classes, sets, types["askers"], are_sorted), "shared": types["shared"]}
    del sets, classes, types
    return _put_in(flow, {"documents": split.table("documents"), **answers}, config, then) | listed


def postings_of_digests(flow: Flow, texts: PartedTable, config: Config) -> PartedTable:
    """Return the postings of sentences that are known by all their words in order."""
    return list_postings(flow, texts, partial(EXACT.key, vocabulary=None, config=config.signatures), config)


def _classes_of_keys(flow: Flow, types: PartedTable, make: Maker, layout: Layout) -> list[PartedTable]:
    """Return the classes of types that share their key with others, and of those without a key."""

    def find_keys(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            digests, keys = table["digest"].to_numpy(), make(tokens_of(table))
            known = keys != 0
            routes = route_by_hash(keys[known], layout.n_partitions)
            yield Sent("keys", table_of([keys[known], digests[known]], _KEYS), routes)
            yield emit_classes(digests[~known], np.zeros(int((~known).sum()), np.uint64), layout)

    def share(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        keys, digests = (tables["keys"][name].to_numpy() for name in _KEYS.names)
        _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[which] > 1
        yield emit_classes(digests[shared], keys[shared], layout)

    found = flow.map("keys", types, find_keys, {"keys": _KEYS, "classes": CLASSES})
    return [found["classes"], flow.reduce("keys-shared", {"keys": found["keys"]}, share, {"classes": CLASSES})["classes"]]


def _answer(flow: Flow, classes: list[PartedTable], sets: PartedTable, askers: PartedTable, are_sorted: bool) -> PartedTable:
    """Return the types that share a class with others, with their sets, in every partition that has such sentences."""

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, NDArray[np.int64]]:
        digests, names = (known["classes"][name].to_numpy() for name in CLASSES.names)
        order = np.argsort(digests)
        digests, names = digests[order], names[order]
        sets = known["sets"]
        types = sets["digest"].to_numpy()
        by_type = np.argsort(types)
        place = np.searchsorted(types[by_type], digests)
        has_set = place < len(types)  # types without a signature have none
        has_set[has_set] = types[by_type[place[has_set]]] == digests[has_set]
        index = pa.array(by_type[np.minimum(place, max(0, len(types) - 1))] if len(types) else place, mask=~has_set)
        found = sets["set"].take(index).fill_null(pa.scalar([], sets["set"].type))
        answers = table_of([digests, names, found if are_sorted else sorted_sets(found)], _ANSWERS)
        chosen = distinct_pairs(asked["digest"].to_numpy(), asked["asker"].to_numpy())
        wanted = asked["digest"].to_numpy()[chosen]
        at = np.searchsorted(digests, wanted)
        has_class = at < len(digests)
        has_class[has_class] = digests[at[has_class]] == wanted[has_class]
        return answers.take(pa.array(at[has_class])), chosen[has_class]

    return lookup(flow, "classes", askers, {"classes": classes, "sets": sets}, answer, _ANSWERS)


def _put_in(flow: Flow, given: Inputs, config: Config, then: Sequence[Sender[PlacedDocuments]]) -> dict[str, PartedTable]:
    """Put the classes, and the sets by which sentences are compared, into the documents at home."""
    layout = flow.layout
    outputs = {"documents": CLASSED}
    for sender in then:
        outputs |= sender.gives

    def put_in(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        answers = tables["answers"].take(pa.array(np.argsort(tables["answers"]["digest"].to_numpy()))).combine_chunks()
        known, names = answers["digest"].to_numpy(), answers["class"].to_numpy()
        sizes, hashes = lengths(answers, "set"), flat(answers, "set")
        first = starts_of(sizes)
        digests, counts = flat(table, "digest"), lengths(table, "digest")
        if tables["shared"].num_rows:
            is_shared = np.isin(digests, tables["shared"]["digest"].to_numpy())
            digests = np.where(is_shared, names_of(digests, flat(table, "check")), digests)
        at = np.searchsorted(known, digests)
        hit = at < len(known)
        hit[hit] = known[at[hit]] == digests[hit]
        classes = digests.copy()
        classes[hit] = names[at[hit]]
        compared = np.flatnonzero(hit & (classes != 0))
        document_first = np.cumsum(counts) - counts
        document = np.repeat(np.arange(len(counts)), counts)[compared]
        of_document = np.bincount(document, minlength=len(counts))
        set_sizes = sizes[at[compared]]
        sets = take_ranges(hashes, first[at[compared]], set_sizes)
        of_sets = np.bincount(document, set_sizes, len(counts)).astype(np.int64)
        lists = [
            as_lists(digests, counts, pa.uint64()),
            as_lists(classes, counts, pa.uint64()),
            as_lists(compared - document_first[document], of_document, pa.int32()),
            as_lists(set_sizes, of_document, pa.int32()),
            as_lists(sets, of_sets, pa.uint64()),
        ]
        table = table_of([*table.drop_columns(["digest", "check"]).columns, *lists], CLASSED)
        yield Sent("documents", table, partition)
        for sender in then:
            yield from sender(placed_documents(table, config, layout), layout)

    return flow.reduce("classed", given, put_in, outputs)
