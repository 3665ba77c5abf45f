"""Types over all partitions: sentences of one digest and check are one type, and signatures are made once per type."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of, take_ranges
from ibidem.columns.texts import text_buffers
from ibidem.config import Config, SignaturesConfig
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sender, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.sentences import tokenise_spans
from ibidem.sentences.exchange import SplitBatch, names_of
from ibidem.signatures import TypeTokens, load_signature
from ibidem.signatures.exchange.vocabulary import WORDS, count_words, counts_words, spot_words, words_by_documents
from ibidem.signatures.fingerprint import most_documents
from ibidem.signatures.imatch import idf_of
from ibidem.signatures.known_words import KnownWords, outside_counts, stop_hashes

# The types that documents of a partition have, with their texts: not every sentence, so no footer floods a partition.
SEEN = pa.schema([("digest", pa.uint64()), ("check", pa.uint64()), ("home", pa.int32()), ("text", pa.large_binary())])
# The tokens of each type, in order, at the partition of its digest; and the partitions with such sentences.
TYPES = pa.schema([("digest", pa.uint64()), ("set", pa.list_(pa.uint64()))])
ASKERS = pa.schema([("digest", pa.uint64()), ASKER])
# Digests that different sentences share, at the homes of these: such sentences are known by `names_of` digest and check.
SHARED = pa.schema([("digest", pa.uint64())])
# The class of a type, at the same partition; 0: it matches nothing.
CLASSES = pa.schema([("digest", pa.uint64()), ("class", pa.uint64())])
_COUNTS = pa.schema([("n_types", pa.int64()), ("n_tokens", pa.int64())])

Maker = Callable[[TypeTokens], Any]


@dataclass(frozen=True)
class TypeSender:
    """Sends the types of documents with their texts and, if the signature needs them, the counts of their words."""

    config: Config

    @property
    def gives(self) -> Mapping[str, pa.Schema]:
        """The tables that it sends."""
        return {"seen": SEEN} | ({"words": WORDS} if counts_words(self.config, self.config.signatures.signature) else {})

    def __call__(self, part: SplitBatch, layout: Layout) -> Iterator[Sent]:
        """Yield what a batch has."""
        yield from _seen(part, layout)
        if counts_words(self.config, self.config.signatures.signature):
            collection = part.collection
            names = names_of(collection.digest, collection.checks[:, 1])
            counted = replace(collection, digest=names, hash_seed=self.config.sentences.hash_seed)
            yield count_words(counted, layout)


def _seen(part: SplitBatch, layout: Layout) -> Iterator[Sent]:
    """Yield the types of a batch with their texts, once for every partition that their documents live in."""
    collection, batch, documents = part.collection, part.batch, part.documents
    data, offsets = text_buffers(batch.column("text"))
    checks = collection.checks[:, 0]
    home_of = layout.home(documents)
    homes = home_of[collection.document]
    begins = offsets[collection.document] + collection.start_byte
    sizes = (collection.end_byte - collection.start_byte).astype(np.int64)
    for home in np.unique(home_of):
        here = np.flatnonzero(homes == home)
        chosen = here[np.sort(_different(collection.digest[here], checks[here]))]
        texts_of_types = take_ranges(data, begins[chosen], sizes[chosen])
        lengths_of_types = sizes[chosen]
        if (lengths_of_types == 0).any():  # ignored sentences: one word that no other has
            texts_of_types, lengths_of_types = _with_names(texts_of_types, lengths_of_types, collection.digest[chosen])
        buffers = [None, pa.py_buffer(starts_of(lengths_of_types)), pa.py_buffer(texts_of_types)]
        texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(chosen), buffers)
        digests = collection.digest[chosen]
        columns = [digests, checks[chosen], np.full(len(chosen), home), texts]
        yield Sent("seen", table_of(columns, SEEN), route_by_hash(digests, layout.n_partitions))


def _with_names(
    texts: NDArray[np.uint8], sizes: NDArray[np.int64], digests: NDArray[np.uint64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return texts with the digest in letters instead of each empty one."""
    first = starts_of(sizes)
    whole = texts.tobytes()
    named = [
        whole[first[i] : first[i + 1]] if sizes[i] else f"{digest:016x}".encode() for i, digest in enumerate(digests.tolist())
    ]
    return np.frombuffer(b"".join(named), np.uint8), np.array([len(text) for text in named], np.int64)


