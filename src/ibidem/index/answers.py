"""Answers: what new documents share with the index, sentence by sentence, as passages, and as a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.chosen_passages import are_kinds_wanted, choose
from ibidem.columns.collection import Collection
from ibidem.columns.notebook import MOST_ROWS, counted, listed, page
from ibidem.columns.ragged import starts_of
from ibidem.config import Config
from ibidem.config.settings import DIFFERENCE_SETTINGS
from ibidem.config.surface import given, named
from ibidem.errors import IndexDamagedError, IndexSettingsError, SettingsError
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.arrivals import Arrivals, QueryTypes
from ibidem.index.comparison import Request, TooManyMatchesError
from ibidem.index.hits import Hits, Portion, Selves, places_needed
from ibidem.index.joined_answers import JoinedHits, join_passages
from ibidem.index.known_passages import locate_passages
from ibidem.index.places import Oldest, SegmentHits
from ibidem.index.search import longest_promised, radius_note, search
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.similar_types import find_similar
from ibidem.index.snapshot import kept_in
from ibidem.index.source_texts import SourceTexts, with_pages, with_texts
from ibidem.index.verbatim import verbatim_hits
from ibidem.index.vocabulary import NO_WORDS, WordCounts
from ibidem.model import Skipped

MOST_SOURCES = 10
MOST_MATCHES = 1 << 19  # of a request that are processed at once: about a hundred bytes each


class Hit(NamedTuple):
    """A sentence of a new document (a) and a place in the index (b) where it occurs."""

    a_id: str
    a_sentence: int
    a_start: int
    a_end: int
    b_id: str
    b_sentence: int
    b_start: int
    b_end: int
    score: float


class Source(NamedTuple):
    """A document of the index, and how many sentences of the new document occur in it."""

    id: str
    n_sentences: int


@dataclass(frozen=True)
class Verdict:
    """Whether a document is duplicated: at least `min_hits` of its sentences are known.

    `n_known` counts those of `min_hit_words` words, without the `n_common` ones that occur in more than `max_places` documents.
    `sources` are the documents that contain most of them. `is_own_id_known`: the index has a document with the same id, with
    which this one was not compared.
    """

    id: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_common: int
    sources: tuple[Source, ...]
    is_own_id_known: bool
    _list_hits: Callable[[], tuple[Hit, ...]] = field(repr=False, compare=False)
    _list_passages: Callable[[], list[dict[str, Any]]] = field(default=list, repr=False, compare=False)
    _n_chars: int = field(default=0, repr=False, compare=False)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The known sentences with their places; made on first use."""
        return self._list_hits()

    @property
    def passages(self) -> list[dict[str, Any]]:
        """The shared passages as records; found on first use, while the index is open. With `align`, edited copies too."""
        return self._list_passages()

    @property
    def covered_share(self) -> float:
        """The share of the document's characters that are in `passages`."""
        covered = reached = 0
        for start, end in sorted((passage["a_start"], passage["a_end"]) for passage in self.passages):
            covered += max(0, end - max(start, reached))
            reached = max(reached, end)
        return covered / self._n_chars if self._n_chars else 0.0


