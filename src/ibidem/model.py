"""What the API takes and returns: inputs, documents, passages and more; and the Arrow schema of every table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Document:
    """A text and its id. `fields` contains all other fields of the record."""

    id: str
    text: str
    time: datetime | str | float | None = None
    group: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


class ArrowStream(Protocol):
    """What gives its rows to Arrow: pandas and Polars frames, and many others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Collectable(Protocol):
    """A lazy frame."""

    def collect(self) -> ArrowStream:
        """Return its rows."""
        ...


# What a setting may be: names, numbers and truth values, as on the command line; lists of names; words as mappings or tables.
Setting = str | int | float | Fraction | Sequence[str] | os.PathLike[str] | Mapping[str, int | Sequence[int]] | ArrowStream
# What documents are read from: a path, glob or folder, texts, a table, records, a dataset; or several of these.
Inputs: TypeAlias = (
    str | os.PathLike[str] | pa.Table | ArrowStream | Collectable | Mapping[str, object]
    | Iterable[Mapping[str, object] | Document] | Iterable[str | None] | Sequence["Inputs"]
)  # fmt: skip
SparkInputs: TypeAlias = "Inputs | DataFrame | Sequence[Inputs | DataFrame]"


class Span(NamedTuple):
    """A half-open stretch of one document's text, in characters of the text as read."""

    id: str
    start: int
    end: int
    text: str


class Difference(NamedTuple):
    """A stretch of a passage whose words are the same on both sides, or are not.

    `operation` says how to get from a to b: equal, replace, delete (only in a) or insert (only in b). `start` and `end` count
    characters from the beginning of the passage's own text on each side. `kind` says what kind of change it is: number, date,
    name, negation, unit, spelling, order, added, removed or reworded; None where the words are the same.
    """

    operation: str
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    kind: str | None = None


@dataclass(frozen=True)
class Passage:
    """A text that appears in two documents, located in both. Its first sentences are numbered from 0 in their documents.

    Where documents have pages, `a_page` and `b_page` say on which the passage begins, counted from 1.
    """

    a: Span
    b: Span
    n_sentences: int
    similarity: float
    kind: str
    direction: str
    a_sentence: int = 0
    b_sentence: int = 0
    a_page: int | None = None
    b_page: int | None = None

    @cached_property
    def differences(self) -> list[Difference]:
        """Where the two texts have the same words and where not, in reading order; together they cover both texts.

        Case, punctuation, spaces and line breaks make no difference; the sign of a number ($, %, a minus) does. What kind of
        change each is follows from rules over its words; what no rule knows is `reworded`.

        >>> from ibidem import Passage, Span
        >>> a, b = Span("a", 0, 24, "The bridge stays closed."), Span("b", 5, 27, "the bridge is closed !")
        >>> for difference in Passage(a, b, 1, 0.6, "near", "unknown").differences:
        ...     print(difference.operation, repr(a.text[difference.a_start : difference.a_end]), difference.kind)
        equal 'The bridge ' None
        replace 'stays ' reworded
        equal 'closed.' None
        """
        from ibidem.alignment.difference_kinds import typed_differences

        return typed_differences(self.a.text, self.b.text)


class Similarity(NamedTuple):
    """How alike two texts are: by shared shingles, by the share of each text found in the other, and with word order (SWLR)."""

    resemblance: float
    containment_a: float
    containment_b: float
    order: float


@dataclass(frozen=True)
class Skipped:
    """A record or file that was left out, and why. `position` is a line or record number, from 1; 0 for the whole file."""

    source: str
    position: int
    reason: str
    id: str | None = None