def _different(digests: NDArray[np.uint64], checks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the first position of each different sentence; one may occur twice if another has the same digest."""
    order = np.argsort(digests)  # not stable, which would be several times slower
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (digests[order][1:] != digests[order][:-1]) | (checks[order][1:] != checks[order][:-1])
    return order[is_new]


@dataclass(frozen=True)
class Types:
    """Types of one partition: the digest of each, or its name, and its tokens."""

    digests: NDArray[np.uint64]
    tokens: TypeTokens


@dataclass(frozen=True)
class TokenSender:
    """Sends the tokens of types."""

    gives: Mapping[str, pa.Schema] = field(default_factory=lambda: {"types": TYPES})

    def __call__(self, part: Types, layout: Layout) -> Iterator[Sent]:
        """Yield the types of a partition."""
        columns = [part.digests, as_lists(part.tokens.tokens, np.diff(part.tokens.first), pa.uint64())]
        yield Sent("types", table_of(columns, TYPES), route_by_hash(part.digests, layout.n_partitions))


def collapse(flow: Flow, seen: PartedTable, hash_seed: int, progress: Progress, then: Sender[Types]) -> dict[str, PartedTable]:
    """Return the `askers` of types, the digests that are `shared`, and what the sender gives.

    All sentences of one digest meet here.
    """
    layout = flow.layout

    def collapse(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["seen"].combine_chunks()
        digests, checks, homes = (table[name].to_numpy() for name in ("digest", "check", "home"))
        order = np.argsort(digests)
        first = firsts(digests[order])
        same = np.delete(np.arange(len(order)), first)  # preceded by the same digest
        shared = digests[order[same[checks[order[same]] != checks[order[same - 1]]]]]
        if len(shared):
            is_shared = np.isin(digests, shared)
            yield Sent("shared", table_of([digests[is_shared]], SHARED), homes[is_shared].astype(np.int64))
            digests = np.where(is_shared, names_of(digests, checks), digests)
            order = np.argsort(digests)
            first = firsts(digests[order])
        asked = route_by_hash(digests, layout.n_partitions) if len(shared) else partition
        yield Sent("askers", table_of([digests, homes], ASKERS), asked)
        first = np.sort(order[first])  # so that texts are read in their order
        types = digests[first]
        data, offsets = text_buffers(table["text"].combine_chunks())
        tokens = TypeTokens(*tokenise_spans(data, offsets[first], offsets[first + 1], hash_seed), hash_seed)
        yield Sent("counts", table_of([[len(types)], [len(tokens.tokens)]], _COUNTS), 0)
        yield from then(Types(types, tokens), layout)

    outputs = {"askers": ASKERS, "shared": SHARED, "counts": _COUNTS, **then.gives}
    found = flow.reduce("types", {"seen": seen}, collapse, outputs)
    progress.count(types=int(flow.collect(found["counts"])["n_types"].to_numpy().sum()))
    return found


def tokens_of(types: pa.Table) -> TypeTokens:
    """Return the tokens of types, `TYPES`."""
    return TypeTokens(flat(types, "set"), starts_of(lengths(types, "set")))


def emit_classes(digests: NDArray[np.uint64], classes: NDArray[np.uint64], layout: Layout) -> Sent:
    """Send the classes of types to their homes."""
    return Sent("classes", table_of([digests, classes], CLASSES), route_by_hash(digests, layout.n_partitions))


def signature_maker(flow: Flow, words: PartedTable | None, config: Config, n_documents: int) -> Maker:
    """Return the function that makes keys or sets of types, with as much of the vocabulary as it needs."""
    settings = config.signatures
    signature: Any = load_signature(settings.signature)
    make_of = signature.hashes if hasattr(signature, "hashes") else signature.key
    hash_seed = config.sentences.hash_seed
    told = _known_words(flow, words, config, n_documents) if signature.needs_vocabulary else None

    def make(tokens: TypeTokens) -> Any:
        vocabulary = None if told is None else told.vocabulary(tokens)
        return make_of(replace(tokens, hash_seed=hash_seed), vocabulary, settings)

    return make


def _known_words(flow: Flow, words: PartedTable | None, config: Config, n_documents: int) -> KnownWords:
    """Return the words that a signature treats differently from a word in a single document.

    Words are kept if their number of documents is within bounds. So it is enough to know on which side of the bounds a word is,
    and the words on the side of those that occur once are far too many to send.
    """
    settings = config.signatures
    if settings.signature == "spotsigs":
        return spot_words(flow, words, config, n_documents)
    stops = stop_hashes(config, settings.signature)
    known = outside_counts(config, stops)
    n_counted = n_documents if known is None else known.n_documents
    least, most = _kept_counts(settings, n_counted)
    inside = not least <= 1 <= most
    if known is not None:
        is_kept = (known.document_counts >= least) & (known.document_counts <= most)
        return known.chosen(np.flatnonzero(is_kept == inside))
    assert words is not None
    return replace(words_by_documents(flow, words, least, most, inside, n_documents), stops=stops)


def _kept_counts(settings: SignaturesConfig, n_documents: int) -> tuple[int, int]:
    """Return in how many documents a word occurs at least, and at most, that a signature keeps."""
    if settings.signature == "fingerprint":
        return 1, most_documents(settings, n_documents)

    # The idf falls as the number of documents rises.
    def idf(n: int) -> float:
        return float(idf_of(np.array([n], np.int32), n_documents)[0])

    counts = range(1, n_documents + 1)
    least = 1 + bisect_left(counts, True, key=lambda n: idf(n) <= settings.max_idf)
    return least, bisect_left(counts, True, key=lambda n: idf(n) < settings.min_idf)