class QueryResult:
    """What documents share with the index. Iterating gives the hits one by one.

    `skipped` lists the records that could not be used, `ids` names the others in order, `notes` say what the search could
    not do as asked. The tables are made when they are first used, from the last commit at the time of the query. `has_texts`
    says whether the index keeps the texts: then records of passages have them, too.
    """

    def __init__(
        self,
        hits: Hits | JoinedHits,
        locate: Callable[[], tuple[pa.Table, SourceTexts]],
        collection: Collection,
        is_known: Sequence[bool],
        skipped: Sequence[Skipped],
        config: Config,
        notes: Sequence[str] = (),
        has_texts: bool = False,
    ) -> None:
        self.skipped = skipped
        self.notes = notes
        self.has_texts = has_texts
        self._is_known = is_known
        self.config = config
        self.ids: Sequence[str] = collection.ids.to_pylist()
        self._hits = hits
        self._locate = locate
        self._collection, self._first = collection, collection.document_first
        self._counts = collection.n_words >= config.index.min_hit_words

    def __iter__(self) -> Iterator[Hit]:
        return _hits_in(self.hits)

    def __len__(self) -> int:
        return int(self.hits.num_rows)

    def __repr__(self) -> str:
        return f"<QueryResult: {self._sentence()}>"

    def _repr_html_(self) -> str:
        names = ("document", "known sentences", "most of them in")
        rows = [
            (each.id, f"{each.n_known:,} of {each.n_sentences:,}", each.sources[0].id if each.sources else None)
            for each in self.verdicts[:MOST_ROWS]
        ]
        return page(f"{self._sentence()}.", listed(names, rows, len(self.verdicts) - len(rows)))

    def _sentence(self) -> str:
        n_sharing = sum(verdict.n_known > 0 for verdict in self.verdicts)
        return f"{n_sharing:,} of {counted(len(self.ids), 'document')} with known sentences, {counted(len(self), 'hit')}"

    @cached_property
    def hits(self) -> pa.Table:
        """The hits as an Arrow table in the schema HITS."""
        return self._located_hits[0]

    @cached_property
    def passages(self) -> pa.Table:
        """The passages as an Arrow table in the schema PASSAGES; where the index keeps texts, with their pages, if any."""
        passages, texts = self._located
        try:
            return with_pages(passages, texts) if self.has_texts else passages
        except IndexDamagedError:  # reading the texts reports it
            return passages

    @cached_property
    def _located(self) -> tuple[pa.Table, SourceTexts]:
        return self._locate()

    @cached_property
    def _located_hits(self) -> tuple[pa.Table, SourceTexts]:
        return self._hits.table()

    def with_texts(self) -> pa.Table:
        """Return the passages with the columns `a_text` and `b_text`; `b_text` is null where the index has no text."""
        return self._with_texts

    @cached_property
    def _with_texts(self) -> pa.Table:
        passages, texts = self.passages, self._located[1]
        return with_texts(passages, texts, texts if self.has_texts else texts.without_any())

    def hits_with_texts(self) -> pa.Table:
        """Return the hits with the columns `a_text` and `b_text`; `b_text` is null where the index has no text."""
        return self._hits_with_texts

    @cached_property
    def _hits_with_texts(self) -> pa.Table:
        hits, texts = self._located_hits
        return with_texts(hits, SourceTexts.of(self._collection), texts if self.has_texts else texts.without_any())

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on every document, in order."""
        n_documents, first = self._hits.n_documents, self._first
        is_common = self._counts & (n_documents > self.config.passages.max_places)
        n_common = np.diff(starts_of(is_common)[first])
        n_known = np.diff(starts_of(self._counts & (n_documents > 0))[first]) - n_common
        needed = self.config.index.min_hits + self.config.signatures.paper  # in the paper: more than this many
        sources: list[list[Source]] = [[] for _ in self.ids]
        for document, name, n_sentences in self._hits.sources(self._counts & ~is_common, MOST_SOURCES):
            sources[document].append(Source(name, n_sentences))
        counts = zip(np.diff(first).tolist(), n_known.tolist(), n_common.tolist(), strict=True)
        n_chars = self._collection.n_chars.tolist()
        return tuple(
            Verdict(
                self.ids[d], known >= needed, n, known, common, tuple(sources[d]), self._is_known[d],
                partial(self.hits_of, d), partial(self.passages_of, d), n_chars[d],
            )
            for d, (n, known, common) in enumerate(counts)
        )  # fmt: skip

    def hits_of(self, document: int) -> tuple[Hit, ...]:
        """Return the hits of the document with that number."""
        begin, end = self._hit_rows.get(self.ids[document], (0, 0))
        return tuple(_hits_in(self.hits.slice(begin, end - begin)))

    def verbatim(self) -> pa.Table:
        """Return the sentences that the index contains word for word: the first hit of each, with both texts, in order.

        The words are compared in the texts. `search_engine="exact"` finds all such sentences; of other engines, the best hit of
        a sentence may be another one. An index without texts raises IndexSettingsError.
        """
        if not self.has_texts:
            message = "the index does not keep texts, so nothing proves that it contains a sentence word for word"
            raise IndexSettingsError(message, "Build the index again so that it keeps texts.")
        hits, texts = self._located_hits
        return verbatim_hits(hits, SourceTexts.of(self._collection), texts)

    def hit_records_of(self, document: int) -> list[dict[str, Any]]:
        """Return the hits of the document with that number, as records; with texts if the index keeps them."""
        begin, end = self._hit_rows.get(self.ids[document], (0, 0))
        hits = self._hits_with_texts if self.has_texts else self.hits
        return hits.slice(begin, end - begin).to_pylist()  # type: ignore[no-any-return]

    def hits_in_context(self, document: int, n_chars: int) -> list[dict[str, Any]]:
        """Return the hits of the document with that number, as records, each with some text of its source around it.

        `context` has `n_chars` characters more on each side, and begins at `context_start`. It is None without a text.
        """
        hits, texts = self._located_hits
        begin, end = self._hit_rows.get(self.ids[document], (0, 0))
        rows = hits.slice(begin, end - begin)
        numbers = np.concatenate([np.empty(0, np.int64), *(chunk.indices.to_numpy() for chunk in rows["b_id"].chunks)])
        starts = np.maximum(0, rows["b_start"].to_numpy() - n_chars)
        shown = texts if self.has_texts else texts.without_any()
        around = shown.cut(numbers.astype(np.int64), starts, rows["b_end"].to_numpy() + n_chars)
        contexts = zip(rows.to_pylist(), starts.tolist(), around, strict=True)
        return [{**hit, "context_start": start, "context": text} for hit, start, text in contexts]

    def n_passages_of(self, document: int) -> int:
        """Return how many passages the document with that number has."""
        begin, end = self._passage_rows.get(self.ids[document], (0, 0))
        return end - begin

    def passages_of(self, document: int) -> list[dict[str, Any]]:
        """Return the passages of the document with that number, as records; with texts if the index keeps them."""
        begin, end = self._passage_rows.get(self.ids[document], (0, 0))
        passages = self._with_texts if self.has_texts else self.passages
        return passages.slice(begin, end - begin).to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def _passage_rows(self) -> dict[str, tuple[int, int]]:
        return _rows_by_name(self.passages.column("a_id"))

    @cached_property
    def _hit_rows(self) -> dict[str, tuple[int, int]]:
        return _rows_by_name(self.hits.column("a_id"))


def _rows_by_name(names: pa.ChunkedArray) -> dict[str, tuple[int, int]]:
    """Return the first row, and the one after the last, of every name in a column where equal names are adjacent."""
    rows: dict[str, tuple[int, int]] = {}
    at = 0
    for chunk in filter(len, names.chunks):
        indices = chunk.indices.to_numpy()
        for begin, end in pairwise([0, *(np.flatnonzero(np.diff(indices)) + 1).tolist(), len(indices)]):
            name = chunk.dictionary[int(indices[begin])].as_py()
            rows[name] = (rows.get(name, (at + begin, 0))[0], at + end)
        at += len(indices)
    return rows


def _hits_in(table: pa.Table) -> Iterator[Hit]:
    return (Hit(*row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True))


def are_passages_listed(config: Config) -> bool:
    """Return whether verdicts list passages: they do if anything is asked of these."""
    return config.alignment.align or are_kinds_wanted(config)


def request_of(config: Config) -> Request:
    """Return the search request of the settings."""
    index = config.index
    return Request(
        method=index.search_engine,
        score=index.score,
        min_score=index.min_score,
        radius=index.radius,
        max_false_positive=index.max_false_positive,
        words_flexible=index.words_flexible,
        min_contained_words=index.min_contained_words,
    )


def _in_portions(hits_of: Callable[[int, int], Portion], n_queries: int, is_cut: bool) -> Iterator[Portion]:
    """Yield the hits of all queries at once, or in ever smaller portions if there are too many; without `is_cut`, raise
    instead.
    """
    left = [(0, n_queries)]
    while left:
        begin, end = left.pop()
        try:
            yield hits_of(begin, end)
        except TooManyMatchesError:
            if not is_cut:
                raise
            middle = (begin + end) // 2
            left += [(middle, end), (begin, middle)]


def answer(
    arrivals: Arrivals,
    parts: Sequence[tuple[Segment, NDArray[np.bool_]]],
    own: Segment | None,
    known: Mapping[str, int],
    counts: WordCounts,
    settings: SegmentSettings,
    config: Config,
    skipped: Sequence[Skipped],
    run_tasks: RunTasks = in_turn,
) -> QueryResult:
    """Return what arrivals share with the kept documents of segments and, with `own`, their own segment, with one another.

    `known` are the serials of their ids in the index. If several documents have too many hits among one another,
    `TooManyMatchesError` is raised: they must be queried one by one.
    """
    _check_texts(config, settings)
    request = request_of(config)
    queries = arrivals.queries(counts, settings)
    known_by = queries if settings.elements is None else arrivals.element_queries(counts, settings)
    notes = _notes(queries, request, settings)
    common_hashes = NO_WORDS
    if request.method == "fingerprint":
        common_hashes = np.union1d(counts.common_hashes(settings.max_document_share), settings.stops)
    max_places = config.passages.max_places
    # A document only sees earlier arrivals: a single one sees none.
    is_own_searched = own is not None and own.n_documents > 1
    searched = [*parts, *([(own, kept_in(own, np.empty(0, np.int64)))] if own is not None and is_own_searched else [])]

    def hits_of(begin: int, end: int) -> Portion:
        is_all = end - begin == len(queries)
        some = queries if is_all else queries.part(begin, end)
        elements = None if known_by is queries else known_by if is_all else known_by.part(begin, end)
        hits_by_segment = []
        wanted = np.full(len(some), places_needed(max_places))  # per query: reduced by the places found in earlier segments
        for segment, kept in searched:
            oldest = Oldest(kept, wanted, segment.types_of(some.digests))
            found = search(segment, some, request, settings, common_hashes, run_tasks, oldest, MOST_MATCHES, elements).hits
            hits_by_segment.append(SegmentHits.of_oldest(segment, oldest, found, some, request.score, segment is own))
        return Portion(begin, end, hits_by_segment, is_all)

    same_id = np.array([known.get(name, -1) for name in arrivals.collection.ids.to_pylist()], np.int64)
    not_before = np.full(len(same_id), np.iinfo(np.int64).max) if own is None else own.serials
    portions = _in_portions(hits_of, len(queries), not is_own_searched)
    hits = Hits(arrivals, portions, [segment for segment, _ in searched], Selves(same_id, not_before), max_places)

    def locate() -> tuple[pa.Table, SourceTexts]:
        similar = [find_similar(segment, kept, known_by, settings, max_places, run_tasks) for segment, kept in parts]
        among = own is not None
        found = locate_passages(arrivals, queries, known_by, similar, counts, settings, config, same_id, among, run_tasks)
        return (choose(found[0], found[1].sides(found[0]), config), found[1]) if are_kinds_wanted(config) else found

    return QueryResult(hits, locate, arrivals.collection, (same_id >= 0).tolist(), skipped, config, notes, settings.texts)


def answer_parts(
    batches: Sequence[list[pa.RecordBatch]], answer_to: Callable[..., QueryResult], run_tasks: RunTasks
) -> QueryResult:
    """Return the answer to a batch of documents, given in parts; `answer_to` answers one of them."""
    if len(batches) == 1:  # threads do not pay for a single document: waking them takes longer than what they save
        return answer_to(batches[0], in_turn if sum(map(len, batches[0])) == 1 else run_tasks)
    parts = list(run_tasks(answer_to, batches))
    collection = Collection.joined([part._collection for part in parts])

    def locate() -> tuple[pa.Table, SourceTexts]:
        located = list(run_tasks(lambda part: part._locate(), parts))
        return join_passages(located, [len(part.ids) for part in parts], collection)

    hits = JoinedHits([part._hits for part in parts if isinstance(part._hits, Hits)], collection, run_tasks)
    is_known = [known for part in parts for known in part._is_known]
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    some = parts[0]
    return QueryResult(hits, locate, collection, is_known, some.skipped, some.config, notes, some.has_texts)


def _check_texts(config: Config, settings: SegmentSettings) -> None:
    """Raise if passages are to be aligned, or chosen by their differences, and the index does not keep the texts."""
    if settings.texts or not (config.alignment.align or are_kinds_wanted(config)):
        return
    if config.alignment.align:
        subject, asked = "alignment needs", given("align", True)
    else:
        subject, asked = "kinds of differences need", " and ".join(map(named, DIFFERENCE_SETTINGS))
    message = f"{subject} the texts of documents, which this index does not keep"
    raise IndexSettingsError(message, f"Leave out {asked}, or build the index again so that it keeps texts.")


def _notes(queries: QueryTypes, request: Request, settings: SegmentSettings) -> list[str]:
    """Return what the search cannot do as asked; where it cannot do so for any sentence, that is an error."""
    longest = longest_promised(request, settings)
    if longest is None or (longest and longest >= queries.n_counted.max(initial=0)):
        return []
    if longest == 0:
        problem = f"no radius keeps the false positives of the bits search at {request.max_false_positive:g}, however short a "
        step = f"raise {named('max_false_positive')}, or set {named('radius')}"
        raise SettingsError([f"{problem}sentence is; {step}"])
    return [radius_note(longest, request.max_false_positive)]