# What readers pass on. `source` and `position` say where a record is; `cleaned` marks text extracted from HTML.
DOCUMENT_BATCH = pa.schema(
    [
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC")),
        pa.field("group", pa.large_string()),
        pa.field("source", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("cleaned", pa.bool_(), nullable=False),
    ]
)

# One row per sentence, in reading order. `document` is the row of the document in its batch; offsets count from its start.
SENTENCE_BATCH = pa.schema(
    [
        pa.field("document", pa.int32(), nullable=False),
        pa.field("start_byte", pa.uint32(), nullable=False),
        pa.field("end_byte", pa.uint32(), nullable=False),
        pa.field("start_char", pa.uint32(), nullable=False),
        pa.field("end_char", pa.uint32(), nullable=False),
        pa.field("n_words", pa.int32(), nullable=False),
        pa.field("digest", pa.uint64(), nullable=False),
    ]
)

_NAME = pa.dictionary(pa.int32(), pa.large_string())

# `a_sentence` and `b_sentence` are the sentences in which a passage begins; they count from 0 in their documents, as in HITS.
PASSAGES = pa.schema(
    [
        pa.field("a_id", _NAME, nullable=False),
        pa.field("a_start", pa.int64(), nullable=False),
        pa.field("a_end", pa.int64(), nullable=False),
        pa.field("b_id", _NAME, nullable=False),
        pa.field("b_start", pa.int64(), nullable=False),
        pa.field("b_end", pa.int64(), nullable=False),
        pa.field("n_sentences", pa.int32(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("direction", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("a_sentence", pa.int32(), nullable=False),
        pa.field("b_sentence", pa.int32(), nullable=False),
    ]
)

# A further column of passages if families are found: the number of the family, none for text that overlaps itself.
FAMILY = pa.field("family", pa.int64())

# A further column of passages if it is asked for: the kinds of differences between both sides, none for the same words.
DIFFERENCES = pa.field("differences", pa.list_(pa.string()), nullable=False)

# The words of a passage on both sides, where they are asked for.
TEXT_FIELDS = (pa.field("a_text", pa.large_string()), pa.field("b_text", pa.large_string()))

# Sentences of a new document (a) that also appear in a document of the index (b); sentences count from 0 in their documents.
HITS = pa.schema(
    [
        pa.field("a_id", _NAME, nullable=False),
        pa.field("a_sentence", pa.int32(), nullable=False),
        pa.field("a_start", pa.int64(), nullable=False),
        pa.field("a_end", pa.int64(), nullable=False),
        pa.field("b_id", _NAME, nullable=False),
        pa.field("b_sentence", pa.int32(), nullable=False),
        pa.field("b_start", pa.int64(), nullable=False),
        pa.field("b_end", pa.int64(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
    ]
)

# Pairs of sentences that match, of two documents or of one; sentences count from 0 in their documents.
SENTENCE_PAIRS = pa.schema(
    [
        pa.field("a_id", _NAME, nullable=False),
        pa.field("a_sentence", pa.int32(), nullable=False),
        pa.field("b_id", _NAME, nullable=False),
        pa.field("b_sentence", pa.int32(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

# The inverted index of signatures: a row for each signature of each sentence. Signatures are hashes, in sixteen digits.
POSTINGS = pa.schema(
    [
        pa.field("signature", pa.large_string(), nullable=False),
        pa.field("id", _NAME, nullable=False),
        pa.field("sentence", pa.int32(), nullable=False),
    ]
)

# Runs of words that also occur earlier: where they are, and the first place of the same words.
RUNS = pa.schema(
    [
        pa.field("id", _NAME, nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("n_words", pa.int64(), nullable=False),
        pa.field("first_id", _NAME, nullable=False),
        pa.field("first_start", pa.int64(), nullable=False),
        pa.field("first_end", pa.int64(), nullable=False),
    ]
)

REPEATS = pa.schema(
    [
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("n_documents", pa.int64(), nullable=False),
        pa.field(
            "places",
            pa.large_list(pa.struct([("id", pa.large_string()), ("start", pa.int64()), ("end", pa.int64())])),
            nullable=False,
        ),
    ]
)

# All places of every travelling passage. `time` is text: to the second, in UTC.
FAMILIES = pa.schema(
    [
        pa.field("family", pa.int64(), nullable=False),
        pa.field("id", _NAME, nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("time", pa.large_string()),
        pa.field("group", pa.large_string()),
        pa.field("variant", pa.int64(), nullable=False),
        pa.field("n_places", pa.int64(), nullable=False),
        pa.field("n_documents", pa.int64(), nullable=False),
        pa.field("n_variants", pa.int64(), nullable=False),
        pa.field("is_first", pa.bool_(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
    ]
)

DOCUMENTS = pa.schema(
    [
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("n_chars", pa.int64(), nullable=False),
        pa.field("n_sentences", pa.int64(), nullable=False),
        pa.field("reused_share", pa.float64(), nullable=False),
        pa.field("first_share", pa.float64(), nullable=False),
        pa.field("cluster", pa.int64()),
    ]
)

DUPLICATES = pa.schema(
    [
        pa.field("a_id", _NAME, nullable=False),
        pa.field("b_id", _NAME, nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
        pa.field("containment_a", pa.float64(), nullable=False),
        pa.field("containment_b", pa.float64(), nullable=False),
    ]
)

CLUSTERS = pa.schema(
    [
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("canonical", pa.bool_(), nullable=False),
    ]
)

# Groups that have documents in the same clusters; a is the one that appears first. `a_id` and `b_id` are an example.
MIRRORS = pa.schema(
    [
        pa.field("a_group", pa.large_string(), nullable=False),
        pa.field("b_group", pa.large_string(), nullable=False),
        pa.field("a_documents", pa.int64(), nullable=False),
        pa.field("b_documents", pa.int64(), nullable=False),
        pa.field("a_shared", pa.int64(), nullable=False),
        pa.field("b_shared", pa.int64(), nullable=False),
        pa.field("a_share", pa.float64(), nullable=False),
        pa.field("b_share", pa.float64(), nullable=False),
        pa.field("a_id", pa.large_string(), nullable=False),
        pa.field("b_id", pa.large_string(), nullable=False),
    ]
)

# What was removed from a collection: where it was, and what contains the same text.
REMOVED = pa.schema(
    [
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("removed", pa.string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("n_sentences", pa.int64()),
        pa.field("matched_id", pa.large_string(), nullable=False),
        pa.field("matched_source", pa.string(), nullable=False),
        pa.field("matched_position", pa.int64(), nullable=False),
        pa.field("matched_start", pa.int64(), nullable=False),
        pa.field("matched_end", pa.int64(), nullable=False),
        pa.field("similarity", pa.float64()),
    ]
)

# A further column of what was removed, with `lossless`: where its words remain, if they are not together in the matched place.
RECEIPT = pa.field(
    "receipt",
    pa.list_(
        pa.struct(
            [
                ("start", pa.int64()),
                ("end", pa.int64()),
                ("id", pa.large_string()),
                ("matched_start", pa.int64()),
                ("matched_end", pa.int64()),
            ]
        )
    ),
)

# A further column of what was removed by `decontaminate`: the items of benchmarks in it, and where each is in the document.
ITEMS = pa.field(
    "items",
    pa.list_(
        pa.struct(
            [
                ("benchmark", pa.large_string()),
                ("item", pa.large_string()),
                ("field", pa.large_string()),
                ("found", pa.string()),
                ("share", pa.float64()),
                ("start", pa.int64()),
                ("end", pa.int64()),
            ]
        )
    ),
)

# Where items of benchmarks are in documents. `item_start` and `item_end` are characters of the field; `share` is how much of
# its words is here, together with rows near by.
ITEM_PLACES = pa.schema(
    [
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("source", pa.large_string(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("benchmark", pa.large_string(), nullable=False),
        pa.field("item", pa.large_string(), nullable=False),
        pa.field("field", pa.large_string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("item_start", pa.int64(), nullable=False),
        pa.field("item_end", pa.int64(), nullable=False),
        pa.field("found", pa.string(), nullable=False),
        pa.field("share", pa.float64(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
        pa.field("n_words", pa.int64(), nullable=False),
        pa.field("is_common", pa.bool_(), nullable=False),
    ]
)

# The fields of items that were found, the worst first: how much of each, in how many documents, and where most of it is.
FOUND_ITEMS = pa.schema(
    [
        pa.field("benchmark", pa.large_string(), nullable=False),
        pa.field("item", pa.large_string(), nullable=False),
        pa.field("field", pa.large_string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("found", pa.string(), nullable=False),
        pa.field("share", pa.float64(), nullable=False),
        pa.field("n_documents", pa.int64(), nullable=False),
        pa.field("is_common", pa.bool_(), nullable=False),
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
    ]
)

# What was found of each benchmark: of its items, and of their prompts and answers. Common text counts as not found.
BENCHMARKS = pa.schema(
    [
        pa.field("benchmark", pa.large_string(), nullable=False),
        pa.field("part", pa.string(), nullable=False),
        pa.field("n_items", pa.int64(), nullable=False),
        pa.field("n_short", pa.int64(), nullable=False),
        pa.field("n_whole", pa.int64(), nullable=False),
        pa.field("n_part", pa.int64(), nullable=False),
        pa.field("n_common", pa.int64(), nullable=False),
        pa.field("share", pa.float64(), nullable=False),
        pa.field("share_chars", pa.float64(), nullable=False),
        pa.field("n_documents", pa.int64(), nullable=False),
    ]
)

# A further column of `removed.jsonl`: how the removed text begins.
SNIPPET = pa.field("snippet", pa.large_string())

# Columns that are added to records when nothing is removed.
DUPLICATE_MARKS = pa.schema([pa.field("ibidem_cluster", pa.int64()), pa.field("ibidem_duplicate_of", pa.large_string())])
# The column that `mark_copies` adds.
COPY_MARKS = pa.schema([pa.field("ibidem_copies", pa.int64())])
CUT_MARKS = pa.schema(
    [pa.field("ibidem_cuts", pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64()), ("id", pa.large_string())])))]
)

KINDS = ("exact", "near", "quote")
DIRECTIONS = ("unknown", "a_to_b", "b_to_a")
