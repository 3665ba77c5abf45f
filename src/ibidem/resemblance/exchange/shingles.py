"""From documents to shingles, in a mapper: what later stages need is sent at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, times_of
from ibidem.columns.keep_rules import direct_keys, is_direct, reference_first
from ibidem.columns.parted_tables import NAMED, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of
from ibidem.columns.sets import HashSets
from ibidem.columns.text_checks import settle_digests
from ibidem.columns.texts import texts_of
from ibidem.config import EXACT_METHODS, Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.execution.flow import Flow, PartedTable, Sent, record_batches, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance import occurrence_hashes
from ibidem.resemblance.kernels.exchange import sort_keys, take_sets
from ibidem.resemblance.samples import is_sampled, looked_at
from ibidem.resemblance.shingled_texts import WordsKey, shingle_texts, shingle_tokens
from ibidem.sentences.exchange import IDS, TEXTS, emit_ids, emit_texts
from ibidem.sentences.ignored_text import load_ignored
from ibidem.signatures import TypeTokens, count_vocabulary
from ibidem.signatures.exchange.vocabulary import WORDS, counts_words

# The field values that decide which document is kept; at home.
VALUED = pa.schema(
    [
        ("document", pa.int64()),
        ("n_chars", pa.int64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("group", pa.large_string()),
    ]
)
# The groups of documents that have one; at home.
GROUPED = pa.schema([("document", pa.int64()), ("group", pa.large_string())])
# Documents with words, where those of one digest meet; the checks say whether their words are the same. `size` is the number of
# shingles.
KEYED = pa.schema(
    [
        ("document", pa.int64()),
        ("digest", pa.uint64()),
        ("check_a", pa.uint64()),
        ("check_b", pa.uint64()),
        ("rank_key", pa.int64()),
        ("size", pa.int64()),
    ]
)
# The shingles (or words) of documents; at home.
SETS = pa.schema([("document", pa.int64()), ("known_by", pa.list_(pa.uint64()))])
# The words of documents, in reading order; at home, for methods that need them.
WORDED = pa.schema([("document", pa.int64()), ("words", pa.list_(pa.uint64()))])
# The shingles of one home's documents, where shingles of one hash meet. The key is a part of the hash: few shingles in the same
# partition share it. The last bits are left out, because all shingles of a sample agree in them.
KEYS = pa.schema([("home", pa.int32()), ("keys", pa.list_(pa.uint32()))])
COUNTS = pa.schema([(name, pa.int64()) for name in ("n_documents", "n_reference", "n_known", "n_shingles")])
EVERY = pa.schema([("every", pa.int64())])

Numbers = NDArray[np.int64]


def shingle_documents(
    flow: Flow, source: Any, layout: Layout, config: Config, plan: SamplingPlan | None, unique_ids: bool
) -> dict[str, PartedTable]:
    """Return documents as `named`, `sets`, `keyed` (at home if a field decides which document is kept, otherwise where
    identical documents meet), `valued` and, if groups are compared, `grouped`; the `keys` of shingles at which documents may
    meet; the ratios of sampling, `every`; and `counts`. For spots, the words of documents are `worded`, and counted as `words`.
    If nothing may be lost, documents also have `texts`, unless they are stored.
    """
    rule = config.clusters.keep
    outputs = {"named": NAMED, "keyed": KEYED, "sets": SETS, "keys": KEYS, "every": EVERY, "counts": COUNTS}
    outputs |= {"ids": IDS} if unique_ids else {}
    outputs |= {} if is_direct(rule) else {"valued": VALUED}
    outputs |= {"grouped": GROUPED} if config.clusters.by_group else {}
    outputs |= {"texts": TEXTS} if config.cleaning.lossless and not isinstance(source, PartedTable) else {}
    by_spots = config.resemblance.method == "spotsigs"
    is_counted = by_spots and counts_words(config, "spotsigs")
    outputs |= ({"worded": WORDED} if by_spots else {}) | ({"words": WORDS} if is_counted else {})

    words_key = WordsKey.drawn(config)  # drawn once for all documents of the stage
    ignored = load_ignored(config.sentences.ignore)

    def shingle(batches: Iterator[Any]) -> Iterator[Sent]:
        for batch in record_batches(batches):
            if batch.num_rows == 0:
                continue
            documents = batch.column("document").to_numpy()
            home = layout.home(documents)
            texts = shingle_texts(texts_of(batch), config, words_key, ignored=ignored)
            times = times_of(batch.column("time"))
            n_known, n_reference = np.count_nonzero(times != NO_TIME), np.count_nonzero(documents >= layout.n_input)
            named = [documents, batch.column("id"), batch.column("source").cast(pa.large_string()), batch.column("position")]
            yield Sent("named", table_of([*named, texts.n_chars, *texts.of_texts.T], NAMED), home)
            if "texts" in outputs:
                yield emit_texts(batch, home)
            if unique_ids:
                yield emit_ids(batch, documents, layout)
            if config.clusters.by_group:
                known = np.flatnonzero(batch.column("group").is_valid())
                grouped = [documents[known], batch.column("group").take(pa.array(known))]
                yield Sent("grouped", table_of(grouped, GROUPED), home[known])
            if not is_direct(rule):
                valued = [documents, texts.n_chars, batch.column("time"), batch.column("group")]
                yield Sent("valued", table_of(valued, VALUED), home)
            has_words = np.flatnonzero(texts.digests)
            documents, home = documents[has_words], home[has_words]
            digests, checks = texts.digests[has_words], texts.checks[has_words]
            known_by = taken(texts.known_by, has_words)
            if by_spots:
                listed = as_lists(known_by.hashes, np.diff(known_by.first), pa.uint64())
                yield Sent("worded", table_of([documents, listed], WORDED), home)
                if is_counted:
                    yield count_document_words(known_by, layout)
                known_by = shingles_of_words(known_by, config)
            sizes = np.diff(known_by.first)
            keys = direct_keys(rule, texts.n_chars[has_words], times[has_words])
            keys = reference_first(keys, documents >= layout.n_input)
            keyed = table_of([documents, digests, *checks.T, keys, sizes], KEYED)
            yield Sent("keyed", keyed, route_by_hash(digests, layout.n_partitions) if is_direct(rule) else home)
            yield Sent("sets", table_of([documents, as_lists(known_by.hashes, sizes, pa.uint64())], SETS), home)
            every = every_of(sizes, config, plan)
            yield Sent("every", table_of([np.unique(every)], EVERY), 0)
            numbers = (batch.num_rows, n_reference, n_known, sizes.sum())
            yield Sent("counts", table_of([[number] for number in numbers], COUNTS), 0)
            if config.resemblance.method not in EXACT_METHODS:
                continue
            own = settle_digests(digests, checks)
            sides = np.where(documents < layout.n_input, own, ~own)
            sets = sets_of(known_by, config)
            for one in np.unique(home):
                here = np.flatnonzero(home == one)
                # Identical documents of one side and home count once: any of them may represent the others.
                here = here[np.unique(sides[here], return_index=True)[1]]
                yield send_keys(int(one), taken(sets, here), every[here], config, layout)

    return flow.map("shingles", source, shingle, outputs)


def send_keys(home: int, sets: HashSets, every: Numbers, config: Config, layout: Layout) -> Sent:
    """Send the keys of the sampled shingles of one home's documents."""
    hashes, n_partitions = sets.hashes, layout.n_partitions
    if is_sampled(config, int(every.max(initial=1))):
        hashes = np.concatenate([looked_at(sets, every == ratio, int(ratio), config).hashes for ratio in np.unique(every)])
    keys, ends = np.empty(len(hashes), np.uint32), np.zeros(n_partitions, np.int64)
    sort_keys(hashes, n_partitions, ends, keys)
    table, routes = listed_by_route(ends, {"home": home, "keys": keys}, KEYS)
    return Sent("keys", table, routes)


def listed_by_route(ends: Numbers, columns: Mapping[str, Any], schema: pa.Schema) -> tuple[pa.Table, Numbers]:
    """Return values sorted by route as lists, one row per route that has any, and the routes.

    Columns that are numbers are the same in all rows.
    """
    counts = np.diff(ends, prepend=0)
    routes = np.flatnonzero(counts)
    made = [
        np.full(len(routes), column)
        if np.isscalar(column)
        else as_lists(column, counts[routes], schema.field(name).type.value_type)
        for name, column in columns.items()
    ]
    return table_of(made, schema), routes


def every_of(sizes: Numbers, config: Config, plan: SamplingPlan | None) -> Numbers:
    """Return the sampling ratio of documents of these sizes: one in so many shingles is used."""
    return np.full(len(sizes), config.resemblance.sample_every) if plan is None else plan.every_of(sizes)


def shingles_of_words(words: HashSets, config: Config) -> HashSets:
    """Return what documents are known by, given their words."""
    size, in_order = config.signatures.shingle_words("document"), config.resemblance.measure == "order"
    return shingle_tokens(TypeTokens(words.hashes, words.first), size, distinct=not in_order)


def count_document_words(words: HashSets, layout: Layout) -> Sent:
    """Return how often words occur in whole documents, and in how many of them."""
    numbers = np.arange(len(words.first) - 1, dtype=np.int32)
    found = count_vocabulary(TypeTokens(words.hashes, words.first), numbers, numbers, len(numbers))
    columns = [found.hashes, found.counts, found.document_counts]
    return Sent("words", table_of(columns, WORDS), route_by_hash(found.hashes, layout.n_partitions))


def sets_of(known_by: HashSets, config: Config) -> HashSets:
    """Return the distinct shingles of documents from what is stored of them."""
    return occurrence_hashes(known_by) if config.resemblance.measure == "order" else known_by


def taken(sets: HashSets, chosen: Numbers) -> HashSets:
    """Return the sets of some rows."""
    counts = np.diff(sets.first)[chosen]
    first = starts_of(counts)
    hashes = np.empty(int(first[-1]), np.uint64)
    take_sets(sets.hashes, sets.first, chosen, first, hashes)
    return HashSets(hashes, first)


def documents_with_sets(table: pa.Table) -> tuple[Numbers, HashSets]:
    """Return the documents of a table, in order, each once, with their shingles."""
    documents, rows = np.unique(table["document"].to_numpy(), return_index=True)
    known_by = HashSets(flat(table, "known_by"), starts_of(lengths(table, "known_by")))
    return documents, taken(known_by, rows)
